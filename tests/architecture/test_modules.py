"""Modules have tests that one can find, few share a name, and none asks which notion it has.

A module is tested by a test file of its name, or says `Tested by:` in its docstring.
"""

import ast
import re
import runpy
import tomllib
from collections import Counter, defaultdict
from pathlib import Path

import pytest

import discreet
from discreet.kernel.losses.notion import NOTIONS

ROOT = Path(__file__).parents[2]
PACKAGE = Path(discreet.__file__).parent
PLACES = sorted(PACKAGE.rglob("*.py"))
TESTS = {path.stem for path in (ROOT / "tests").rglob("test_*.py")}
COUNTS = tomllib.loads((Path(__file__).parent / "counts.toml").read_text())
COUNTER = runpy.run_path(str(ROOT / "scripts" / "count-lines"))

# Folders whose modules still have to get tests of their names, or the line: each may shrink, none be added.
UNTOLD = ("asking/", "apps/server/", "apps/postgres/", "kernel/losses/", "kernel/plan/")
# Still to be replaced, with what else they are about: each may shrink, none may be added.
ASKING = {"asking/planning/price.py", "asking/watching.py"}
# Names that two modules or more share: the commands have those of what they show, stores and engines each
# their own connection, schema and dialect. None may be added without a reason.
SHARED = {
    "account", "additive", "audit", "budget", "connection", "dialect", "exact", "lattice", "ledger", "nodes",
    "noise", "people", "policy", "price", "question", "questions", "relations", "report", "schema", "search",
    "selection", "shares", "work",
}  # fmt: skip
THIRD_PARTY = {"_exit", "_jsc", "_replace"}  # of the standard library, and of PySpark


def place_of(path):
    return path.relative_to(PACKAGE).as_posix()


def package_of(path):
    return "/".join(path.relative_to(PACKAGE).parts[:2])


def told_tests(tree):
    """The files that a module's docstring names."""
    lines = re.search(r"Tested by:(.*)", ast.get_docstring(tree) or "", re.DOTALL)
    return re.findall(r"tests/[\w/]+\.py", lines[1]) if lines else []


def untested(name, tree, tests=TESTS):
    """What is wrong with how a module says where its tests are."""
    told = told_tests(tree)
    missing = [each for each in told if not (ROOT / each).is_file()]
    return missing or ([] if told or f"test_{name}" in tests else [f"no test_{name}.py and no `Tested by:`"])


def notion_questions(tree):
    """isinstance, issubclass or a case with a notion."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in {"isinstance", "issubclass"}:
            found += [each.id for each in ast.walk(node.args[1]) if isinstance(each, ast.Name)]
        elif isinstance(node, ast.MatchClass):
            found.append(getattr(node.cls, "id", getattr(node.cls, "attr", "")))
    return [name for name in found if name in NOTIONS]


def underscore_names(tree):
    """Underscore names that are defined: functions, attributes, fields, module constants."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


DEFINED = defaultdict(set)
for _path in PLACES:
    DEFINED[package_of(_path)].update(underscore_names(ast.parse(_path.read_text())))


def foreign_names(tree, defined):
    """Underscore attributes of something else that the package itself does not define."""
    return [
        ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and re.match(r"_[^_]", node.attr)
        and not (isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"})
        and node.attr not in defined | THIRD_PARTY
    ]


def shared_names(stems):
    return {name for name, count in Counter(stems).items() if count > 1 and name != "__init__"}


@pytest.mark.parametrize(
    "path",
    [path for path in PLACES if path.name != "__init__.py" and not place_of(path).startswith(UNTOLD)],
    ids=place_of,
)
def test_a_module_has_tests_that_one_can_find(path):
    if path.parent != PACKAGE:
        assert untested(path.stem, ast.parse(path.read_text())) == []


def test_a_module_without_tests_is_found():
    silent, wrong = ast.parse('"""A thing."""'), ast.parse('"""A thing.\n\nTested by: tests/x/test_y.py\n"""')
    assert untested("no_such_module", silent) == ["no test_no_such_module.py and no `Tested by:`"]
    assert untested("no_such_module", wrong) == ["tests/x/test_y.py"]
    right = ast.parse('"""A thing.\n\nTested by: tests/architecture/test_modules.py\n"""')
    assert untested("no_such_module", right) == []


@pytest.mark.parametrize("path", PLACES, ids=place_of)
def test_only_notions_ask_which_notion_it_is(path):
    found = notion_questions(ast.parse(path.read_text()))
    assert found == [] or package_of(path) == "kernel/losses" or place_of(path) in ASKING


@pytest.mark.parametrize("path", PLACES, ids=place_of)
def test_no_package_uses_an_underscore_name_of_another(path):
    assert foreign_names(ast.parse(path.read_text()), DEFINED[package_of(path)]) == []


def test_planted_questions_and_calls_are_seen():
    assert notion_questions(ast.parse("isinstance(price, str | ZCDP)")) == ["ZCDP"]
    assert notion_questions(ast.parse("match price:\n    case GDP(): pass")) == ["GDP"]
    assert foreign_names(ast.parse("curator._ledger.charge(x)"), set()) == ["curator._ledger"]
    assert foreign_names(ast.parse("self._ledger; other._own"), {"_own"}) == []


def test_no_two_modules_share_a_name_but_for_a_few():
    stems = [path.stem for path in PLACES]
    assert shared_names(stems) <= SHARED
    assert shared_names([*stems, "verification"]) - SHARED == {"verification"}  # a planted one


@pytest.mark.parametrize("room", COUNTS)
def test_the_rooms_grow_only_by_a_commit_that_says_why(room):
    files, lines = COUNTER["count_room"](room if room != "rest" else "")
    assert files <= COUNTS[room]["files"], "raise tests/architecture/counts.toml and say why"
    assert lines <= COUNTS[room]["lines"], "raise tests/architecture/counts.toml and say why"


def test_only_code_is_counted():
    text = '"""A module.\n\nMore.\n"""\n\n# a comment\nx = """text\n\nof a string"""\n\n\n'
    text += 'def f():\n    """Doc."""\n    return x  # why\n'
    assert COUNTER["count_code"](text) == 5


def test_the_page_tells_how_large_the_rooms_are():
    page = (ROOT / "ARCHITECTURE.md").read_text()
    for room in COUNTER["ROOMS"]:
        told = re.search(rf"\| `{room}/` \|[^|]*\|\s*([\d,]+) \|\s*([\d,]+) \|", page)
        files, lines = (int(part.replace(",", "")) for part in told.groups())
        truth = COUNTER["count_room"](room)
        assert abs(files - truth[0]) <= truth[0] / 20, "run scripts/count-lines"
        assert abs(lines - truth[1]) <= truth[1] / 20, "run scripts/count-lines"


def missing_paths(page):
    """Paths in backquotes that are no file or folder of the package."""
    named = re.findall(r"`((?:kernel|asking|apps)/[\w/.]+)`", page)
    return [path for path in named if not (PACKAGE / path).exists()]


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_every_file_that_a_page_names_exists(page):
    text = (ROOT / page).read_text()
    assert missing_paths(text) == []
    assert missing_paths(text + "`kernel/no_such.py`") == ["kernel/no_such.py"]
