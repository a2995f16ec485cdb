"""The notions of a first course. Ours and a planted fault are judged by one rule, and the fault fails."""

import math
import warnings
from fractions import Fraction as F
from itertools import chain, combinations

import numpy as np
import pytest

import discreet as dp
from discreet.kernel.accounting import Experiment, Round

ROWS = [[F(3, 8), F(3, 8), F(1, 8), F(1, 8)], [F(1, 4)] * 4]  # two neighbours, four outputs


def events(outputs):
    return chain.from_iterable(combinations(range(outputs), size) for size in range(1, outputs + 1))


def worst_event(p, q, epsilon):
    """max over every event S of P(S) − e^ε Q(S), both ways: the definition itself."""
    gaps = [
        sum(a[i] for i in s) - math.exp(epsilon) * sum(b[i] for i in s)
        for a, b in ((p, q), (q, p))
        for s in events(len(p))
    ]
    return float(max(gaps))


def test_n1_every_guarantee_names_its_relation_and_they_do_not_mix():
    def keeps_apart(add):
        with pytest.raises(dp.InvalidParameter, match="one relation"):
            add(
                dp.Laplace(epsilon=1, sensitivity=1).loss,
                dp.Laplace(epsilon=1, sensitivity=1, relation="replace").loss,
            )
        return True

    def careless(first, second):
        return dp.PrivacyLoss(first.terms + second.terms, "add/remove")

    assert {
        dp.Laplace(epsilon=1, sensitivity=1, relation=r).loss.relation
        for r in ("add/remove", "replace", "local")
    } == {
        "add/remove",
        "replace",
        "local",
    }
    assert keeps_apart(lambda first, second: first + second)
    with pytest.raises(pytest.fail.Exception):
        keeps_apart(careless)


def test_n2_pure_and_approximate_privacy_hold_over_every_event():
    def is_right(delta):
        return all(delta(e) == pytest.approx(worst_event(*ROWS, e), abs=1e-12) for e in (0.0, 0.3, 0.6))

    def over_single_outcomes(epsilon):  # the fault: outcomes instead of events
        return max(
            float(a - F(math.exp(epsilon)) * b)
            for p, q in (ROWS, ROWS[::-1])
            for a, b in zip(p, q, strict=True)
        )

    loss = dp.losses.channel(ROWS)
    assert loss.epsilon(delta=0) == pytest.approx(math.log(2))  # for pure DP single outcomes are enough
    assert is_right(lambda epsilon: loss.delta(epsilon=epsilon))
    assert not is_right(over_single_outcomes)


def test_n7_no_function_of_a_private_output_is_less_private():
    generator = np.random.default_rng(7)
    loss = dp.losses.channel(ROWS)

    def stays_private(first, second):
        """Whether the channel is no worse after its rows went through these tables, one each."""
        after = [
            [sum(p * table[i][j] for i, p in enumerate(row)) for j in range(3)]
            for row, table in zip(ROWS, (first, second), strict=True)
        ]
        composed = dp.losses.channel(after)
        return all(composed.delta(epsilon=e) <= loss.delta(epsilon=e) + 1e-12 for e in (0, 0.2, 0.5))

    def table():
        return [[F(int(n), int(row.sum())) for n in row] for row in generator.integers(1, 100, (4, 3))]

    for _ in range(8):
        randomised = table()
        assert stays_private(randomised, randomised)
    honest, telling = [[1, 0, 0]] * 4, [[F(1, 5), F(4, 5), 0]] * 4
    assert stays_private(telling, telling)
    assert not stays_private(honest, telling)  # the fault: it looks at the data again


@pytest.mark.parametrize("size", [2, 3, 5])
def test_n8_epsilon_grows_linearly_in_the_group_and_delta_exponentially(size):
    epsilon, delta = 0.5, 1e-6
    one = dp.ApproxDP(epsilon, delta).loss

    def is_right(group_delta):
        # attained by the chain that leaks with δ at every link and otherwise answers by randomised response
        least = sum(math.exp(i * epsilon) for i in range(size)) * delta
        stated = size * math.exp((size - 1) * epsilon) * delta
        return least * (1 - 1e-9) <= group_delta <= stated * (1 + 1e-9)

    assert is_right(one.for_group(size).delta(epsilon=size * epsilon))
    assert not is_right(size * delta)  # the fault: δ grows linearly


