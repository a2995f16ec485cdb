"""A label such as (C1) in a docstring or comment names a step of a proof, defined once in docs/theory."""

import io
import re
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"\(([A-Z]\d+)\)")
DEFINED = re.compile(r"\*\*\(([A-Z]\d+)\)\*\*")


def labels_in(source: str) -> set[str]:
    """Return the labels that comments and strings of a module name."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    texts = (token.string for token in tokens if token.type in (tokenize.COMMENT, tokenize.STRING))
    return {label for text in texts for label in NAMED.findall(text)}


def defined() -> Counter[str]:
    pages = (ROOT / "docs" / "theory").glob("*.md")
    return Counter(label for page in pages for label in DEFINED.findall(page.read_text()))


def missing(sources: dict[str, str]) -> list[str]:
    """Return each module with a label that no page defines."""
    known = defined()
    return [f"{name}: ({label})" for name, text in sources.items() for label in labels_in(text) - set(known)]


def test_every_label_of_the_code_is_defined_in_the_theory():
    sources = {str(path): path.read_text() for path in (ROOT / "src").rglob("*.py")}
    assert missing(sources) == []
    bounding = (ROOT / "src/discreet/asking/engines/sql/bounding.py").read_text()
    assert {"C1", "C2", "C4", "C5", "C6"} <= labels_in(bounding)  # the hard file names its steps


def test_a_label_is_defined_once():
    assert [label for label, count in defined().items() if count > 1] == []


def test_a_label_that_no_page_defines_is_found():
    assert missing({"planted.py": "x = 1  # (C99): no such step\n"}) == ["planted.py: (C99)"]
