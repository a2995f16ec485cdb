"""The notions of a first course. Ours and a planted fault are judged by one rule, and the fault fails."""

import math
from fractions import Fraction as F
from itertools import chain, combinations

import numpy as np
import pytest

import discreet as dp

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

    def stays_private(post_process):
        for _ in range(20):
            after = dp.losses.channel(post_process(ROWS, generator))
            if any(after.delta(epsilon=e) > loss.delta(epsilon=e) + 1e-12 for e in (0, 0.2, 0.5)):
                return False
        return True

    def whole_rows(shape):
        counts = generator.integers(1, 100, shape)
        return [[F(int(n), int(row.sum())) for n in row] for row in counts]

    def randomise(rows, _):
        table = whole_rows((4, 3))
        return [[sum(p * table[i][j] for i, p in enumerate(row)) for j in range(3)] for row in rows]

    def peek(rows, _):  # the fault: it looks at the data again
        return [
            [sum(p * table[i][j] for i, p in enumerate(row)) for j in range(3)]
            for row, table in zip(rows, (whole_rows((4, 3)), whole_rows((4, 3))), strict=True)
        ]

    loss = dp.losses.channel(ROWS)
    assert stays_private(randomise)
    assert not stays_private(peek)


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
