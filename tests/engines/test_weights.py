"""Plans with a limit: every engine gives what the naive reference gives, and that what is written."""

import contextlib
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st
from sqlglot import exp

from discreet.asking.engines import DuckDBEngine, MemoryEngine
from discreet.asking.engines.sql import binary, call, column, whole
from discreet.asking.engines.sql.weighing import Weighing
from discreet.asking.planning import Bernstein, Excess, Lattice, Limit, Sum, weighted_reach_of
from discreet.asking.planning.widths import check_widths
from discreet.errors import EngineFailure, UnsupportedQuery
from engines.extremes import POLICY, ROWS
from engines.people import BIG, as_arrow, crowd, tables
from engines.registry import MAKERS
from engines.test_agreement import EMPTY, MIXED, PHASES, QUIET, plans_of, seen
from engines.test_bounding import without
from engines.test_outcomes import asked
from queries.bank import BANK
from queries.test_read import ACCEPTED

LADDER = (1, 2, 3, 4, 6, 8, 11, 16, 1000, 2**30, 2**61, 2**80)
EXCESSES = (
    *(Excess(rung, rung) for rung in LADDER),
    *(Excess(rung, 1, bits=0) for rung in (0, *LADDER)),
    *(Excess(rung, 3 * rung) for rung in LADDER),
)


FEW = {"spark": 8}  # of so many plans one is run: a statement takes a second there


@pytest.fixture(scope="module", params=[name for name in MAKERS if "numbered" not in name])
def opened(request):
    """Opens one of the engines on a policy and rows; those that number rows have no other weights."""

    def make(policy, rows):
        return MAKERS[request.param](request, policy, rows)

    make.step = FEW.get(request.param, 1)
    return make


def weighed(plan, limits=(1, 3, 50, 2**40)):
    """A plan with each of the limits, and with the excesses of its norms."""
    if plan.tally is not None:
        return []
    return [*(replace(plan, limit=Limit.of(most)) for most in limits), replace(plan, excess=EXCESSES)]


def agree(opened, rows, plans):
    reference = MemoryEngine(BANK, rows)
    with opened(BANK, rows) as engine:
        for plan in plans[:: opened.step]:
            check_widths(plan)
            assert seen(engine.run(plan)) == seen(reference.run(plan)), plan


def golden(salt, texts=ACCEPTED, **options):
    return [each for text in texts for plan in plans_of(text, salt) for each in weighed(plan, **options)]


def test_golden_questions_agree_on_a_crowd(opened):
    agree(opened, crowd(1), golden(1)[::7])  # five for each question: all sorts are met


def shared(opened, rows, plans):
    """As `agree`, but in one question."""
    reference = MemoryEngine(BANK, rows)
    with opened(BANK, rows) as engine, engine.question() as run:
        for plan in plans:
            assert seen(run(plan)) == seen(reference.run(plan)), plan


BY_BOTH = (
    "SELECT age, active, COUNT(*) AS n, SUM(debt) AS s, COUNT(job) AS j FROM accounts GROUP BY age, active"
)


def test_plans_of_one_question_share_their_pairs(opened):
    (plan,) = plans_of(BY_BOTH, 0)
    several = [replace(plan, measures=chosen, beside=plan.measures) for chosen in
               (plan.measures, plan.measures[:1], plan.measures[1:2], plan.measures[::-2])]  # fmt: skip
    shared(opened, crowd(1), [each for own in several for each in weighed(own, limits=(1, 10))])


def test_golden_questions_agree_on_empty_tables(opened):
    agree(opened, EMPTY, golden(0, limits=(3,))[::5])


@given(
    rows=tables(),
    texts=st.lists(st.one_of(st.sampled_from(ACCEPTED), MIXED), min_size=10, max_size=10),
    limits=st.tuples(st.integers(1, 9), st.integers(1, 2**40)),
    salt=st.integers(0, 9),
)
@settings(max_examples=3, deadline=None, suppress_health_check=QUIET, phases=PHASES)
def test_any_questions_agree_on_any_data(opened, rows, texts, limits, salt):
    agree(opened, rows, golden(salt, texts, limits=limits))


SPREADS = [
    f"SELECT {key}AVG({argument}) AS a FROM {table}{by}"
    for table, arguments in {"accounts": ("debt", "age", "children - age"), "survey": ("score",)}.items()
    for argument in arguments
    for key, by in (("", ""), *([("job, ", " GROUP BY job")] if table == "accounts" else []))
]


def in_parts(plan, degree):
    """A plan of a mean in the parts of its basis; the limit counts rows."""
    (total,) = (each for each in plan.measures if isinstance(each, Sum))
    lattice = Lattice(total.lattice.step, total.lattice.lowest, total.lattice.highest, total.lattice.type)
    parts = tuple(
        Bernstein(total.argument, lattice, total.condition, degree=degree, power=power)
        for power in range(degree, -1, -1)
    )
    return replace(plan, measures=parts, limit=Limit.of(2 * parts[0].largest))


