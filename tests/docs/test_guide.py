"""The guide lists all its pages, its links lead somewhere, and its commands run as they are printed."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import discreet

GUIDE = Path(__file__).parents[2] / "docs" / "guide"
PAGES = sorted(GUIDE.glob("*.md"))
TABLE = Path(discreet.__file__).parent / "demo" / "people.parquet"
BLOCK = re.compile(r"^```\n(discreet \w+ people\.parquet .*?)^```", re.MULTILINE | re.DOTALL)
COMMANDS = {
    page.stem: block.replace("\\\n", " ") for page in PAGES for block in BLOCK.findall(page.read_text())
}


def test_the_index_lists_every_page_once():
    listed = re.findall(r"^\| \[.*?\]\(([\w-]+\.md)\)", (GUIDE / "index.md").read_text(), re.MULTILINE)
    assert sorted([*listed, "index.md"]) == [page.name for page in PAGES]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_to_other_pages_lead_somewhere(page):
    for target in re.findall(r"\]\((?!http)([^)#]+)", page.read_text()):
        assert (page.parent / target).exists()


@pytest.mark.parametrize("page", COMMANDS)
def test_a_command_of_the_guide_runs(page, tmp_path):
    shutil.copy(TABLE, tmp_path)
    words = [str(Path(sys.executable).with_name("discreet")), *shlex.split(COMMANDS[page])[1:]]
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
