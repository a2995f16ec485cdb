"""The house rules that a reader would otherwise have to remember."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
TRACKED = subprocess.run(
    ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
)
TEXTS = [
    ROOT / name
    for name in TRACKED.stdout.splitlines()
    if Path(name).suffix in {".py", ".md", ".toml", ".txt", ".sh", ""}
]


@pytest.mark.parametrize("path", [*SOURCES, *TESTS], ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_has_one_idea_and_stays_readable(path):
    assert len(path.read_text().splitlines()) <= 500


def test_no_release_path_uses_insecure_randomness():
    forbidden = re.compile(r"np\.random|numpy\.random|default_rng|^import random|^from random", re.MULTILINE)
    assert [path.name for path in SOURCES if forbidden.search(path.read_text())] == []


def test_the_project_speaks_of_itself_alone():
    hosts = re.compile(r"pypi\.org|pythonhosted|registry\.npmjs|deb\.debian|/(root|home|work)/")
    here = Path(__file__)
    found = [
        path.name
        for path in TEXTS
        if path.is_file() and path != here and hosts.search(path.read_text(errors="ignore"))
    ]
    assert found == []