@pytest.mark.parametrize("degree", [1, 2])
def test_the_parts_of_means_and_variances_agree(opened, degree):
    plans = [in_parts(plan, degree) for text in SPREADS for plan in plans_of(text, 0)]
    agree(opened, crowd(1), [*plans, *(replace(plan, limit=None, excess=EXCESSES) for plan in plans)])
    agree(opened, crowd(1), [replace(plan, limit=None) for plan in plans])  # bounded by rows and groups, too


def test_the_parts_give_count_sum_and_mean_of_the_same_rows():
    (plan,) = plans_of("SELECT SUM(debt) AS s, COUNT(debt) AS n FROM accounts", 0)
    total, count = plan.measures
    high, low = in_parts(replace(plan, measures=(total,)), 1).measures
    engine = MemoryEngine(BANK, crowd(1))
    ((above, below, summed, counted),) = engine.run(
        replace(plan, measures=(high, low, total, count), limit=Limit(2**70, 0))
    ).totals
    assert above + below == total.lattice.width * counted
    assert above + total.lattice.lowest * counted == summed


LISTED = ("Ottawa", "Toronto", None, "nobody is here")


@pytest.mark.parametrize("other", [False, True])
@pytest.mark.parametrize("labels", [(), tuple((each,) for each in LISTED)], ids=["none", "some"])
def test_any_list_of_groups_agrees_and_only_its_rows_count(opened, labels, other):
    (plan,) = plans_of("SELECT job, COUNT(*) AS n, SUM(debt) AS s FROM accounts GROUP BY job", 0)
    jobs = [row["job"] for row in crowd(1)["accounts"]]
    assert sum(job in LISTED for job in jobs) < len(jobs)
    plans = weighed(replace(plan, labels=labels, other=other, measures=plan.measures[1:]))
    agree(opened, crowd(1), plans)
    shared(opened, crowd(1), plans)
    table = MemoryEngine(BANK, crowd(1)).run(plans[0])
    assert table.groups == (*labels, *([()] if other else []))


def test_groups_of_several_found_keys_agree(opened):
    text = "SELECT job, code, COUNT(*) AS n FROM accounts GROUP BY job, code"
    (plan,) = plans_of(text, 0)
    found = MemoryEngine(BANK, crowd(1)).run(replace(plan, limit=Limit.of(1))).groups
    agree(opened, crowd(1), [each for other in (False, True)
                             for each in weighed(replace(plan, labels=found[::3], other=other))])  # fmt: skip


def test_groupings_of_the_same_rows_add_up():
    by_both, total = (plans_of(f"SELECT {key}COUNT(*) AS n FROM accounts{by}", 0)[0]
                      for key, by in (("age, active, ", " GROUP BY age, active"), ("", "")))  # fmt: skip
    engine = MemoryEngine(BANK, crowd(1))
    for most in (1, 2, 3, 7):
        parts = engine.run(replace(by_both, limit=Limit.of(most), other=True)).totals
        ((whole_total,),) = engine.run(replace(total, limit=Limit.of(most))).totals
        assert sum(part for (part,) in parts) == whole_total


def test_rows_outside_the_public_labels_do_not_count_in_the_norm():
    rows = {**EMPTY, "accounts": [{"person": 1, "age": age} for age in (30, 30, 31, 500, None)]}
    (plan,) = plans_of("SELECT age, COUNT(*) AS n FROM accounts GROUP BY age", 0)
    engine = MemoryEngine(BANK, rows)
    table = engine.run(replace(plan, limit=Limit(3, 4)))
    assert sum(total for (total,) in table.totals) == 3 * 16  # three rows are in groups


