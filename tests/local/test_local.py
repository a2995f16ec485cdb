import json
import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from mpmath import mp, mpf

import discreet as dp
from discreet.asking.local.window_number import _level_variance, worst_variance
from discreet.kernel.randomness import fresh_source
from discreet.testing import Tape

EPSILONS = [Fraction(1, 4), 1, 2, 4, 9]


def subset_law(protocol, truth):
    """Every report's probability, from the definition: e^ε for a set that holds the truth, 1 for others."""
    grow = mp.exp(mpf(protocol.epsilon.numerator) / protocol.epsilon.denominator)
    sets = list(combinations(protocol.values, protocol.size))
    weights = {chosen: grow if truth in chosen else mpf(1) for chosen in sets}
    total = sum(weights.values())
    return {chosen: float(weight / total) for chosen, weight in weights.items()}


def window_law(protocol, level):
    grow = math.exp(protocol.epsilon)
    weights = [
        grow if level <= y < level + protocol.window else 1.0
        for y in range(protocol.levels + protocol.window)
    ]
    return [weight / sum(weights) for weight in weights]


def close(counts, law, size):
    """Each cell within 7.5 standard deviations: a false alarm below 1e-12 for each."""
    return all(
        abs(count - size * p) <= 7.5 * math.sqrt(size * p * (1 - p)) + 1
        for count, p in zip(counts, law, strict=True)
    )


@pytest.mark.parametrize(("values", "epsilon"), [("ab", 1), ("abcd", 2), ("abcdef", Fraction(1, 2))])
def test_reports_of_a_choice_have_the_stated_law_and_price(values, epsilon):
    protocol, size = dp.local.choice(values=list(values), epsilon=epsilon), 6000
    law = subset_law(protocol, values[0])
    reports = protocol.randomize([values[0]] * size)
    drawn = [tuple(report) if isinstance(report, list) else (report,) for report in reports]
    counts = [drawn.count(chosen) for chosen in law]
    assert close(counts, law.values(), size)
    other = subset_law(protocol, values[-1])
    assert not close(counts, other.values(), size)
    ratios = [law[chosen] / other[chosen] for chosen in law]
    assert max(ratios) == pytest.approx(math.exp(epsilon))
    assert protocol.loss.epsilon(delta=0) == pytest.approx(float(epsilon))
    assert protocol.loss.relation == "local"


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_reports_of_a_number_have_the_stated_law_and_price(epsilon):
    protocol, size = dp.local.number(bounds=(0, 10), epsilon=epsilon), 6000
    reports = protocol.randomize([10] * size)
    law = window_law(protocol, protocol.levels)
    assert close([reports.count(y) for y in range(protocol.places)], law, size)
    assert not close([reports.count(y) for y in range(protocol.places)], window_law(protocol, 0), size)
    laws = [window_law(protocol, level) for level in range(protocol.levels + 1)]
    worst = max(a[y] / b[y] for a in laws for b in laws for y in range(protocol.places))
    assert worst == pytest.approx(math.exp(epsilon))


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_number_is_estimated_without_bias_at_every_level(epsilon):
    protocol = dp.local.number(bounds=(-3, 5), epsilon=epsilon)
    for level in range(protocol.levels + 1):
        law = window_law(protocol, level)
        values = [protocol.estimate([y]).value for y in range(protocol.places)]
        mean = math.fsum(p * v for p, v in zip(law, values, strict=True))
        assert mean == pytest.approx(-3 + 8 * level / protocol.levels, abs=1e-9)
        variance = math.fsum(p * (v - mean) ** 2 for p, v in zip(law, values, strict=True))
        stated = _level_variance(float(epsilon), protocol.levels, protocol.window, level)
        assert variance == pytest.approx(64 * stated, rel=1e-9)
        assert variance <= protocol.variance * (1 + 1e-12)


def test_levels_are_reached_by_unbiased_rounding():
    protocol = dp.local.number(bounds=(0, 1), epsilon=9)
    truth, size = 0.3, 4000
    levels = protocol._levels([truth] * size, fresh_source()).tolist()
    exact = truth * protocol.levels
    assert set(levels) <= {math.floor(exact), math.ceil(exact)}
    assert np.mean(levels) == pytest.approx(exact, abs=7 * 0.5 / math.sqrt(size))


