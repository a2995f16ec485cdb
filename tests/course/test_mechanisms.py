"""The mechanisms of a first course. Ours and a planted fault are judged by one rule, and the fault fails.

Statistical judgements use 7 standard errors: a false alarm in less than 10⁻¹¹ of runs; the faults planted lie
hundreds of standard errors away.
"""

import math
from fractions import Fraction as F
from itertools import product

import mpmath
import numpy as np
import pytest

import discreet as dp

SIGMAS = 7
DRAWS = 100_000


def worst_ratio(law, shift):
    """max |ln(Pr[k] / Pr[k + shift])| over a wide window: the loss of the law itself."""
    outputs = np.arange(-200, 201)
    return max(abs(law(k) - law(k + shift)) for k in outputs.tolist())


def log_laplace(scale):
    """ln Pr[noise = k] of whole-number Laplace noise."""
    return lambda k: math.log(math.tanh(1 / (2 * scale))) - abs(k) / scale


def mean_is(values, expected):
    return abs(np.mean(values) - expected) <= SIGMAS * np.std(values) / math.sqrt(len(values))


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
def test_m1_a_count_gets_noise_of_scale_one_over_epsilon(epsilon):
    def is_private_and_as_stated(mechanism):
        scale = float(mechanism.scale)
        loss = worst_ratio(log_laplace(scale), 1)
        noise = np.abs(mechanism.release(np.zeros(DRAWS, dtype=np.int64)))
        # E|Y| = 1/sinh(1/b), the whole-number twin of E|Y| = b
        return loss <= epsilon * (1 + 1e-12) and mean_is(noise, 1 / math.sinh(epsilon))

    assert is_private_and_as_stated(dp.Laplace(epsilon=epsilon, sensitivity=1))
    assert not is_private_and_as_stated(dp.Laplace(scale=0.9 / epsilon, sensitivity=1))  # too little noise
    assert not is_private_and_as_stated(dp.Laplace(scale=1.2 / epsilon, sensitivity=1))  # another law


def test_m2_every_coordinate_gets_its_own_noise_for_the_l1_sensitivity():
    def is_independent(release):
        x, y = release(np.zeros((DRAWS, 2), dtype=np.int64)).T.astype(float)
        return mean_is(x * y, 0) and mean_is(x**2, variance) and mean_is(y**2, variance)

    mechanism = dp.Laplace(epsilon=0.5, sensitivity=2)
    variance = 1 / (2 * math.sinh(1 / 8) ** 2)  # 2q/(1−q)², beside 2b² of the continuous law

    def one_draw_for_all(zeros):
        return np.repeat(mechanism.release(zeros[:, :1]), 2, axis=1)

    def last_left_out(zeros):
        return np.column_stack([mechanism.release(zeros[:, :1]), zeros[:, 1:]])

    assert mechanism.scale == 4
    assert is_independent(mechanism.release)
    assert not is_independent(one_draw_for_all)
    assert not is_independent(last_left_out)


@pytest.mark.parametrize("dimension", [1, 10, 100])
def test_m3_the_error_is_the_quantile_of_our_noise_and_the_slides_bound_is_not(dimension):
    beta = math.exp(-3)

    def covers(error):
        tail = 2 * math.exp(-(math.floor(error) + 1)) / (1 + math.exp(-1))  # Pr[|noise| > error], ε = 1
        return 1 - (1 - tail) ** dimension <= beta

    stated = dp.Laplace(epsilon=1, sensitivity=1).error(confidence=1 - beta, dimension=dimension)
    assert covers(stated)
    assert not covers(stated - 1)  # and it is the least
    if dimension == 1:  # Pr[|noise| >= ln(1/β)] = Pr[|noise| > 2] = 0.073 > 0.050
        assert not covers(math.log(1 / beta) - 1e-9)


def gaussian_delta(sigma, epsilon):
    """δ(ε) of N(0, σ²) against N(1, σ²), by 50-digit arithmetic."""
    with mpmath.workdps(50):
        a, b = 1 / (2 * mpmath.mpf(sigma)), mpmath.mpf(epsilon) * sigma
        return mpmath.ncdf(a - b) - mpmath.exp(epsilon) * mpmath.ncdf(-a - b)