def test_n3_sensitivity_belongs_to_the_domain_and_not_to_the_data():
    def judge(sensitivity, norm="l1", function=sum):
        return dp.auditing.check_sensitivity(
            function, sensitivity=sensitivity, bounds=(0, 10), norm=norm, tries=3000
        ).verdict

    def twice(rows):
        return [sum(rows), sum(rows)]

    assert judge(10) == "not refuted"
    assert (
        judge(lambda rows: max(rows, default=0)) == "violated"
    )  # the fault: local sensitivity as if it were safe
    assert judge(20, function=twice) == "not refuted"  # l1: 10 + 10
    assert judge(10 * math.sqrt(2), "l2", twice) == "not refuted"
    assert judge(10 * math.sqrt(2), "l1", twice) == "violated"  # the fault: the other norm


def test_n4_the_sensitivity_of_a_utility_is_the_worst_over_neighbours_and_outcomes():
    places = (0, 4, 10)

    def near(rows):
        return [-sum((row - place) ** 2 for row in rows) for place in places]

    def inverse(rows):  # the fault: 1/distance to the mean, which has no bound
        return [1 / abs(sum(rows) / len(rows) - place) for place in places]

    def judge(utility, sensitivity):
        return dp.auditing.check_sensitivity(
            utility, sensitivity=sensitivity, bounds=(0, 10), norm="max", sizes=(1, 2, 3), tries=3000
        ).verdict

    assert judge(near, 100) == "not refuted"
    assert judge(near, 99) == "violated"
    assert judge(inverse, 1000) == "violated"


@pytest.mark.parametrize("people", [100, 10_000])
def test_n12_trusting_nobody_costs_a_factor_that_grows_like_the_root_of_n(people):
    protocol = dp.local.number(bounds=(0, 15), epsilon=1, noise="laplace")
    reports = np.array(protocol.randomize([7] * people))
    price = protocol.compare(people=people)

    def is_the_price(ratio):
        return ratio == pytest.approx(math.sqrt(people), rel=1e-3)

    assert price.local == pytest.approx(math.sqrt(2) * 15 / math.sqrt(people), rel=1e-3)
    assert abs(reports.mean() - 7) <= 10 * price.local  # by Bernstein false in less than 10⁻⁹ of runs
    assert is_the_price(price.ratio)
    assert not is_the_price(1.0)  # the fault: one curator's noise for all


def test_n13_a_delta_that_is_not_far_below_one_over_n_is_warned_about():
    def leak(delta, people):
        return -math.expm1(people * math.log1p(-delta))  # somebody is out, if each row is out with δ

    def warns(delta, population):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            dp.count([1, 0, 1], epsilon=0.5, delta=delta, population=population)
        return any(issubclass(warning.category, dp.DeltaWarning) for warning in seen)

    for delta, population in ((1e-6, 1_000_000), (1e-6, 100_000), (1e-6, 1000), (1e-12, 1_000_000)):
        assert warns(delta, population) == (leak(delta, population) > 0.01)
    assert not warns(1e-6, 3)  # the declared population counts, never the true number of rows


def test_n6_delta_is_an_expectation_over_the_loss_variable_and_not_its_tail():
    mu = 0.5
    loss = dp.Gaussian(sigma=2, sensitivity=1).loss
    x = np.linspace(-8 * mu, 8 * mu, 400_001) + mu**2 / 2  # L ~ N(μ²/2, μ²)
    weights = np.exp(-((x - mu**2 / 2) ** 2) / (2 * mu**2)) / (mu * math.sqrt(2 * math.pi)) * (x[1] - x[0])

    def is_delta(function):
        return all(
            float(np.sum(weights * function(x, epsilon)))
            == pytest.approx(loss.delta(epsilon=epsilon), rel=1e-4)
            for epsilon in (0.2, 1.0)
        )

    assert is_delta(lambda x, epsilon: np.maximum(0, 1 - np.exp(epsilon - x)))
    assert not is_delta(lambda x, epsilon: x > epsilon)  # the fault: the tail, which only implies it
    assert loss.distribution().mean == pytest.approx(mu**2 / 2)  # the Kullback–Leibler divergence
    assert loss.distribution().tail(1) == pytest.approx(math.erfc((1 - mu**2 / 2) / mu / math.sqrt(2)) / 2)


