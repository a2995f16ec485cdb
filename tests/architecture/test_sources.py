"""Randomness reaches a release only as `fresh_source()`: shown on the syntax trees of the whole package."""

import ast
from pathlib import Path

import pytest

from discreet.kernel import randomness

PACKAGE = Path(randomness.__file__).parents[1]
SAMPLERS = {name for name in randomness.__all__ if name not in {"Source", "fresh_source"}}
PLACES = [
    path
    for path in sorted(PACKAGE.rglob("*.py"))
    if {"randomness", "testing"}.isdisjoint(path.relative_to(PACKAGE).parts)
]


def violations(text):
    """Calls of samplers, or of a mechanism's `draw`, with anything but a passed-on or fresh source, and other
    public functions that take one."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and _called(node) in SAMPLERS and not _allowed(node.args[:1]):
            found.append(f"{_called(node)} at line {node.lineno}")
        if isinstance(node, ast.Call) and _draws(node) and not any(_allowed([arg]) for arg in node.args):
            found.append(f"draw at line {node.lineno}")
        if (
            isinstance(node, ast.FunctionDef)
            and not node.name.startswith(("_", "draw"))
            and _takes_source(node)
        ):
            found.append(f"public {node.name} takes a Source")
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("discreet.testing"):
            found.append("imports discreet.testing")
        if isinstance(node, ast.Name | ast.Attribute) and _name(node) == "SecureSource":
            found.append("makes a source of its own")
    return found


def _name(node):
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _called(call):
    # `Generator.choice(...)` of something else is not ours: samplers are imported and called by name.
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _draws(call):
    return isinstance(call.func, ast.Attribute) and call.func.attr in {"draw", "draw_tally"}


def _allowed(first):
    if len(first) != 1:
        return False
    if isinstance(first[0], ast.Call):
        return _called(first[0]) == "fresh_source"
    return _name(first[0]) in {"source", "_source"}


def _takes_source(function):
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return any(_name(argument.annotation) == "Source" for argument in arguments)


@pytest.mark.parametrize("path", PLACES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_testing_passes_another_source(path):
    imports = "discreet.kernel.randomness" in path.read_text()
    assert [v for v in violations(path.read_text()) if imports or "testing" in v] == []


@pytest.mark.parametrize(
    "fault",
    [
        "from discreet.testing import Tape",
        "discrete_laplace(Tape([1]), scale)",
        "discrete_laplace(seeded(7), scale)",
        "def release(value, source: Source): ...",
        "noise.draw(values, Tape([1]))",
        "noise.draw(values, self.seeded)",
        "self.noise.draw(seeded(7), 3)",
        "SecureSource()",
    ],
)
def test_a_planted_door_is_seen(fault):
    assert violations(fault)


def test_honest_calls_pass():
    assert violations("geometric(fresh_source(), scale); geometric(source, scale, 3)") == []
    assert violations("noise.draw(values, fresh_source()); noise.draw(source, 3)") == []
    assert violations("def draw(self, data, source: Source): ...") == []
