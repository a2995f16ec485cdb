"""The collector: shares with intervals, together and alone; liars; reports wherever they are."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import discreet as dp
from discreet.asking.local.shares import mean_bounds, norm_sub
from discreet.kernel.numerics import mean_limits

FIELD = dp.local.ProjectiveChoice(values=range(50), epsilon=1, field=4)
SUBSET = dp.local.Choice(values=["tea", "coffee", "milk", "water", "juice"], epsilon=1, size=2)
SINGLE = dp.local.choice(values=["tea", "coffee"], epsilon=1)
TRUTH = np.repeat(np.arange(50), [300, 100, *[2] * 48])


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 3000), st.floats(0, 1), st.sampled_from([0.5, 0.1, 0.05, 1e-3, 1e-9]))
def test_bounds_hold_the_exact_limits_and_are_little_wider(trials, share, risk):
    count = round(share * trials)
    lower, upper = mean_bounds(np.array([count]), trials, risk=risk)
    low, high = mean_limits(successes=count, trials=trials, confidence=1 - Fraction(str(risk)))
    assert lower[0] <= low
    assert upper[0] >= high
    z = math.sqrt(2 * math.log(2 / risk))
    assert upper[0] - high <= (2.5 + z) / trials
    assert low - lower[0] <= (2.5 + z) / trials


def test_certainty_claims_nothing():
    lower, upper = mean_bounds(np.array([3]), 10, risk=0.0)
    assert (lower[0], upper[0]) == (0, 1)
    assert dp.local.choice(values="ab", epsilon=1).collect(["a"] * 3).intervals(confidence=0.999999)[0][0] < 0


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(-2, 2), min_size=1, max_size=40))
def test_consistent_shares_are_the_nearest_on_the_simplex(raw):
    given_, found = np.array(raw), norm_sub(np.array(raw))
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1)
    random = np.random.default_rng()
    for _ in range(20):  # no other point of the simplex is nearer
        other = random.dirichlet(np.ones(len(raw)))
        assert np.sum((given_ - found) ** 2) <= np.sum((given_ - other) ** 2) + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("simultaneous", [False, True])
def test_intervals_cover_in_a_thousand_surveys(simultaneous):
    """At 90 %: fewer than 830 of 1000 have probability below 1e-10. Halved intervals fail.

    The reports are drawn once more for each survey; people are fixed."""
    truth = np.bincount(TRUTH) / TRUTH.size
    single, together, halved, consistent = np.zeros(50), 0, 0, 0.0
    for _ in range(1000):
        shares = FIELD.collect(FIELD.randomize_many(TRUTH))
        lower, upper = shares.intervals(confidence=0.9, simultaneous=simultaneous)
        inside = (lower <= truth) & (truth <= upper)
        single += inside
        together += bool(inside.all())
        middle, half = shares.raw, (upper - lower) / 4
        halved += bool(
            (np.abs(truth - middle) <= half).all() if simultaneous else abs(truth[0] - middle[0]) <= half[0]
        )
        consistent += float(np.sum((shares.consistent - truth) ** 2) < np.sum((shares.raw - truth) ** 2))
    assert single.min() >= 830
    if simultaneous:
        assert together >= 830
    assert halved < 830
    assert consistent > 900  # the projection errs less in sum


def test_liars_move_no_number_further_than_stated_and_the_widened_intervals_hold():
    """1 % of reports are replaced by the worst for value 1: the largest move there is, and it is allowed."""
    protocol, truth = FIELD, np.bincount(TRUTH) / TRUTH.size
    reports = protocol.randomize_many(TRUTH)
    honest = protocol.collect(reports)
    m = math.ceil(TRUTH.size * 0.01)
    supporting = [r for r in range(protocol.reports) if protocol.collect([r]).supports[1]]
    against = np.flatnonzero(~np.isin(reports, supporting))[:m]
    lied = reports.copy()
    lied[against] = supporting[0]
    found = protocol.collect(lied)
    moved = np.abs(found.raw - honest.raw)
    assert moved.max() == pytest.approx(moved[1])
    assert moved.max() <= found.moved_by(0.01) <= moved.max() * (1 + 1e-6)
    lower, upper = found.intervals(confidence=1 - 1e-10, liars=0.01)
    assert ((lower <= truth) & (truth <= upper)).all()
    narrow = found.intervals(confidence=1 - 1e-10)
    assert (upper - lower > narrow[1] - narrow[0]).all()
    assert found.moved_by(0) == 0


def test_shares_of_two_days_add_up_and_those_of_two_protocols_do_not():
    days = [FIELD.randomize_many(TRUTH) for _ in range(2)]
    both = FIELD.collect(days[0]) + FIELD.collect(days[1])
    whole = FIELD.collect(np.concatenate(days))
    assert both.supports.tolist() == whole.supports.tolist()
    assert both.reports == whole.reports == 2 * TRUTH.size
    with pytest.raises(dp.InvalidParameter):
        FIELD.collect(days[0]) + SINGLE.collect(["tea"])


def test_the_largest_shares_come_first_with_intervals_for_all_together():
    shares = FIELD.collect(FIELD.randomize_many(TRUTH))
    top = shares.top(3, confidence=0.9)
    assert list(top) == np.argsort(-shares.raw)[:3].tolist()
    lower, upper = shares.intervals(confidence=0.9, simultaneous=True)
    first = next(iter(top))
    assert list(top[first].interval) == pytest.approx([lower[first], upper[first]])
    assert shares.estimate(first).value == shares.estimates()[first].value == pytest.approx(top[first].value)
    assert len(shares) == 50
    assert "reports=" in repr(shares)


def sent(protocol):
    people = [protocol.values[i % protocol.domain.size] for i in range(200)]
    return protocol.randomize(people)


@pytest.mark.parametrize("protocol", [FIELD, SUBSET, SINGLE], ids=["field", "subset", "single"])
def test_reports_are_collected_alike_wherever_they_are(protocol, tmp_path):
    import duckdb
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    import pyarrow.parquet as pq

    reports = sent(protocol)
    expected = protocol.collect(reports).supports.tolist()
    table = pa.table({"report": reports, "day": [1] * len(reports)})
    pq.write_table(table, tmp_path / "reports.parquet")
    (tmp_path / "reports.jsonl").write_text("\n".join(json.dumps({"report": each}) for each in reports))
    connection = duckdb.connect()
    relation = connection.from_arrow(table)
    array = protocol.randomize_many([protocol.values[0]] * 10)
    assert protocol.collect(array).reports == 10
    for source in (
        tuple(reports),
        pd.DataFrame({"report": reports}),
        pl.DataFrame({"report": reports}),
        pd.Series(reports),
        table,
        relation,
        tmp_path / "reports.parquet",
        str(tmp_path / "reports.jsonl"),
    ):
        found = protocol.collect(source)
        assert found.reports == 200
        assert found.supports.tolist() == expected
    assert (
        protocol.collect(relation.select("report AS answer"), column="answer").supports.tolist() == expected
    )


@pytest.mark.slow
def test_reports_in_spark_are_grouped_there(spark_session):
    for protocol in (FIELD, SUBSET, SINGLE):
        reports = sent(protocol)
        frame = spark_session.createDataFrame([(each,) for each in reports], ["report"])
        assert protocol.collect(frame).supports.tolist() == protocol.collect(reports).supports.tolist()
        with pytest.raises(dp.InvalidParameter):
            protocol.collect(frame, column="other")


def test_sources_that_hold_no_reports_are_refused(tmp_path):
    import duckdb
    import pandas as pd

    (tmp_path / "x.txt").write_text("1")
    frame = pd.DataFrame({"report": [1, 2]})
    connection = duckdb.connect()
    for source in (
        tmp_path / "none.parquet",
        tmp_path / "x.txt",
        3,
        frame.rename(columns={"report": "other"}),
        connection.sql("SELECT 1 AS other"),
        connection.sql("SELECT NULL::INTEGER AS report"),
        connection.sql("SELECT -1 AS report"),
        connection.sql("SELECT 100000 AS report UNION ALL SELECT 1"),
        connection.sql("SELECT 'a' AS report"),
        connection.sql("SELECT 1 AS report WHERE false"),
    ):
        with pytest.raises(dp.InvalidParameter):
            FIELD.collect(source)