@pytest.mark.parametrize("epsilon", [0.5, 1, 2, 4])
def test_a_window_beats_laplace_noise_and_the_published_mechanisms(epsilon):
    """Worst-case variances on [-1, 1]: Laplace 8/ε²; one bit (Duchi); the piecewise mechanism."""
    protocol = dp.local.number(bounds=(-1, 1), epsilon=epsilon)
    e, s = math.exp(epsilon), math.exp(epsilon / 2)
    duchi = ((e + 1) / (e - 1)) ** 2
    piecewise = 1 / (s - 1) + (s + 3) / (3 * (s - 1) ** 2)
    assert protocol.variance <= min(duchi, piecewise, 8 / epsilon**2) * (1 + 1e-9)


def test_the_worst_case_is_searched_between_the_levels_too():
    shape = (2.0, 2, 1)
    levels = [_level_variance(*shape, x) for x in range(3)]
    assert worst_variance(*shape) > max(levels)


@pytest.mark.parametrize("noise", ["window", "laplace"])
@pytest.mark.parametrize("epsilon", [0.5, 3])
def test_intervals_of_a_mean_cover(noise, epsilon):
    """At least 90 % by proof: 200 runs fall below 74 % with probability < 1e-10. A fifth of it fails."""
    protocol = dp.local.number(bounds=(0, 15), epsilon=epsilon, noise=noise)
    people = [0, 3.5, 15] * 40
    truth, runs = sum(people) / len(people), 200
    estimates = [protocol.estimate(protocol.randomize(people), confidence=0.9) for _ in range(runs)]
    assert sum(truth in estimate.interval for estimate in estimates) >= 148
    near = sum(abs(estimate.value - truth) <= estimate.interval.width / 10 for estimate in estimates)
    assert near < 148
    average = np.mean([estimate.value for estimate in estimates])
    error = math.sqrt(protocol.variance / len(people) / runs)
    assert average == pytest.approx(truth, abs=7 * error)


@pytest.mark.parametrize(("values", "epsilon"), [("abc", 1), (range(12), Fraction(1, 2))])
def test_shares_are_unbiased_and_their_intervals_cover(values, epsilon):
    protocol = dp.local.choice(values=list(values), epsilon=epsilon)
    people = [protocol.values[0]] * 90 + [protocol.values[1]] * 60
    runs = [protocol.estimate(protocol.randomize(people), confidence=0.9) for _ in range(60)]
    for value, truth in ((protocol.values[0], 0.6), (protocol.values[1], 0.4), (protocol.values[2], 0.0)):
        shares = [run[value] for run in runs]
        error = math.sqrt(protocol.support.variance(Fraction(truth), 150) / len(runs))
        assert np.mean([share.value for share in shares]) == pytest.approx(truth, abs=7 * error)
        assert sum(truth in share.interval for share in shares) >= 36  # below with probability < 1e-9


def test_both_halves_run_apart_through_json():
    for protocol, truths in (
        (dp.local.choice(values=["tea", "coffee", "milk"], epsilon=0.3), ["tea", "milk"]),
        (dp.local.number(bounds=(0, 0.1), epsilon=2), [0.05, 0.02]),
        (dp.local.number(bounds=(-1, 1), epsilon=2, noise="laplace"), [0.5, -1]),
    ):
        wire = json.dumps({"protocol": protocol.to_json(), "reports": protocol.randomize(truths)})
        received = json.loads(wire)
        collector = dp.local.from_json(received["protocol"])
        assert collector == protocol
        assert collector.estimate(received["reports"])


@pytest.mark.parametrize("broken", ["no json", {}, {"protocol": "other"}, {"protocol": "choice"}, [], "3"])
def test_a_broken_protocol_is_refused(broken):
    with pytest.raises(dp.InvalidParameter):
        dp.local.from_json(broken)


@pytest.mark.parametrize("reports", [["x"], [["a", "a"]], [["a"]], [None], [5], "a", [{"a": 1}]])
def test_reports_that_the_protocol_cannot_make_are_refused(reports):
    with pytest.raises(dp.InvalidParameter):
        dp.local.choice(values="abcdef", epsilon=0.1).estimate(reports)
    with pytest.raises(dp.InvalidParameter):
        dp.local.number(bounds=(0, 1), epsilon=0.1).estimate(reports)