@pytest.mark.parametrize("epsilon", [0.1, 0.9, 5, 20])
def test_m9_gaussian_noise_is_enough_and_the_classic_rule_is_refused_where_it_fails(epsilon):
    delta = 1e-6

    def is_private(sigma):
        return gaussian_delta(sigma, epsilon) <= delta

    classic = math.sqrt(2 * math.log(1.25 / delta)) / epsilon
    ours = float(dp.Gaussian(epsilon=epsilon, delta=delta, sensitivity=1).sigma)
    assert is_private(ours)
    assert not is_private(ours * 0.999)  # and tight
    if epsilon < 1:
        assert (
            float(dp.Gaussian(epsilon=epsilon, delta=delta, sensitivity=1, calibration="classic").sigma)
            >= classic
        )
        assert ours < classic
    else:
        with pytest.raises(dp.InvalidParameter, match="epsilon must be < 1"):
            dp.Gaussian(epsilon=epsilon, delta=delta, sensitivity=1, calibration="classic")
    if epsilon == 20:
        assert not is_private(classic)


def exponential_law(scores, factor):
    weights = [math.exp(factor * (score - max(scores))) for score in scores]
    return [weight / sum(weights) for weight in weights]


def worst_over_votes(law):
    """max ln(Pr[r | D] / Pr[r | D′]) where one person moves each of three scores by at most 1."""
    worst = 0.0
    for scores in product(range(3), repeat=3):
        for move in product((-1, 0, 1), repeat=3):
            first, second = law(scores), law([s + m for s, m in zip(scores, move, strict=True)])
            worst = max(worst, *(abs(math.log(p / q)) for p, q in zip(first, second, strict=True)))
    return worst


def test_m4_the_exponential_mechanism_halves_epsilon_for_general_scores():
    mechanism = dp.Exponential(epsilon=1, sensitivity=1)

    def is_private(law):
        return worst_over_votes(law) <= 1 + 1e-12

    assert mechanism.probabilities([0, 1, 3]) == pytest.approx(exponential_law([0, 1, 3], 0.5))
    assert is_private(mechanism.probabilities)
    assert not is_private(lambda scores: exponential_law(scores, 1))  # the fault: exp(εu/Δ)
    chosen = np.array([mechanism.choose(range(3), [0, 1, 3]) for _ in range(5000)])
    for r, probability in enumerate(mechanism.probabilities([0, 1, 3])):
        assert mean_is(chosen == r, probability)


def test_m5_the_utility_bound_holds_and_half_of_it_does_not():
    mechanism = dp.Exponential(epsilon=0.1, sensitivity=1)
    scores = [0] * 999 + [100]
    law = mechanism.probabilities(scores)

    def holds(bound, confidence):
        return sum(p for p, score in zip(law, scores, strict=True) if score <= 100 - bound) <= 1 - confidence

    for confidence in (0.01, 0.5, 0.95):
        stated = mechanism.utility_bound(candidates=1000, confidence=confidence)
        assert stated == pytest.approx(20 * (math.log(1000) - math.log(1 - confidence)))
        assert holds(stated, confidence)
    assert not holds(mechanism.utility_bound(candidates=1000, confidence=0.95) / 4, 0.95)


def noisy_max_law(counts, scale):
    """Report noisy max with whole-number Laplace noise, ties broken evenly: its law by direct summation."""
    outputs = np.arange(-300, 301)
    masses = [np.tanh(1 / (2 * scale)) * np.exp(-np.abs(outputs - count) / scale) for count in counts]
    below = [np.cumsum(mass) - mass for mass in masses]
    nodes, weights = np.polynomial.legendre.leggauss(
        8
    )  # ∫ Π(below + t·tied) dt counts ties: exact to degree 15
    law = []
    for i, mass in enumerate(masses):
        others = [(below[j], masses[j]) for j in range(len(counts)) if j != i]
        wins = [np.prod([low + (1 + t) / 2 * tied for low, tied in others], axis=0) for t in nodes]
        law.append(float(np.sum(mass * np.tensordot(weights / 2, wins, 1))))
    return law


def test_m6_noisy_max_needs_monotone_counts_and_add_remove_for_scale_one_over_epsilon():
    def is_private(scale, neighbours):
        first, second = (noisy_max_law(counts, scale) for counts in neighbours)
        return max(abs(math.log(p / q)) for p, q in zip(first, second, strict=True)) <= 1 + 1e-9

    added = [((5,) + (5,) * 9, (5,) + (6,) * 9), ((5,) + (9,) * 9, (5,) + (10,) * 9)]
    replaced = ((5,) + (25,) * 9, (6,) + (24,) * 9)  # leaves one property, gains nine
    monotone = dp.NoisyMax(epsilon=1, sensitivity=1, scores="monotone", step=1)
    general = dp.NoisyMax(epsilon=1, sensitivity=1, relation="replace", step=1)
    assert all(is_private(float(monotone.scale), pair) for pair in added)
    assert is_private(float(general.scale), replaced)
    assert not is_private(float(monotone.scale), replaced)  # the fault: scale 1/ε under replace
    law = noisy_max_law((3, 2, 2), 1)
    chosen = np.array([monotone.choose(range(3), (3, 2, 2)) for _ in range(5000)])
    assert all(mean_is(chosen == i, law[i]) for i in range(3))


