"""The optimum for exponential mechanisms fixed in advance: right, and used by nothing else."""

from pathlib import Path

import mpmath
import pytest

import discreet as dp
from discreet.kernel.losses import bounded_range, exponential_nonadaptive


def two_points(k, span, top, epsilon):
    """δ of k two-point losses top and top − span, from the definition."""
    high = (mpmath.exp(-top) - mpmath.exp(-span)) / (1 - mpmath.exp(-span))
    return mpmath.fsum(
        mpmath.binomial(k, i)
        * high ** (k - i)
        * (1 - high) ** i
        * max(0, mpmath.exp(k * top - i * span) - mpmath.exp(epsilon))
        for i in range(k + 1)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("k", "span", "delta"), [(1, 1, 1e-3), (3, 0.5, 1e-4), (10, 0.5, 1e-6), (25, 0.2, 1e-9)]
)
def test_no_place_of_the_range_asks_for_more(k, span, delta):
    epsilon = float(exponential_nonadaptive(epsilon=span, times=k, delta=delta).epsilon)
    worst = max(two_points(k, span, span * i / 400, epsilon) for i in range(401))
    assert worst <= delta * (1 + 1e-9)
    assert worst >= delta * 0.98  # and hardly less: the places are the right ones


def test_a_hundred_halves():
    best = exponential_nonadaptive(epsilon=0.5, times=100, delta=1e-6)
    assert float(best.epsilon) == pytest.approx(14.31, abs=0.01)
    assert exponential_nonadaptive(epsilon=0.5, times=3, delta=0) == dp.ApproxDP(1.5, 0)
    with pytest.raises(dp.InvalidParameter, match="at most"):
        exponential_nonadaptive(epsilon=0.5, times=10**6, delta=1e-6)


def test_nothing_that_may_be_chosen_adaptively_uses_it():
    best = exponential_nonadaptive(epsilon=0.5, times=100, delta=1e-6).epsilon
    assert (100 * bounded_range(epsilon=0.5)).epsilon(delta=1e-6) > best + 0.5
    source = Path(dp.__file__).parent
    users = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        if "nonadaptive" in path.read_text(encoding="utf-8")
    }
    assert users == {"kernel/losses/__init__.py", "kernel/losses/composing.py"}
