"""Mechanisms are used by their protocol: shown on the syntax trees of the whole package.

No module decides by a class's name, none outside mechanisms asks which mechanism it has, and none calls an
underscore name of a mechanism or of another package.
"""

import ast
from pathlib import Path

import pytest

import discreet
from discreet.kernel.mechanisms import ALL

PACKAGE = Path(discreet.__file__).parent
PLACES = sorted(PACKAGE.rglob("*.py"))
NAMES = {kind.__name__ for kind in ALL}
# Still to be replaced, with what else these modules are about: each may shrink, none may be added.
ASKING = {
    "apps/pictures/densities.py", "apps/server/lab/drawings.py",
}  # fmt: skip


def name_dispatches(tree):
    """Uses of type(x).__name__ to compare, or to look something up."""
    deciding = [
        part
        for node in ast.walk(tree)
        for part in (
            [node] if isinstance(node, ast.Compare)
            else [node.slice] if isinstance(node, ast.Subscript)
            else node.args if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "get"
            else []
        )
    ]  # fmt: skip
    return [
        f"type(x).__name__ at line {node.lineno}"
        for part in deciding
        for node in ast.walk(part)
        if isinstance(node, ast.Attribute)
        and node.attr == "__name__"
        and isinstance(node.value, ast.Call)
        and getattr(node.value.func, "id", "") == "type"
    ]


def mechanism_questions(tree):
    """isinstance or issubclass with a mechanism of the registry."""
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("discreet.kernel.mechanisms")
        for alias in node.names
    }
    return [
        f"isinstance at line {node.lineno}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {"isinstance", "issubclass"}
        and {each.id for each in ast.walk(node.args[1]) if isinstance(each, ast.Name)} & imported & NAMES
    ]


def private_calls(tree, package="other"):
    """Underscore names imported from another package, or called on what is not self, cls or super()."""
    found = [
        f"imports {alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").startswith("discreet.")
        and not (node.module or "").startswith(f"discreet.{package}.")
        for alias in node.names
        if alias.name.startswith("_")
    ]
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            method, owner = node.func.attr, node.func.value
            if method in MECHANISM_PRIVATE and not _is_own(owner):
                found.append(f"calls {method} at line {node.lineno}")
    return found


def _is_own(owner):
    if isinstance(owner, ast.Call):
        return isinstance(owner.func, ast.Name) and owner.func.id == "super"
    return isinstance(owner, ast.Name) and owner.id in {"self", "cls"}


MECHANISM_PRIVATE = {
    name
    for path in [
        *(PACKAGE / "kernel" / "mechanisms").glob("*.py"),
        *(PACKAGE / "kernel" / "laws").glob("*.py"),
    ]
    for node in ast.walk(ast.parse(path.read_text()))
    if isinstance(node, ast.ClassDef)
    for name in (each.name for each in node.body if isinstance(each, ast.FunctionDef))
    if name.startswith("_") and not name.startswith("__")
}
MECHANISM_PRIVATE |= {
    "_release",
    "_select",
    "_count",
    "_choose",
    "_release_tally",
}  # as they were called once
INSIDE = {"mechanisms", "laws"}


def place_of(path):
    return str(path.relative_to(PACKAGE))


@pytest.mark.parametrize("path", PLACES, ids=place_of)
def test_nothing_is_decided_by_the_name_of_a_class(path):
    assert name_dispatches(ast.parse(path.read_text())) == []


@pytest.mark.parametrize("path", PLACES, ids=place_of)
def test_only_mechanisms_ask_which_mechanism_it_is(path):
    found = mechanism_questions(ast.parse(path.read_text()))
    assert found == [] or path.parent.name == "mechanisms" or place_of(path) in ASKING


@pytest.mark.parametrize("path", PLACES, ids=place_of)
def test_no_underscore_name_of_a_mechanism_is_called_from_outside(path):
    found = private_calls(ast.parse(path.read_text()), ".".join(path.relative_to(PACKAGE).parts[:2]))
    assert found == [] or path.parent.name in INSIDE


@pytest.mark.parametrize(
    ("fault", "check"),
    [
        ('if type(m).__name__ == "Laplace": pass', name_dispatches),
        ("ADAPTERS[type(m).__name__](m)", name_dispatches),
        ("LAWS.get(type(m).__name__)", name_dispatches),
        ("from discreet.kernel.mechanisms import Gaussian\nisinstance(m, Gaussian)", mechanism_questions),
        (
            "from discreet.kernel.mechanisms import Gaussian as G, Laplace\nisinstance(m, str | Laplace)",
            mechanism_questions,
        ),
        ("step.mechanism._release(values, source)", private_calls),
        ("mechanism._fix(scale=1)", private_calls),
        ("from discreet.kernel.laws.lattice_law import _reach", private_calls),
    ],
)
def test_a_planted_fault_is_seen(fault, check):
    assert check(ast.parse(fault))


def test_honest_uses_pass():
    text = 'f"got {type(m).__name__}."\nself._fix(scale=1)\nsuper()._fix()\nisinstance(m, Mechanism)'
    assert [check(ast.parse(text)) for check in (name_dispatches, mechanism_questions, private_calls)] == [
        []
    ] * 3
