"""The collector: shares with intervals, together and alone; liars; reports wherever they are."""

import json
import math
from fractions import Fraction
from itertools import combinations

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


def log_likelihood(shares, candidate):
    """From the whole channel: Σ log Pr[report] over all reports."""
    protocol = shares.protocol
    law = candidate @ np.array([[float(p) for p in row] for row in protocol.channel()])
    if shares.seen.reports is None:
        return float(shares.seen.counts @ np.log(law))
    column = {held: j for j, held in enumerate(combinations(range(protocol.domain.size), protocol.size))}
    places = [column[tuple(row)] for row in np.sort(shares.seen.reports, axis=1).tolist()]
    return float(shares.seen.counts @ np.log(law[places]))


@pytest.mark.parametrize("protocol", [FIELD, SUBSET, SINGLE], ids=["field", "subset", "single"])
def test_the_likeliest_shares_are_likelier_than_any_others_and_err_less_than_raw_ones(protocol):
    k, random, errors = protocol.domain.size, np.random.default_rng(), np.zeros(2)
    for _ in range(20):
        truth = random.dirichlet(np.full(k, 0.2))
        places = random.choice(k, 2000, p=truth)
        shares = protocol.collect(protocol.randomize_many([protocol.values[place] for place in places]))
        held = np.bincount(places, minlength=k) / places.size
        found = shares.likeliest
        assert found.min() >= 0
        assert found.sum() == pytest.approx(1)
        best = log_likelihood(shares, found)
        others = [held, shares.consistent, *random.dirichlet(found * 2000 + 0.01, 10)]
        assert best >= max(log_likelihood(shares, other) for other in others) - 0.5
        errors += [np.sum((found - held) ** 2), np.sum((shares.raw - held) ** 2)]
    if k == 50:  # about a quarter; with few values that all are held the two hardly differ
        assert errors[0] < errors[1]


@pytest.mark.parametrize(("epsilon", "people"), [(1, 100_000), (4, 20_000)])
def test_the_likeliest_shares_of_thousands_of_values_are_certified(epsilon, people):
    """log L is concave, so no shares gain more than the largest slope less n. Here the slopes come from a
    table of which report supports which value; the shares that the search starts from are further away."""
    protocol = dp.local.choice(domain=2000, epsilon=epsilon)
    truth = np.minimum(np.random.default_rng().zipf(1.5, people) - 1, 1999)
    shares = protocol.collect(protocol.randomize_many(truth))
    z = np.arange(protocol.directions)
    table = np.zeros((2000, protocol.reports))
    for value in range(2000):
        table[value, z * protocol.field + protocol._hash(np.full(z.size, value), z)] = 1

    def gap(candidate):
        likelihood = 1 + (table * float(protocol.likelihood_ratio - 1))
        return (likelihood @ (shares.seen.counts / (candidate @ likelihood))).max() - people

    assert shares.likeliest.sum() == pytest.approx(1)
    assert gap(shares.likeliest) < 0.5 + 1e-6
    assert gap(shares.consistent) > 2


def test_the_likeliest_shares_need_the_reports_unless_one_value_is_reported():
    for protocol, known in ((FIELD, False), (SUBSET, False), (SINGLE, True)):
        whole = protocol.collect(sent(protocol))
        parts = protocol.collect(sent(protocol)) + protocol.collect(sent(protocol))
        assert parts.likeliest.sum() == pytest.approx(1)
        read = protocol.from_tally(json.loads(json.dumps(whole.to_json())))
        assert read.raw.tolist() == whole.raw.tolist()
        if known:
            assert read.likeliest == pytest.approx(whole.likeliest)
        else:
            with pytest.raises(dp.InvalidParameter, match="not read from a tally"):
                _ = read.likeliest


@settings(max_examples=40, deadline=None)
@given(st.sampled_from([2, 3, 4, 5, 7, 8, 9]), st.integers(2, 120))
def test_spreading_shares_over_reports_is_the_transpose_of_decoding(q, k):
    protocol = dp.local.ProjectiveChoice(values=range(k), epsilon=1, field=q)
    random = np.random.default_rng()
    shares, counts = random.random(k), random.random(protocol.reports)
    spread = protocol._expect(None, shares)
    assert spread @ counts == pytest.approx(shares @ protocol.decode(counts))
    assert spread.sum() == pytest.approx(shares.sum() * protocol.directions)


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
    assert list(top) == np.argsort(-shares.raw, kind="stable")[:3].tolist()  # of equals, the first
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


@pytest.mark.parametrize(
    "size", [pytest.param(50_000, marks=pytest.mark.slow), pytest.param(5_000_000, marks=pytest.mark.soak)]
)
def test_many_reports_in_spark_are_grouped_there_and_decoded_to_a_million_values(
    spark_session, tmp_path, size
):
    """Real reports among 10^6 values from a file; numpy counts the same. A tenth of people hold one value."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    protocol = dp.local.choice(domain=10**6, epsilon=2)
    truth = np.random.default_rng().integers(0, 10**6, size)
    truth[: size // 10] = 123_456
    reports = protocol.randomize_many(truth)
    pq.write_table(pa.table({"report": reports}), tmp_path / "reports.parquet")
    found = protocol.collect(spark_session.read.parquet(str(tmp_path / "reports.parquet")))
    assert (found.supports == protocol.collect(reports).supports).all()
    assert found.reports == size
    assert list(found.top(1)) == [123_456]
    assert 0.1 in found.estimate(123_456, confidence=1 - 1e-9).interval


def test_sources_that_hold_no_reports_are_refused(tmp_path):
    import duckdb
    import pandas as pd

    (tmp_path / "x.txt").write_text("1")
    (tmp_path / "x.parquet").write_text("secret")
    (tmp_path / "x.json").write_text('{"report": secret')
    frame = pd.DataFrame({"report": [1, 2]})
    connection = duckdb.connect()
    for source in (
        tmp_path / "none.parquet",
        tmp_path / "x.txt",
        tmp_path / "x.parquet",
        tmp_path / "x.json",
        3,
        frame.rename(columns={"report": "other"}),
        connection.sql("SELECT 1 AS other"),
        connection.sql("SELECT NULL::INTEGER AS report"),
        connection.sql("SELECT -1 AS report"),
        connection.sql("SELECT 100000 AS report UNION ALL SELECT 1"),
        connection.sql("SELECT 'a' AS report"),
        connection.sql("SELECT 1 AS report WHERE false"),
    ):
        with pytest.raises(dp.InvalidParameter) as caught:
            FIELD.collect(source)
        assert "secret" not in caught.value.message