@pytest.mark.parametrize("kind", [MemoryEngine, DuckDBEngine])
def test_one_person_moves_all_totals_together_by_the_limit(kind):
    moved = []

    @given(rows=tables(), person=st.sampled_from([1, 2, BIG]), most=st.integers(1, 6), salt=st.integers(0, 9))
    @settings(max_examples=15, deadline=None, suppress_health_check=QUIET, phases=PHASES)
    def check(rows, person, most, salt):
        pair = [
            kind(BANK, as_arrow(BANK, each) if kind is DuckDBEngine else each)
            for each in (rows, without(rows, person))
        ]
        for plan in golden(salt, ACCEPTED[:: len(ACCEPTED) // 12], limits=(most,)):
            one, other = (engine.run(plan) for engine in pair)
            moved.append(assert_within(plan, one, other))
        for engine in pair:
            engine.close()

    check()
    assert any(moved)


def assert_within(plan, one, other):
    """One person moves the totals by no more than the limit, and each excess by at most one."""
    tables = [dict(zip(each.groups, each.totals, strict=True)) for each in (one, other)]
    nothing = (0,) * len(plan.measures)
    if plan.limit is None:
        gaps = [a - b for a, b in zip(one.totals[0], other.totals[0], strict=True)]
        assert all(0 <= gap <= each.one for gap, each in zip(gaps, plan.excess, strict=True))
        return any(gaps)
    gaps = [
        abs(a - b)
        for group in {*tables[0], *tables[1]}
        for a, b in zip(*(table.get(group, nothing) for table in tables), strict=True)
    ]
    assert sum(gaps) <= plan.limit.total
    assert sum(gaps) <= weighted_reach_of(plan, "add/remove").total
    return any(gaps)


def norm_without_a_measure(self):
    return call("abs", column(self._parts[0]))


def norm_of_the_sum(self):
    summed = column(self._parts[0])
    for part in self._parts[1:]:
        summed = binary(exp.Add, summed, column(part))
    return call("abs", summed)


def rounded_up(self, norm):
    up = binary(exp.Sub, binary(exp.Add, whole(self.plan.limit.total), norm), whole(1))
    return binary(exp.IntDiv, up, norm.copy())


@pytest.mark.parametrize(
    ("name", "fault"),
    [("_size", norm_without_a_measure), ("_size", norm_of_the_sum), ("_weight", rounded_up)],
)
def test_a_fault_in_the_statement_is_noticed(monkeypatch, name, fault):
    text = "SELECT COUNT(*) AS n, COUNT(debt) AS d, SUM(children - age) AS s FROM accounts"
    (plan,) = plans_of(text, 0)
    rows = {**EMPTY, "accounts": [{"person": 1, "children": 0, "age": 5}] * 2 + [{"person": 1, "age": 9}] * 5}
    plan, empty = replace(plan, limit=Limit(3, 4)), MemoryEngine(BANK, EMPTY)
    with contextlib.closing(DuckDBEngine(BANK, as_arrow(BANK, rows))) as engine:
        assert_within(plan, engine.run(plan), empty.run(plan))
        monkeypatch.setattr(Weighing, name, fault)
        with pytest.raises(AssertionError):
            assert_within(plan, engine.run(plan), empty.run(plan))


def test_what_is_kept_is_gone_with_the_question():
    (plan,) = plans_of(BY_BOTH, 0)
    with contextlib.closing(DuckDBEngine(BANK, as_arrow(BANK, crowd(1)))) as engine:
        for _ in range(2):
            with engine.question() as run, engine.question() as beside:
                assert seen(run(weighed(plan)[0])) == seen(beside(weighed(plan)[0]))
                tables = "SELECT * FROM duckdb_tables() WHERE temporary"
                assert engine._connection.execute(tables).fetchall() == []
            with pytest.raises(EngineFailure):
                run(weighed(plan)[0])


def test_a_plan_that_may_leave_38_digits_is_refused():
    (plan,) = plans_of("SELECT SUM(debt) AS s FROM accounts", 0)
    check_widths(replace(plan, limit=Limit(2**40, 46)))
    for wide in (
        {"limit": Limit(2**40, 47)},
        {"excess": (Excess(2**100, 2**107),)},
        {"excess": (Excess(10**38, 1),)},
        {"excess": (Excess(1, 1, bits=87),)},
    ):
        with pytest.raises(UnsupportedQuery):
            check_widths(replace(plan, **wide))
    (total,) = plan.measures
    lattice = Lattice(Fraction(1), -(2**44), 2**44, "integer")
    with pytest.raises(UnsupportedQuery):
        check_widths(replace(plan, measures=(Bernstein(total.argument, lattice, degree=2),)))


@pytest.mark.parametrize(
    ("measured", "signed"),
    [("COUNT(*)", False), ("SUM(debt)", False), ("SUM(children - age)", True), ("VARIANCE(debt)", True)],
)
def test_the_reach_of_a_plan_says_whether_parts_may_be_negative(measured, signed):
    (plan,) = plans_of(f"SELECT active, {measured} AS m FROM accounts GROUP BY active", 0)
    plan = replace(plan, limit=Limit(5, 3), other=True)
    reach = weighted_reach_of(plan, "replace")
    assert (reach.most, reach.signed) == (40, signed)
    assert reach.numbers == (len(plan.labels) + 1) * len(plan.measures)


EXTREME_LIMITS = (1, 2**22, 2**33, 2**56 - 1, 2**86 - 1)
OFTEN = 24  # questions


def fits(plan):
    try:
        check_widths(plan)
    except UnsupportedQuery:
        return False
    return True


def test_no_value_of_any_row_makes_a_weighted_plan_fail(opened):
    """Questions at the ends of every range and type, asked of a table that holds all those ends."""
    ask_at_all_ends(opened, OFTEN if opened.step == 1 else OFTEN // 4)


@pytest.mark.soak
def test_no_value_of_any_row_makes_a_weighted_plan_fail_on_any_engine(opened):
    """The same, as often where a statement takes a second."""
    ask_at_all_ends(opened, OFTEN)


def ask_at_all_ends(opened, often):
    reference, met = MemoryEngine(POLICY, ROWS), 0
    with opened(POLICY, ROWS) as engine:
        for _, plan in asked(engine.policy, 1, often):
            exact = [each for own in plan.sets for each in own.reads] if plan is not None else []
            every = [each for one in exact for each in weighed(one, limits=EXTREME_LIMITS) if fits(each)]
            for each in every[:: min(opened.step, 5)]:  # 5: of each sort some
                assert seen(engine.run(each)) == seen(reference.run(each))
                met += 1
    assert met >= often
