"""Books are read from columns and questions; what they cost is covered, and what is no book is refused."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from discreet.asking.engines import MemoryEngine
from discreet.asking.planning import Limit, plan_book
from discreet.asking.planning.marginals import Workload, rounds_within
from discreet.asking.policy import each_row, from_arguments, from_toml
from discreet.asking.queries import table
from discreet.errors import InternalError, InvalidParameter, PolicyViolation, UnsupportedQuery
from discreet.kernel.losses import ZCDP, ApproxDP, PureDP
from discreet.kernel.plan import Permit, run_charged
from engines.people import crowd
from queries.bank import BANK

TABLES = ["city", ("city", "active"), ()]
BRANCHES = "SELECT branch, COUNT(*) AS n FROM visits GROUP BY branch"
SQL = "SELECT city, active, COUNT(*) AS n FROM accounts GROUP BY"


def book(tables=TABLES, *, policy=BANK, name="accounts", **terms):
    return plan_book(tables, policy, table=name, **({"rho": Fraction(1, 2)} | terms))


def test_columns_and_questions_make_the_same_book():
    sets = book([f"{SQL} GROUPING SETS ((city), (city, active), ())"]).book
    built = table("accounts").group_by("city", "active").count()
    assert book().book.tables == sets.tables == book(["city", built, ()]).book.tables
    assert book().book.names == sets.names == ("city", "active")
    cube = book([f"{SQL} CUBE (city, active)"]).book
    assert set(cube.tables) == {(), (0,), (1,), (0, 1)}
    rollup = book([f"{SQL} ROLLUP (city, active)"]).book
    assert set(rollup.tables) == {(), (0,), (0, 1)}


def test_every_column_has_a_rest_unless_the_question_shows_that_there_is_none():
    assert book().book.rests == (True, True)
    assert book().book.workload.sizes == (4, 3)
    text = "SELECT city, COUNT(*) AS n FROM accounts WHERE city IN ('Ottawa', 'Toronto') GROUP BY city"
    known = book([text], name=None).book
    assert known.rests == (False,)
    assert book([text.replace("Toronto", "Paris")], name=None).book.rests == (True,)


def test_the_promises_are_the_price():
    found = book()
    assert Fraction(found.loss.rho) <= Fraction(1, 2)
    assert float(found.loss.rho) == pytest.approx(0.5, rel=1e-9)
    assert found.price == ZCDP(Fraction(1, 2))
    pure = book(rho=None, epsilon=1)
    assert pure.price == PureDP(1)
    assert pure.loss.epsilon(delta=0) == pytest.approx(1, rel=1e-9)
    both = book(rho=None, epsilon=1, delta=Fraction(1, 10**6))
    assert both.price == ApproxDP(1, Fraction(1, 10**6))
    assert 0.999 < both.loss.epsilon(delta=1e-6) <= 1


def test_mu_is_the_rho_of_gaussian_noise():
    assert book(rho=None, mu=1).noise.scales == book().noise.scales
    assert book(rho=None, mu=1).loss.mu == pytest.approx(1, rel=1e-9)
    for terms in ({"rho": 1}, {"rho": None, "epsilon": 1}, {"rho": None, "delta": 0.1}):
        with pytest.raises(InvalidParameter, match=r"mu alone|exactly one"):
            book(mu=1, **terms)
    with pytest.raises(InvalidParameter, match="mu"):
        book(rho=None, mu=0)


def test_labels_that_an_engine_is_given_are_reckoned_and_ranges_of_numbers_are_not():
    keys = {"name": [f"n{place}" for place in range(5000)], "number": list(range(5000))}
    policy = from_arguments(id="t", sources={"t": None}, unit=each_row, budget={"rho": 1}, keys=keys)
    names, numbers = (plan_book([each], policy, rho=1).work.fixed_s for each in keys)
    assert names - numbers == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("relation", ["add/remove", "replace"])
@pytest.mark.parametrize("price", [{"rho": 1}, {"epsilon": 1, "rho": None}])
def test_one_unit_moves_each_table_by_what_its_noise_is_made_for(relation, price):
    policy = replace(BANK, relation=relation)
    plan = book([("city", "active"), "city", ("age",)], policy=policy, limit=2, **price)
    rows = crowd(3, 30)
    used = []
    units = sorted({row["person"] for row in rows["accounts"] if row["person"] is not None})
    for unit in units[:8]:
        other = [dict(row) for row in rows["accounts"] if row["person"] != unit]
        if relation == "replace":
            other += [{**row, "city": "Ottawa", "active": True, "age": 1} for row in rows["accounts"]
                      if row["person"] == unit]  # fmt: skip
        both = [MemoryEngine(policy, {**rows, "accounts": each}) for each in (rows["accounts"], other)]
        for stage in plan.stages:
            assert stage.fits(relation)
            first, second = (stage.take([engine.run(stage.plan)], None) for engine in both)
            used += [move.part for move in stage.moves([first], [second], "a table")]
    assert max(used) <= 1
    assert max(used) > 0.6  # a unit with all its rows in one cell uses all of it, and is among these


def test_a_stage_that_reads_under_a_larger_limit_does_not_fit():
    (stage, *_) = book(limit=2).stages
    assert stage.fits("add/remove")
    assert not stage.fits("replace")
    larger = replace(stage.plan, limit=Limit(3, stage.plan.limit.bits))
    assert not replace(stage, plan=larger).fits("add/remove")
    assert not replace(stage, plan=replace(stage.plan, limit=None)).fits("add/remove")
    assert not replace(stage, plan=replace(stage.plan, cells=None)).fits("add/remove")
    assert not replace(stage, axes=(0, 0)).fits("add/remove")
    assert not replace(stage, axes=(7,)).fits("add/remove")


def test_what_was_not_charged_is_not_run():
    cheap, dear = book(rho=Fraction(1, 8)), book(rho=2)
    permit = Permit(1, None, (cheap.promises,))
    with pytest.raises(InternalError, match="more than was charged"):
        run_charged([dear.stages], permit, lambda: MemoryEngine(BANK, {}).run)


def test_weights_move_the_noise():
    even, uneven = book(["city", "age"]), book({"city": 100, "age": 1})
    assert uneven.errors["city"] < even.errors["city"]
    assert uneven.errors["age"] > even.errors["age"]
    assert uneven.asked != even.asked


def test_the_least_maximum_is_below_that_of_the_least_sum():
    tables = ["city", "age", ("city", "age")]
    assert max(book(tables, aim="maximum").errors.values()) < max(book(tables).errors.values())


def test_tables_that_have_too_many_cells_together_read_several_plans(monkeypatch):
    monkeypatch.setattr("discreet.asking.planning.book_plan._MOST_CODES", 130)
    plan = book([("city", "active"), ("age",)])
    assert len({id(stage.plan) for stage in plan.stages}) > 1
    for columns, stage in zip(plan.measured, plan.stages, strict=True):
        keys = [stage.plan.keys[axis] for axis in stage.axes]
        assert keys == [plan.book.keys[each] for each in columns]


@pytest.mark.slow
def test_the_plan_names_tables_errors_and_price():
    text = str(book())
    for part in ("city x active", "total", "Gaussian", "rho 0.5", "at most 30 rows in each table"):
        assert part in text
    assert book().to_json()["errors"] == book().errors
    assert "Laplace" in str(book(rho=None, epsilon=1))


@pytest.mark.parametrize(
    ("tables", "terms", "error", "told"),
    [
        ([], {}, InvalidParameter, "must have a table"),
        ("city", {}, InvalidParameter, "must be a list"),
        ([3], {}, InvalidParameter, "SQL text or a builder"),
        ([("city", 3)], {}, InvalidParameter, "by its columns"),
        (["job"], {}, UnsupportedQuery, "declared keys"),
        (["nothing"], {}, UnsupportedQuery, "nothing"),
        (["city", BRANCHES], {}, UnsupportedQuery, "same rows"),
        (["SELECT city, SUM(debt) AS n FROM accounts GROUP BY city"], {}, UnsupportedQuery, "count rows"),
        ([f"{SQL} city, active HAVING COUNT(*) > 3"], {}, UnsupportedQuery, "count rows"),
        ([f"{SQL} city, active LIMIT 3"], {}, UnsupportedQuery, "count rows"),
        (TABLES, {"rho": None, "within": 3}, InvalidParameter, "epsilon or rho"),
        (TABLES, {"limit": 0}, InvalidParameter, "limit"),
        (TABLES, {"limit": 2**21}, InvalidParameter, "limit"),
        (TABLES, {"aim": "maximum", "rho": None, "epsilon": 1}, InvalidParameter, "aim"),
        (TABLES, {"aim": "least"}, InvalidParameter, "aim"),
        (TABLES, {"rho": Fraction(1, 2**90)}, InvalidParameter, "larger"),
        (TABLES, {"rho": 10**9}, InvalidParameter, "rho of a book"),
        ({"city": 0}, {}, InvalidParameter, "weight"),
        ([("age", "opened", "children", "city")], {}, UnsupportedQuery, "cells"),
    ],
)  # fmt: skip
def test_what_is_no_book_is_refused(tables, terms, error, told):
    with pytest.raises(error, match=told):
        book(tables, **terms)


def test_a_table_must_be_named_where_there_are_several():
    with pytest.raises(InvalidParameter, match="table must name"):
        book(name=None)


def test_a_limit_that_is_to_be_found_must_be_stated():
    accounts = replace(BANK.table("accounts"), limit="auto")
    policy = replace(BANK, tables=(accounts, *BANK.tables[1:]))
    with pytest.raises(PolicyViolation, match="limit=1"):
        book(policy=policy)
    assert book(policy=policy, limit=1).limit == 1
    declared = replace(accounts, limit=7)
    assert book(policy=replace(BANK, tables=(declared, *BANK.tables[1:]))).limit == 7


def test_each_row_is_a_unit_with_a_weight_of_one():
    plan = book(["score"], name="survey")
    assert plan.limit is None
    assert plan.note() is None
    with pytest.raises(InvalidParameter, match="limit must be absent"):
        book(["score"], name="survey", limit=2)
    assert plan.noise.workload == Workload((6,), {(0,): Fraction(1)})


def test_totals_of_a_heavy_unit_are_the_same_in_all_tables():
    plan = book([("city", "active"), "age"], limit=2)
    rows = crowd(5, 40)
    engine = MemoryEngine(BANK, rows)
    totals = {int(np.sum(stage.take([engine.run(stage.plan)], None))) for stage in plan.stages}
    assert len(totals) == 1


def wide(columns, labels):
    """A policy with so many columns of so many labels, the rest among them."""
    listed = "".join(
        f"c{n} = {{ type = 'integer', keys = {list(range(labels - 1))} }}\n" for n in range(columns)
    )
    return from_toml(
        "[dataset]\nid = 'wide'\nbudget = { rho = 1 }\n[tables.t]\nunit = 'person'\nlimit = 1\n"
        f"[tables.t.columns]\nperson = {{ type = 'integer' }}\n{listed}"
    )


def test_what_takes_long_to_plan_or_to_estimate_is_refused_before_it_is_planned():
    ten, names = wide(14, 3), [f"c{n}" for n in range(14)]
    plan_book([tuple(names[:8])], ten, rho=1)
    with pytest.raises(UnsupportedQuery, match="less work"):
        plan_book([tuple(names[:11])], ten, rho=1)
    many = list(combinations(names, 3))
    assert len(plan_book(many, ten, rho=1).book.tables) == 364
    assert plan_book(many, ten, epsilon=1).noise.laplace
    with pytest.raises(UnsupportedQuery, match="less work"):
        plan_book([*many, *combinations(names, 2), *names], ten, epsilon=1)


def test_a_search_looks_at_no_more_pairs_of_sets_however_many_there_are():
    for columns in (3, 8, 12):
        workload = Workload.of_order([2] * columns, columns)
        rounds = rounds_within(workload, 6000)
        assert rounds * len(workload.sets) ** 2 <= 3.4e8
    assert rounds_within(Workload.of_order([2] * 8, 8), 6000) > 4000


def test_tables_of_many_columns_are_read_in_few_passes():
    keys = {f"c{place}": [0, 1] for place in range(60)}
    policy = from_arguments(id="t", sources={"t": None}, unit=each_row, budget={"rho": 1}, keys=keys)
    pairs = [(one, other) for place, other in enumerate(keys) for one in list(keys)[:place]]
    plan = plan_book(pairs, policy, rho=1)
    plans = {id(stage.plan): stage.plan for stage in plan.stages}.values()
    assert all(np.prod([float(size) for size in each.sizes]) <= 2**62 for each in plans)
    assert len(plans) <= 12  # 38 columns of 60 fit in one
    for columns, stage in zip(plan.measured, plan.stages, strict=True):
        assert [stage.plan.keys[axis] for axis in stage.axes] == [plan.book.keys[each] for each in columns]


TINY = [5e-324, Fraction(1, 2**2000), 1e-200, Fraction(1, 2**122)]


@pytest.mark.parametrize("price", [*TINY, 1e9, 1e300], ids=str)
@pytest.mark.parametrize("named", ["rho", "mu"])
def test_prices_whose_noise_no_number_holds_are_refused(named, price):
    with pytest.raises(InvalidParameter) as error:
        book(**{"rho": None, named: price})
    assert error.value.fields["parameter"] == named


@pytest.mark.parametrize("weight", [1e300, 5e-324, Fraction(2**1023), 1e13])
@pytest.mark.parametrize("terms", [{}, {"rho": None, "epsilon": 1}, {"aim": "maximum"}])
def test_weights_that_searches_cannot_add_up_are_refused(weight, terms):
    with pytest.raises(InvalidParameter, match="weight"):
        book({"active": weight, "city": 1}, **terms)