def test_n9_epsilons_add_up_even_if_the_second_mechanism_is_chosen_after_the_first_answer():
    first, second = 0.5, 0.8

    def view(data):
        """Pr[(a, b)] of two bits: the second answer is noisier after a 0."""
        law = {}
        for a, b in np.ndindex(2, 2):
            rounds = ((a, first), (b, second if a else second / 2))
            law[a, b] = math.prod(1 / (1 + math.exp(-e if answer == data else e)) for answer, e in rounds)
        return law

    def covers(epsilon):
        zero, one = view(0), view(1)
        return max(abs(math.log(zero[v] / one[v])) for v in zero) <= epsilon * (1 + 1e-12)

    composed = dp.PureDP(first).loss + dp.PureDP(second).loss
    assert (
        composed.epsilon(delta=0)
        == first + second
        == float(dp.compose_basic([dp.PureDP(first), dp.PureDP(second)]).epsilon)
    )
    assert covers(composed.epsilon(delta=0))
    assert not covers(max(first, second))  # the fault: only the larger is paid for


def respond(epsilon):
    """Randomised response with a rational truth: at most epsilon-DP."""
    truth = F(math.floor(10_000 / (1 + math.exp(-epsilon))), 10_000)
    return Round([truth, 1 - truth], [1 - truth, truth])


def test_n10_the_terms_of_a_view_keep_their_bounds_and_the_bad_set_is_as_rare_as_its_slack():
    epsilon, rounds, slack = 0.5, 12, 0.05
    game = Experiment(
        adversary=lambda coins, answers: respond(epsilon / (1 + sum(answers[-1:]))), rounds=rounds
    )
    seen = list(game.views())
    first = [float(view.probabilities[0]) for view in seen]
    assert all(abs(term) <= epsilon for view in seen for term in view.terms)
    for i in range(rounds):  # E[C_i] <= ε(e^ε − 1)
        mean = math.fsum(p * view.terms[i] for p, view in zip(first, seen, strict=True))
        assert mean <= epsilon * math.expm1(epsilon)

    def bad(bound):
        """Pr[V₀ in the bad set {v : L(v) > bound}]."""
        return math.fsum(p for p, view in zip(first, seen, strict=True) if view.loss > bound)

    spread = epsilon * math.sqrt(2 * rounds * math.log(1 / slack))
    stated = dp.compose_advanced(epsilon=epsilon, times=rounds, slack=slack)
    assert float(stated.epsilon) == pytest.approx(rounds * epsilon * math.expm1(epsilon) + spread)
    assert bad(float(stated.epsilon)) <= slack
    assert bad(spread / 4) > slack  # the fault: no drift, and a quarter of Azuma's spread


def test_n11_the_adversarys_coins_belong_to_its_view():
    strong, flipped = respond(1), Round(*reversed(respond(1).laws))
    game = Experiment(
        adversary=lambda coins, answers: flipped if coins else strong, rounds=3, coins=(F(1, 2), F(1, 2))
    )
    exact = (3 * dp.losses.channel(strong.laws)).delta(epsilon=1)

    def without_coins():  # the fault: views with equal answers are merged
        merged = {}
        for view in game.views():
            p, q = merged.get(view.answers, (0, 0))
            merged[view.answers] = (p + view.probabilities[0], q + view.probabilities[1])
        return float(sum(max(0, p - F(math.e) * q) for p, q in merged.values()))

    assert game.delta(epsilon=1) == pytest.approx(exact)
    assert without_coins() != pytest.approx(exact)


@pytest.mark.parametrize("seed", range(5))
def test_n11_no_adaptive_adversary_beats_the_exact_composition(seed):
    generator = np.random.default_rng(seed)
    choices = [
        [respond(1), Round(*reversed(respond(1).laws)), respond(0.3)][i]
        for i in generator.integers(0, 3, 256)
    ]
    game = Experiment(adversary=lambda coins, answers: choices[hash((coins, answers)) % 256], rounds=5)
    composed = 5 * dp.losses.channel(respond(1).laws)
    for epsilon in (0, 1, 2, 3):
        assert game.delta(epsilon=epsilon) <= composed.delta(epsilon=epsilon) * (1 + 1e-9)


def test_n5_the_divergences_are_the_worst_events_and_bound_both_directions():
    p, q = ([float(value) for value in row] for row in ROWS)

    def is_right(divergence, delta):
        worst = max(
            math.log((sum(p[i] for i in s) - delta) / sum(q[i] for i in s))
            for s in events(4)
            if sum(p[i] for i in s) > delta
        )
        return divergence(delta) == pytest.approx(worst)

    def over_single_outcomes(delta):  # the fault
        return max(math.log((a - delta) / b) for a, b in zip(p, q, strict=True) if a > delta)

    assert dp.max_divergence(*ROWS) == pytest.approx(math.log(3 / 2))
    assert dp.max_divergence(*ROWS[::-1]) == pytest.approx(math.log(2))
    assert is_right(lambda delta: dp.approx_max_divergence(*ROWS, delta), 0.2)
    assert not is_right(over_single_outcomes, 0.2)
