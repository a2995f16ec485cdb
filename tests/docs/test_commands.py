"""Every command line that a page shows has a command and options that exist."""

import re
import shlex
from pathlib import Path

import pytest

from discreet.apps.cli.documents import command_helps

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("docs/**/*.md"), ROOT / "README.md", ROOT / "SECURITY.md"]
FEWEST = 40  # lines there are


@pytest.fixture(scope="module")
def helps():
    return command_helps()


def commands(text):
    """Yield the command lines of a page: the lines of its blocks that begin with our command."""
    inside = False
    for line in text.splitlines():
        if line.startswith("```"):
            inside = not inside
        plain = line.strip().removeprefix("$ ")
        if inside and plain.startswith("discreet "):
            yield plain


def wrong(line, helps):
    """What of a command line does not exist."""
    words = shlex.split(re.split(r"\s#|\s>|\s\|", line)[0].rstrip("\\"))[1:]
    path = max((name for name in helps if words[: len(name.split())] == name.split()), key=len, default=None)
    if path is None:
        return words[:1]
    known = set(re.findall(r"--[a-z][a-z-]*", helps[path])) | {"--help", "--version"}
    options = [word.partition("=")[0] for word in words if word.startswith("--")]
    return [each for each in options if each.replace("--no-", "--") not in known and each not in known]


def test_every_command_line_on_every_page_can_be_given(helps):
    found = [(page.name, line) for page in PAGES for line in commands(page.read_text(encoding="utf-8"))]
    assert len(found) >= FEWEST
    bad = [(page, line, what) for page, line in found if (what := wrong(line, helps))]
    assert not bad, bad


def test_a_command_or_an_option_that_is_not_there_would_be_found(helps):
    assert wrong("discreet policy init accounts.csv --unit person > accounts.toml", helps) == ["--unit"]
    assert wrong("discreet policy check accounts.toml --data", helps) == ["--data"]
    assert wrong("discreet wander", helps) == ["wander"]
    assert wrong("discreet lab --no-browser --port 8765", helps) == []