@pytest.mark.parametrize("epsilon", [F(1, 2), F(1), F(3)])
def test_m7_every_parametrisation_keeps_its_epsilon_and_its_estimate_is_unbiased(epsilon):
    def keeps(response):
        truth = float(response.truth)
        return math.log(truth / (1 - truth)) <= float(epsilon) * (1 + 1e-12)

    def is_unbiased(estimate, response, share=F(3, 10)):
        expected = response.truth * share + (1 - response.truth) * (1 - share)  # the forward formula
        yes = expected * 10_000
        reports = [1] * int(yes) + [0] * int(10_000 - yes)
        return yes.denominator == 1 and estimate(reports) == pytest.approx(float(share))

    tight, linear, quadratic = (
        dp.RandomizedResponse(epsilon=epsilon),
        dp.RandomizedResponse.linear(epsilon),
        dp.RandomizedResponse.quadratic(epsilon),
    )
    assert keeps(tight)
    assert keeps(linear)
    assert keeps(quadratic)
    assert linear.truth < quadratic.truth < tight.truth  # the series climbs towards the tightest
    assert tight.loss.epsilon(delta=0) == pytest.approx(float(epsilon))
    assert linear.loss.epsilon(delta=0) == pytest.approx(math.log1p(epsilon))
    assert dp.RandomizedResponse.coin(2).loss.epsilon(delta=0) == pytest.approx(math.log(3))
    assert not keeps(
        dp.RandomizedResponse(truth=(1 + 3 * epsilon) / (2 + 3 * epsilon))
        if epsilon < 1
        else dp.RandomizedResponse(truth=F(99, 100))
    )
    fair = dp.RandomizedResponse(truth=0.75)
    assert is_unbiased(lambda reports: fair.estimate(reports).value, fair)
    assert not is_unbiased(np.mean, fair)  # the fault: the share of reports itself


def test_m8_a_number_of_ones_own_has_the_whole_range_as_its_sensitivity():
    protocol = dp.local.number(bounds=(0, 15), epsilon=1, noise="laplace")

    def is_private(scale):
        return worst_ratio(log_laplace(scale), 15) <= 1 + 1e-12

    assert is_private(float(protocol.noise.scale))
    assert not is_private(1)  # the fault: the sensitivity of a count
    numbers = [0, 3, 15, 15] * 5000
    reports = protocol.randomize(numbers)
    assert mean_is(np.array(reports) - np.array(numbers), 0)
    inside = protocol.estimate(reports, confidence=1 - 1e-9).interval
    assert inside.lower <= np.mean(numbers) <= inside.upper


def first_above(values, threshold_scale, query_scale):
    """Pr[the first "above" is value i], and of none, for threshold 0: by direct summation."""
    span = np.arange(-1500, 1501)
    threshold = np.tanh(1 / (2 * threshold_scale)) * np.exp(-np.abs(span) / threshold_scale)
    left, law = threshold, []
    for value in values:
        gap = span - value  # "above" if the value's noise is at least this
        q = math.exp(-1 / query_scale)
        above = np.where(
            gap >= 1, q ** np.maximum(gap, 1) / (1 + q), 1 - q ** (1 - np.minimum(gap, 0)) / (1 + q)
        )
        law.append(float(np.sum(left * above)))
        left = left * (1 - above)
    return [*law, float(left.sum())]


def svt_loss(threshold_scale, query_scale, k):
    """The worst outcome of the counterexample (0^k, 1^k) against (1^k, 0^k)."""
    first, second = (
        first_above(v, threshold_scale, query_scale) for v in ((0,) * k + (1,) * k, (1,) * k + (0,) * k)
    )
    return max(abs(math.log(p / q)) for p, q in zip(first, second, strict=True))


@pytest.mark.parametrize("k", range(1, 9))
def test_m10_above_threshold_stays_within_epsilon_and_known_mistakes_do_not(k):
    noise = dp.AboveThreshold(epsilon=1, threshold=0).noise
    assert (noise.threshold, noise.query) == (2, 4)
    assert svt_loss(2, 4, k) <= 1
    if k >= 6:
        assert svt_loss(2, 0.1, k) > 1  # the fault: hardly any noise on the queries