@pytest.mark.parametrize("truth", [math.nan, math.inf, "3", True, None, {"a": 1}])
def test_a_number_must_be_one(truth):
    for noise in ("window", "laplace"):
        with pytest.raises(dp.InvalidParameter):
            dp.local.number(bounds=(0, 1), epsilon=1, noise=noise).randomize(truth)


def test_a_number_outside_the_bounds_is_clamped():
    protocol = dp.local.number(bounds=(0, 1), epsilon=1)
    assert protocol._clamp(10**9) == 1
    assert protocol._clamp(-0.5) == 0


@settings(max_examples=20, deadline=None)
@given(st.integers(10**3, 10**6))
def test_the_price_against_a_curator_grows_with_the_root_of_the_crowd(people):
    protocol = dp.local.choice(values=["a", "b"], epsilon=1)
    ratio = protocol.compare(people=people).ratio
    assert ratio == pytest.approx(protocol.compare(people=1).ratio * math.sqrt(people), rel=1e-6)


def test_a_repeated_report_is_warned_about():
    for protocol in (dp.local.choice(values="ab", epsilon=1), dp.local.number(bounds=(0, 1), epsilon=1)):
        assert "costs epsilon once more" in protocol.describe()


def test_a_choice_reports_declared_values_whatever_type_they_are_given_in():
    for values in ([True, False, "refused"], [0, 1, 2]):
        protocol = dp.local.choice(values=values, epsilon=0.5)
        for held in (True, 1, 1.0):
            seen = {(type(v), v) for _ in range(400) for v in as_list(protocol.randomize(held))}  # < 1e-30
            assert seen == {(type(value), value) for value in values}


def as_list(report):
    return report if isinstance(report, list) else [report]


def test_numbers_are_randomised_alike_in_lists_and_arrays():
    for protocol in (
        dp.local.number(bounds=(0, 15), epsilon=4),
        dp.local.distribution(bounds=(0, 15), epsilon=2),
    ):
        truths = [0.1, 3.0, 3.0, 14.9, 99.0, -2.0]
        words = [int(word) for word in fresh_source().words(40)]
        many = protocol._randomize_many(np.array(truths), Tape(words)).tolist()
        assert protocol._randomize(truths, Tape(words)) == many
        assert len(protocol.randomize_many(np.arange(15))) == 15


def test_rounding_draws_on_where_64_bits_do_not_decide():
    """1/3 of a level: after a word of ⌊2^64/3⌋ the rest is 1/3 again."""
    protocol = dp.local.number(bounds=(0, 1), epsilon=1)
    third, edge = Fraction(1, 3), 2**64 // 3
    assert protocol.levels == 1
    for words, level in (([edge - 1], 1), ([edge + 1], 0), ([edge, 0], 1), ([edge, edge, edge + 1], 0)):
        tape = Tape(words)
        assert protocol._levels([third], tape).tolist() == [level]
        assert tape.left == 0


NUMBERS = [
    dp.local.number(bounds=(0, 15), epsilon=1),
    dp.local.number(bounds=(0, 15), epsilon=6),
    dp.local.number(bounds=(0, 15), epsilon=1, noise="laplace"),
]


@pytest.mark.parametrize("protocol", NUMBERS, ids=["bit", "places", "laplace"])
def test_means_are_collected_alike_wherever_they_are_and_tallies_add_up(protocol, tmp_path):
    import duckdb
    import pandas as pd

    reports = protocol.randomize([0, 3, 15, 7.5] * 60)
    whole = protocol.estimate(reports)
    assert whole.value == pytest.approx(protocol.estimate(reports[::-1]).value, rel=1e-15)
    path = tmp_path / "reports.jsonl"
    path.write_text("\n".join(json.dumps({"report": report}) for report in reports))
    relation = duckdb.connect().from_df(pd.DataFrame({"report": reports}))
    for source in (path, relation, pd.Series(reports), np.array(reports)):
        assert protocol.collect(source).estimate() == whole
    both = protocol.collect(reports[:50]) + protocol.collect(reports[50:])
    assert both.estimate() == whole
    stored = json.loads(json.dumps(both.to_json()))
    assert protocol.from_tally(stored).estimate() == whole
    assert whole.standard_error == pytest.approx(standard_error(protocol, reports))
    for wrong in ({"reports": 0}, {"reports": 1.0}, {"total": 10**9}, {"squares": "1"}, {"squares": 0}):
        with pytest.raises(dp.InvalidParameter):
            protocol.from_tally(stored | wrong)
    with pytest.raises(dp.InvalidParameter):
        whole = protocol.collect(reports) + dp.local.number(bounds=(0, 1), epsilon=1).collect([1])


