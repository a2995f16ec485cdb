"""Levels of a hierarchy in books: what they are read by, what they cost, and what is refused."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from discreet.asking.engines import MemoryEngine
from discreet.asking.planning import plan_book
from discreet.asking.policy import from_arguments
from discreet.errors import InvalidParameter, UnsupportedQuery

PATHS = [
    *(("west", "CA", county) for county in ("a1", "a2", "a3")),
    ("west", "WA", "c1"),
    *(("east", "NY", county) for county in ("b1", "b2")),
    ("east", "NJ", "d1"),
]
LEAVES = [path[-1] for path in PATHS]


def policy_of(relation="add/remove", **more):
    return from_arguments(
        id="t", sources={"t": None}, unit="person", budget={"rho": 1}, types={"person": "integer"},
        keys={"sex": ["f", "m"]}, hierarchies={"region > state > county": PATHS}, limit=3, relation=relation,
        **more,
    )  # fmt: skip


def book(tables, policy=None, **terms):
    return plan_book(tables, policy or policy_of(), **({"rho": Fraction(1, 2)} | terms))


def rows_of(count=200):
    random = np.random.default_rng(1)
    return [
        {"person": int(random.integers(40)), "sex": str(random.choice(["f", "m"])),
         "county": str(random.choice([*LEAVES, "nowhere"]))}
        for _ in range(count)
    ]  # fmt: skip


def test_a_level_is_read_by_the_labels_that_it_is_made_of():
    plan = book(["region", ("sex", "state"), "county"])
    assert plan.book.names == ("sex", "region", "state", "county")
    assert plan.book.labels[1:] == (("west", "east"), ("CA", "WA", "NY", "NJ"), tuple(LEAVES))
    assert plan.book.workload.sizes == (3, 3, 5, 8)
    assert len({id(stage.plan) for stage in plan.stages}) == 1
    rows = rows_of()
    engine = MemoryEngine(policy_of(), {"t": rows})
    (given,) = {id(stage.plan): engine.run(stage.plan) for stage in plan.stages}.values()
    taken = {
        columns: stage.take([given], None) for columns, stage in zip(plan.measured, plan.stages, strict=True)
    }
    finest = taken[3,]
    assert taken[1,].tolist() == [finest[:4].sum(), finest[4:7].sum(), finest[7]]
    states = taken[0, 2].reshape(3, 5).sum(axis=0)
    assert states.tolist() == [finest[:3].sum(), finest[3], finest[4:6].sum(), finest[6], finest[7]]


def test_levels_in_between_may_be_left_out_and_the_column_too():
    plan = book(["region"])
    assert plan.book.names == ("region",)
    assert plan.book.workload.sizes == (3,)
    plan = book([("county", "region")])
    assert plan.book.names == ("county",)  # its labels say their region
    assert not plan.book.levels
    assert book(["region", "county"]).book.workload.sizes == (3, 8)
    assert book(["region", "SELECT county, COUNT(*) AS n FROM t GROUP BY county"]).book.names[1] == "county"


def test_books_by_other_levels_are_other_books():
    texts = {book([level, "sex"]).asked for level in ("region", "state", "county")}
    assert len(texts) == 3


@pytest.mark.parametrize("relation", ["add/remove", "replace"])
def test_one_unit_moves_each_level_by_what_its_noise_is_made_for(relation):
    policy, rows = policy_of(relation), rows_of()
    plan, used = book(["region", ("sex", "state"), "county"], policy), []
    for unit in range(12):
        other = [row for row in rows if row["person"] != unit]
        if relation == "replace":
            other += [{**row, "county": "d1", "sex": "f"} for row in rows if row["person"] == unit]
        both = [MemoryEngine(policy, {"t": each}) for each in (rows, other)]
        for stage in plan.stages:
            assert stage.fits(relation)
            first, second = (stage.take([engine.run(stage.plan)], None) for engine in both)
            used += [move.part for move in stage.moves([first], [second], "a table")]
    assert 0.5 < max(used) <= 1


def test_a_level_whose_labels_overlap_does_not_fit():
    stage = next(each for each in book(["region", "sex"]).stages if each.starts)
    assert stage.fits("add/remove")
    for starts in ((), (1, 4, 7), (0, 4, 4), (0, 7, 4), (0, 4, 8)):
        assert not replace(stage, starts=starts).fits("add/remove"), starts
    assert not replace(stage, axes=()).fits("add/remove")


def test_what_is_no_such_book_is_refused():
    with pytest.raises(InvalidParameter, match="epsilon with a delta"):
        book(["region"], rho=None, epsilon=1)
    two = from_arguments(
        id="t", sources={"t": None}, unit="person", budget={"rho": 1}, types={"person": "integer"}, limit=1,
        hierarchies={"region > county": [("w", "a"), ("e", "b")], "era > year": [("old", 1), ("new", 2)]},
    )  # fmt: skip
    with pytest.raises(UnsupportedQuery, match="one hierarchy"):
        book(["region", "era"], two)
    assert book(["region", "year"], two).book.names == ("year", "region")


def test_a_plan_names_levels_and_their_largest_errors():
    plan = book(["region", "county"])
    assert set(plan.errors) == {"region", "county"}
    assert plan.errors["region"] == pytest.approx(1.96 * np.sqrt(plan.noise.variance((0,)).max()), rel=1e-3)
    assert "region" in str(plan)
