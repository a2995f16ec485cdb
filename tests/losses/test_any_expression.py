"""Any expression has an answer: finite, within counted work and memory, monotone, and right."""

import math
import random
import tracemalloc

import pytest

import discreet as dp
from discreet.kernel.losses import (
    PrivacyLoss,
    approximate,
    bounded_range,
    discrete_gaussian,
    discrete_laplace,
    gaussian,
    laplace,
    pure,
    randomized_response,
    truncated_laplace,
    work,
    zcdp,
)
from oracles import grid_curves

FEW, MANY, PARTS = 200, 2000, 10
MOST_COMPARED = 60  # uses, so that the oracle's grid is fine
ALLOWED = 2 * (work.QUESTION + work.RESERVE)  # both directions
MEGABYTE = 10**6

# parameter -> (loss, the law of the oracle, or None)
LAWS = {
    "laplace": (lambda x: laplace(scale=x), lambda x: grid_curves.laplace(1 / x)),
    "gaussian": (lambda x: gaussian(sigma=x), lambda x: grid_curves.gaussian(1 / x)),
    "pure": (lambda x: pure(epsilon=1 / x), lambda x: grid_curves.randomized_response(1 / x, 2)),
    "randomized_response": (
        lambda x: randomized_response(epsilon=1 / x, values=5),
        lambda x: grid_curves.randomized_response(1 / x, 5),
    ),
    "discrete_laplace": (
        lambda x: discrete_laplace(scale=x, sensitivity=3),
        lambda x: grid_curves.discrete_laplace(x, 3),
    ),
    "many steps": (
        lambda x: discrete_laplace(scale=100 * x, sensitivity=300),
        lambda x: grid_curves.discrete_laplace(100 * x, 300),
    ),
    "truncated_laplace": (lambda x: truncated_laplace(scale=x, sensitivity=3, most=int(50 * x) + 3), None),
    "discrete_gaussian": (lambda x: discrete_gaussian(sigma=x, sensitivity=2), None),
    "bounded_range": (lambda x: bounded_range(epsilon=1 / x), None),
    "zcdp": (lambda x: zcdp(rho=1 / x), None),
    "renyi": (lambda x: dp.RenyiDP(1 + 10 * x, 1 / x).loss, None),
    "approximate": (lambda x: approximate(epsilon=1 / x, delta=1e-12), None),
}


class Expression:
    """A random sum of laws, some sampled, some for groups, some both; and its laws for the oracle."""

    def __init__(self, random_numbers, wild):
        self.loss, self.terms = PrivacyLoss(), []
        for _ in range(random_numbers.choice([1, 1, 2, 3])):
            self._add(random_numbers, wild)

    def _add(self, numbers, wild):
        make, law = LAWS[numbers.choice(list(LAWS))]
        x = float(f"{10 ** numbers.uniform(*((-1.3, 3) if wild else (-0.3, 1.5))):.4g}")
        count = int(10 ** numbers.uniform(0, 6 if wild else 2))
        rate = (
            float(f"{10 ** numbers.uniform(-6 if wild else -3, -0.3):.4g}") if numbers.random() < 0.4 else 1
        )
        loss = make(x).sampled(rate)
        if numbers.random() < 0.1:
            loss, law = loss.for_group(numbers.choice([2, 3, 10])), None
        self.loss += count * loss
        self.terms.append((None if law is None else law(x), rate, count))

    def laws(self, direction):
        """The laws for the oracle; None where it has none, or its grid would be too coarse."""
        if any(law is None for law, _, _ in self.terms) or sum(n for _, _, n in self.terms) > MOST_COMPARED:
            return None
        return [
            (law if rate == 1 else grid_curves.sampled(law, rate, direction), count)
            for law, rate, count in self.terms
        ]


def expressions(count):
    numbers = random.Random(20261116)
    return [Expression(numbers, wild=i % 4 == 0) for i in range(count)]


def asked(question):
    """The answer; the work it took is within what is allowed."""
    before = work.done()
    answer = question()
    assert work.done() - before <= ALLOWED
    return answer