def standard_error(protocol, reports):
    scale = 1 if protocol.protocol == "laplace" else protocol._slope
    return float(np.std(reports)) * scale / math.sqrt(len(reports))


def test_liars_move_a_mean_no_further_than_stated_and_one_with_laplace_noise_without_bound():
    people, m = [3.0] * 2000, 20
    for protocol in NUMBERS[:2]:
        reports = protocol.randomize(people)
        lied = [protocol.places - 1] * m + reports[m:]
        found, honest = protocol.collect(lied), protocol.collect([0] * m + reports[m:])
        moved = found.estimate().value - honest.estimate().value
        assert moved == pytest.approx(found.moved_by(0.01), rel=1e-9)
        assert found.estimate(confidence=1 - 1e-9, liars=0.01).interval.lower <= 3.0
        assert protocol.estimate(lied, liars=0.01) == found.estimate(liars=0.01)
    noisy = NUMBERS[2]
    with pytest.raises(dp.InvalidParameter, match="without bound"):
        noisy.estimate(noisy.randomize(people), liars=0.01)
    assert noisy.collect(noisy.randomize(people)).moved_by(0) == 0


@pytest.mark.parametrize("reports", [[0.1], [math.nan], [math.inf], ["1"], [None], [True], []])
def test_reports_that_are_not_on_the_lattice_of_laplace_noise_are_refused(reports):
    with pytest.raises(dp.InvalidParameter):
        NUMBERS[2].estimate(reports)


@pytest.mark.parametrize("epsilon", [Fraction(1, 2**60), Fraction(1, 1000), 1, 30, 10**4])
@pytest.mark.parametrize("size", [1, 2])
def test_extreme_prices_and_few_reports_have_estimates(epsilon, size):
    for protocol in (
        dp.local.number(bounds=(0, 1), epsilon=epsilon),
        dp.local.number(bounds=(-(10**9), 10**9), epsilon=epsilon),
    ):
        found = protocol.estimate(protocol.randomize([0.5] * size), liars=0.5)
        assert found.interval.lower <= found.value <= found.interval.upper
        assert math.isfinite(found.interval.width)
    wave = dp.local.distribution(bounds=(0, 1), epsilon=epsilon, bins=7)
    spread = wave.collect(wave.randomize([0.5] * size))
    assert spread.shares.sum() == pytest.approx(1)
    for share in (0, 0.5, 1):
        value, ends = spread.quantile(share, liars=0.1)
        assert ends.lower <= value <= ends.upper
    assert spread.quantile(1)[1].upper == 1
    for values in (["a", "b"], ["tè", "\U0001f9e6", "1"], [True, "True", 7]):
        choice = dp.local.choice(values=values, epsilon=epsilon)
        shares = choice.collect(choice.randomize([values[0]] * size))
        assert shares.likeliest.sum() == pytest.approx(1)
        assert np.isfinite(shares.raw).all()


@pytest.mark.parametrize(
    "wrong", [{"values": []}, {"values": ["a"]}, {"domain": 1}, {"domain": 0}, {"values": [1, 1.0]}]
)
def test_fewer_than_two_values_are_refused(wrong):
    with pytest.raises(dp.InvalidParameter):
        dp.local.choice(**wrong, epsilon=1)


def test_half_of_a_surrogate_pair_is_no_text():
    protocol = dp.local.choice(domain=100, seed="june", epsilon=1)
    for wrong in ("\ud800", "tea\udc00", b"tea", None, 3):
        with pytest.raises(dp.InvalidParameter):
            protocol.randomize(wrong)
    with pytest.raises(dp.InvalidParameter):
        dp.local.choice(domain=100, seed="\ud800", epsilon=1)
