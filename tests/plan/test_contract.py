"""What decides a later stage is released: by the types, and when it runs."""

import re
from fractions import Fraction

import pytest
from mypy import api

from discreet.asking.planning import ExactTable
from discreet.errors import InternalError
from discreet.kernel.plan import Move, Output, Released, changes, move

HONEST = """
from dataclasses import dataclass
from fractions import Fraction
from discreet.asking.planning import ExactPlan, ExactTable, Stage
from discreet.kernel.losses import PureDP
from discreet.kernel.plan import Later, Output, Released
from collections.abc import Hashable

@dataclass(frozen=True)
class Next(Later[ExactPlan, ExactTable]):
    price: PureDP
    scope: Hashable
    choices: tuple[Stage, ...]
"""
CHOOSES = {
    "honest": ("def ready(self, released: Released) -> tuple[Stage, ...]:\n"
               "        return self.choices[: len(released[0].numbers)]", None),
    "asks for a table": ("def ready(self, released: Released, table: ExactTable) -> tuple[Stage, ...]:\n"
                         "        return self.choices[: table.totals[0][0]]", "override"),
    "takes a table for what was released": (
        "def ready(self, released: ExactTable) -> tuple[Stage, ...]:\n"
        "        return self.choices[: released.totals[0][0]]", "override"),
    "looks for a table in what was released": (
        "def ready(self, released: Released) -> tuple[Stage, ...]:\n"
        "        return self.choices[: released[0].totals[0][0]]", "attr-defined"),
    "releases a table": ("def ready(self, released: Released) -> tuple[Stage, ...]:\n"
                         "        return self.choices if self.kept() else ()\n"
                         "    def kept(self) -> Output:\n"
                         "        return Output(numbers=(ExactTable((), ()),))", "arg-type"),
    "keeps a table": ("def ready(self, released: Released) -> tuple[Stage, ...]:\n"
                      "        return self.choices\n"
                      "    def keep(self, table: ExactTable) -> None:\n"
                      "        self.scope = table", "misc"),
}  # fmt: skip


@pytest.mark.slow
def test_mypy_stops_a_stage_that_chooses_a_later_one_by_an_exact_table(tmp_path):
    """One run over one file for each: what is honest passes, each fault has its error."""
    names = {}
    for number, (name, (method, _)) in enumerate(CHOOSES.items()):
        names[f"choice_{number}.py"] = name
        (tmp_path / f"choice_{number}.py").write_text(f"{HONEST}\n    {method}\n")
    out, _, _ = api.run(["--strict", "--no-error-summary", *(str(tmp_path / each) for each in names)])
    found = {name: set() for name in CHOOSES}
    for file, code in re.findall(r"(choice_\d\.py):\d+: error: .*\[([a-z-]+)\]", out):
        found[names[file]].add(code)
    assert found["honest"] == set(), out
    for name, (_, code) in CHOOSES.items():
        assert code is None or code in found[name], out


TABLE = ExactTable((("a",),), ((3,),))


@pytest.mark.parametrize(
    "output",
    [
        lambda: Output(numbers=(TABLE,)),
        lambda: Output(numbers=TABLE),
        lambda: Output(groups=((TABLE,),)),
        lambda: Output(numbers=(1.5, [1])),
        lambda: Released((TABLE,)),
        lambda: Released((Output(), type("Other", (Output,), {})())),
    ],
)
def test_nothing_but_plain_values_is_released(output):
    with pytest.raises(InternalError):
        output()


def test_what_was_released_has_no_table_and_does_not_change():
    released = Released((Output((("a",),)), Output(numbers=(Fraction(1, 2),))))
    assert released.groups == (("a",),)
    assert released[1].numbers == (Fraction(1, 2),)
    with pytest.raises(AttributeError):
        released.totals  # noqa: B018
    with pytest.raises(AttributeError):
        released.outputs = ()
    assert released.then(Output()) != released


def test_a_move_is_beyond_its_sensitivity_only_if_it_is_exactly():
    third = Fraction(10**17, 3)
    assert move("x", [10**17], third * 3, norm=1).part == 1
    assert move("x", [10**17 + 1], third * 3, norm=1).part > 1
    assert move("x", [3, 4], Fraction(5), norm=2) == Move("x (l2)", 5.0, 5.0)
    assert move("x", [3, 4], Fraction(5) - Fraction(1, 10**30), norm=2).part > 1
    assert changes({"a": 1}, {"a": 3, "b": 1}) == [2, 1]
    assert (Move("x", 1, 0).part, Move("x", 0, 0).part) == (float("inf"), 0)