def check(expression):
    """All that must hold of one expression; whether the oracle was asked."""
    loss = expression.loss
    small, large = (asked(lambda delta=delta: loss.epsilon_interval(delta=delta)) for delta in (1e-5, 1e-9))
    assert small.upper < math.inf or loss.rho == math.inf  # what has ρ, or a largest loss, has an ε
    assert large.upper < math.inf or loss.rho == math.inf
    assert small.upper <= large.upper * (1 + 1e-3) + 1e-9
    assert small.lower <= large.upper
    at = small.upper if 0 < small.upper < math.inf else 1.0
    nearer, farther = (asked(lambda e=e: loss.delta_interval(epsilon=e)) for e in (at, 1.2 * at))
    assert farther.upper <= nearer.upper * (1 + 1e-3)
    assert farther.lower <= nearer.upper
    assert nearer.lower <= 1e-5 or small.upper == math.inf  # δ at the stated ε is not above the δ it is for
    return compare(expression, small, 1e-5)


def compare(expression, interval, delta):
    ways = [expression.laws(direction) for direction in (0, 1)]
    if ways[0] is None or not 1e-6 < interval.lower <= interval.upper < math.inf:
        return False
    low, high = (
        [max(column) for column in zip(*(bracket(laws, end) for laws in ways), strict=True)]
        for end in interval
    )
    assert low[1] >= delta * (1 - 1e-6)  # at the lower end δ is not certainly below
    assert high[0] <= delta * (1 + 1e-6)  # at the upper end δ is not certainly above
    return True


def bracket(laws, epsilon):
    if epsilon >= sum(count * law.high for law, count in laws):
        return 0.0, 1.0
    return grid_curves.delta_bracket(laws, epsilon, grid_curves.saddle(laws, epsilon))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_every_expression_has_an_answer_that_is_right(part):
    chosen = list(expressions(FEW))[part::PARTS]
    compared = sum(map(check, chosen))
    print(f"{compared} of {len(chosen)} expressions were compared with the oracle")
    assert compared >= 1


@pytest.mark.soak
def test_many_expressions_have_answers_that_are_right():
    compared = sum(check(expression) for expression in expressions(MANY))
    print(f"{compared} of {MANY} expressions were compared with the oracle")
    assert compared >= MANY // 10


def test_an_answer_that_is_a_little_too_low_is_seen_by_the_oracle():
    loss = 20 * laplace(scale=1).sampled(0.1)
    interval = loss.epsilon_interval(delta=1e-5)
    laws = [[(grid_curves.sampled(grid_curves.laplace(1.0), 0.1, direction), 20)] for direction in (0, 1)]
    assert max(bracket(one, 0.98 * interval.lower)[0] for one in laws) > 1e-5


FAR = [  # the search for a contour goes so far that floats end
    2 * bounded_range(epsilon=0.03215434083601286) + 9 * gaussian(sigma=1.531).sampled(0.004784),
    19 * approximate(epsilon=0.20946795140343527, delta=1e-12).sampled(0.001506).for_group(10)
    + 3 * dp.RenyiDP(167.4, 0.06009615384615384).loss.sampled(0.3608).for_group(3)
    + gaussian(sigma=2.453).sampled(0.2762),
]


@pytest.mark.slow
@pytest.mark.parametrize("loss", FAR, ids=["ranges", "groups"])
def test_where_floats_end_there_is_an_answer(loss):
    interval = loss.epsilon_interval(delta=1e-5)
    assert 0 < interval.lower <= interval.upper < 1.5 * interval.lower
    for epsilon in (interval.upper, 1.2 * interval.upper):
        found = loss.delta_interval(epsilon=epsilon)
        assert 0 <= found.lower <= 1e-5
        assert found.lower <= found.upper < 1


DEAR = [
    10 * gaussian(sigma=100).sampled(1e-4),
    100 * gaussian(sigma=0.05).sampled(1e-3) + 1000 * discrete_laplace(scale=3),
]


@pytest.mark.slow
@pytest.mark.parametrize("loss", DEAR, ids=str)
def test_what_is_dear_is_answered_within_its_work_and_its_memory(loss):
    tracemalloc.start()
    try:
        interval = asked(lambda: loss.epsilon_interval(delta=1e-8))
        assert interval.upper < math.inf
        assert asked(lambda: loss.delta(epsilon=interval.upper)) < 1
        assert tracemalloc.get_traced_memory()[1] < 256 * MEGABYTE
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_an_answer_does_not_depend_on_the_questions_before():
    loss = 7 * (laplace(scale=3) + gaussian(sigma=2)).sampled(0.05)
    first = loss.epsilon_interval(delta=1e-7)
    again = loss.epsilon_interval(delta=1e-7, width=1e-3 * (1 + 1e-12))  # the same, with its pairs remembered
    assert first == again
