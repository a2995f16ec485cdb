"""Every Python snippet of README and docs runs, each page from top to bottom in one namespace."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
PAGES = [
    page
    for page in [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
    if BLOCK.search(page.read_text())
]


def run(source, namespace, page):
    if ">>>" in source:
        test = doctest.DocTestParser().get_doctest(source, namespace, page.name, str(page), 0)
        result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS).run(
            test, clear_globs=False
        )
        assert result.failed == 0
        namespace.update(test.globs)
    else:
        exec(compile(source, str(page), "exec"), namespace)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_snippets_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "snippets"}
    for source in BLOCK.findall(page.read_text()):
        run(source, namespace, page)