def test_m10_the_stream_draws_the_law_that_was_judged():
    law = first_above((-1, 2), 2, 4)
    streams = [dp.AboveThreshold(epsilon=1, threshold=0, step=1) for _ in range(4000)]
    first = np.array([stream.test(-1) for stream in streams])
    assert mean_is(first, law[0])
    later = np.array([stream.test(2) for stream, ended in zip(streams, first, strict=True) if not ended])
    assert mean_is(later, law[1] / (1 - law[0]))


def test_m11_sparse_pays_for_every_restart():
    def pays(loss, count):
        return loss.epsilon(delta=0) >= count * (1 / float(noise.threshold) + 2 / float(noise.query)) * (
            1 - 1e-12
        )

    stream = dp.Sparse(epsilon=1, threshold=0, count=5)
    noise = stream.noise
    assert (noise.threshold, noise.query) == (10, 20)  # σ = 2c/ε
    assert stream.loss.epsilon(delta=0) <= 1
    assert pays(stream.loss, 5)
    assert not pays(dp.AboveThreshold(epsilon=F(1, 5), threshold=0).loss, 5)  # the fault: restarts for free
    private = dp.Sparse(epsilon=0.5, threshold=0, count=50, delta=1e-6)
    assert float(private.noise.threshold) == pytest.approx(math.sqrt(32 * 50 * math.log(1e6)) / 0.5)
    assert private.loss.delta(epsilon=0.5) <= 1e-6
    seen = [stream.test(value) for value in (10**6,) * 5]
    assert seen == [True] * 5
    with pytest.raises(dp.Finished):
        stream.test(0)


def test_m12_numeric_sparse_adds_up_although_its_parts_do_not_seem_to():
    stream = dp.NumericSparse(epsilon=9, threshold=0, count=3)
    noise = stream.noise
    assert noise.threshold == F(2 * 3, 8)  # σ(ε₁) = 2c/(8ε/9)
    assert float(stream.values.scale) == pytest.approx(2 * 3 / 2)  # σ(ε₂) = 2c/(2ε/9)
    round_cost = 1 / noise.threshold + 2 / noise.query + F(1) / stream.values.scale
    assert 3 * round_cost <= 9  # 8/9 + 1/9, although 8/9 + 2/9 > 1
    assert stream.loss.epsilon(delta=0) <= 9
    careless = (
        1 / noise.threshold + 2 / noise.query + 2 / stream.values.scale
    )  # the fault: half the value's noise
    assert 3 * careless > 9


def judged(function, sensitivity, relation, **domain):
    return dp.auditing.check_sensitivity(
        function, sensitivity=sensitivity, relation=relation, **domain
    ).verdict


def test_m13_a_histogram_moves_by_one_or_under_replace_by_two():
    def cells(rows):
        return [rows.count(key) for key in ("a", "b", "c")]

    for relation, moves in (("add/remove", 1), ("replace", 2)):
        assert judged(cells, moves, relation, values="abc") == "not refuted"
        released = dp.histogram(list("aab"), keys=list("abc"), epsilon=1, relation=relation)
        stated = math.sqrt(dp.Laplace(epsilon=1, sensitivity=moves).variance)
        assert released["a"].standard_error == pytest.approx(stated)
    assert judged(cells, 1, "replace", values="abc") == "violated"  # the fault


def test_m14_a_proportion_with_public_n_moves_by_one_nth():
    def share(rows):
        return sum(rows) / len(rows)

    assert judged(share, F(1, 4), "replace", values=[0, 1], sizes=(4,)) == "not refuted"
    assert judged(share, F(1, 5), "replace", values=[0, 1], sizes=(4,)) == "violated"  # the fault
    released = dp.proportion([1, 0, 1, 1] * 250, epsilon=1, relation="replace")
    assert released.standard_error == pytest.approx(math.sqrt(2) / 1000, rel=1e-3)


def test_m15_a_bounded_sum_moves_by_its_largest_bound_or_under_replace_by_its_range():
    for relation, moves in (("add/remove", 7), ("replace", 10)):
        assert judged(sum, moves, relation, bounds=(-3, 7)) == "not refuted"
        assert judged(sum, moves - 1, relation, bounds=(-3, 7)) == "violated"  # the fault
        released = dp.bounded_sum([5, 100, -100], bounds=(-3, 7), epsilon=1, relation=relation)
        assert released.standard_error == pytest.approx(math.sqrt(2) * moves, rel=1e-3)
