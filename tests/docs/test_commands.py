"""Every command of README and docs is one that the command line takes, with those options."""

import re
import shlex
from pathlib import Path

import pytest
from cyclopts import App

from discreet.apps.cli import build_app

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(?:\$ )?(?:[A-Z_]+=\S+ )?discreet (?!is |draws |follows )(.*)$", re.MULTILINE)


def commands():
    """Each command that stands on a line of its own in a block, continued lines joined."""
    for page in [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]:
        found = BLOCK.findall(page.read_text(encoding="utf-8"))
        for block in (block for language, block in found if language in ("", "sh", "bash", "console")):
            for rest in COMMAND.findall(block.replace("\\\n", " ")):
                yield f"{page.relative_to(ROOT)}: {rest}"


def parse(line):
    words = shlex.split(line, comments=True)
    words = words[: words.index(">")] if ">" in words else words
    build_app().parse_args(words, print_error=False, exit_on_error=False)


@pytest.mark.parametrize("found", sorted(set(commands())))
def test_a_documented_command_is_taken_as_it_is_written(found):
    parse(found.partition(": ")[2])


def test_many_are_found_and_a_wrong_option_is_seen():
    assert len(set(commands())) >= 40
    assert isinstance(build_app(), App)
    for wrong in ("policy init a.csv --unitt person", "asks a.csv", "serve --demos"):
        with pytest.raises(Exception, match=r"(?i)unknown|unrecognized|invalid|unused|no such"):
            parse(wrong)
