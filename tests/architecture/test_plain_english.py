"""Docstrings, comments, messages and page texts are plain English: the project's old dialect stays out."""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "discreet"
# Packages and modules that were rewritten. Add yours when it is.
WRITTEN = (
    "kernel/accounting",
    "kernel/laws",
    "kernel/ledger",
    "kernel/mechanisms",
    "kernel/numerics",
    "apps/server",
    "apps/cli",
    "apps/postgres",
    "asking/client",
    "asking/dry_run",
    "asking/curator.py",
    "asking/planning",
    "asking/query_run.py",
    "asking/release.py",
    "asking/resources.py",
    "asking/signatures.py",
    "asking/watching.py",
    "kernel/plan",
)
NOT_YET = ("apps/cli/local.py",)  # belongs to the package `local`

# Each pattern is narrow enough to leave ordinary English alone.
BANNED = {
    "word for text, token or identifier": r"(?<!other )(?<!key)\bwords?\b",
    "beside for next to": r"\bbesides?\b(?!,)",
    "lies or stands for is": r"\b(?:lies|stands) (?:in|at|on|between|beyond|here|there|above|below)\b",
    "whoever, nobody, somebody": r"\b(?:whoever|nobody|somebody|everybody|anybody)\b",
    "face for API": r"\b(?:the|same|its|python|public) face\b",
    "house, door or desk as a metaphor": r"\b(?:house|door|doors|desk|doorm[ae]n|entrance)\b",
    "told or given as nouns": r"\b(?:unless|as|what was) told\b|\btold otherwise\b|\bwhat is given\b",
    "give back for return or release": r"\b(?:give|gives|given|gave) (?:it |them )?back\b",
    "as one goes for adaptively": r"\bas one goes\b",
    "noise with an end for truncated noise": r"\bnoise with an end\b",
    "nobody paid and other riddles": r"\bwhat nobody\b|\bno word of\b|\bsays? nothing\b",
}
FUNCTION_NOUNS = re.compile(
    r"(?:the|a|an|what|whether|how|where|whose|which|when|all|every|one|another|my|our)\b", re.IGNORECASE
)


def sources(written=WRITTEN):
    found = [
        path
        for each in written
        for path in ([PACKAGE / each] if each.endswith(".py") else (PACKAGE / each).rglob("*"))
    ]
    kinds = {".py", ".html", ".js"}
    return [
        path
        for path in sorted(found)
        if path.suffix in kinds and str(path.relative_to(PACKAGE)) not in NOT_YET
    ]


def texts(path):
    """Yield the texts of a file: strings and comments of Python, and a template without its code."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        yield from re.split(r"\{[%{#].*?[%}#]\}|<[^>]*>", text, flags=re.DOTALL)
    elif path.suffix == ".js":
        yield from re.findall(r"//[^\n]*|\"[^\"\n]*\"|`[^`]*`", text)
    else:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in (tokenize.STRING, tokenize.COMMENT):
                yield token.string


def found_in(some):
    return [
        (name, hit[0])
        for text in some
        for name, pattern in BANNED.items()
        for hit in re.finditer(pattern, text, re.IGNORECASE)
    ]


def functions(tree):
    """Functions whose docstring must start with a verb; properties are nouns."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            decorators = {getattr(each, "id", getattr(each, "attr", "")) for each in node.decorator_list}
            if not decorators & {"property", "cached_property"} and (doc := ast.get_docstring(node)):
                yield node.name, doc


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_the_dialect_stays_out(path):
    assert found_in(texts(path)) == []


@pytest.mark.parametrize(
    "path",
    [each for each in sources() if each.suffix == ".py"],
    ids=lambda path: str(path.relative_to(PACKAGE)),
)
def test_a_functions_docstring_starts_with_a_verb(path):
    starts = [name for name, doc in functions(ast.parse(path.read_text())) if FUNCTION_NOUNS.match(doc)]
    assert starts == []


@pytest.mark.parametrize(
    ("planted", "name"),
    [
        ('"""What the owner says in words."""', "word for text, token or identifier"),
        ('"the ledger lies beside the data"', "beside for next to"),
        ("# the truth lies between two ends", "lies or stands for is"),
        ('"whoever asks is told"', "whoever, nobody, somebody"),
        ('"""The same face over HTTP."""', "face for API"),
        ('"""The door of the pages."""', "house, door or desk as a metaphor"),
        ('"beside it unless told otherwise"', "told or given as nouns"),
        ('"""Give back files and connections."""', "give back for return or release"),
        ('"""Composition as one goes."""', "as one goes for adaptively"),
        ('"""Laplace noise with an end."""', "noise with an end for truncated noise"),
        ('"it says nothing of the data"', "nobody paid and other riddles"),
    ],
)
def test_each_planted_fault_is_found(planted, name, tmp_path):
    path = tmp_path / "planted.py"
    path.write_text(planted + "\n")
    assert name in [each for each, _ in found_in(texts(path))]


@pytest.mark.parametrize(
    "fine",
    [
        "the password",
        "in other words",
        "a keyword",
        "surface",
        "household",
        "besides, it is free",
        "people may tell lies",
        "a number stands for a decimal",
    ],
)
def test_ordinary_english_passes(fine):
    assert found_in([fine]) == []


def test_a_noun_in_place_of_a_verb_is_found():
    tree = ast.parse('def f():\n    """The answer."""\n\ndef g():\n    """Return the answer."""\n')
    assert [name for name, doc in functions(tree) if FUNCTION_NOUNS.match(doc)] == ["f"]
