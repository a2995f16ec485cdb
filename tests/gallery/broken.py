"""The gallery: mechanisms that are not as private as they claim, each with the neighbours that show it.

A target is f(data, n) -> n outputs. Most faults are on record in published software; the source says what
is wrong.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from tests.gallery.noise import discrete_gaussian, gumbel_choice, laplace, rng

import discreet as dp


@dataclass(frozen=True)
class Broken:
    """A false claim: `claim` is what is sold, `true` the real epsilon where it is known."""

    name: str
    fault: str
    target: Callable[[Any, int], Any]
    claim: Any
    neighbours: Any
    true: float | None = None


GALLERY: list[Broken] = []


def broken(*, fault, claim, neighbours, true=None):
    """Hang a target in the gallery under its own name."""

    def hang(target):
        GALLERY.append(Broken(target.__name__, fault, target, claim, neighbours, true))
        return target

    return hang


def rows(data, n):
    """The query answers, once per output."""
    return np.broadcast_to(np.asarray(data), (n, len(data)))


def until(above, count):
    """Blank out what a sparse vector would not have answered after `count` positives (2 = not answered)."""
    before = np.cumsum(above, axis=1) - above
    return np.where(before < count, above.astype(int), 2)


HALVES = ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])


# Sparse vector (Lyu, Su and Li 2017 number the variants)
@broken(fault="queries are compared without noise (variant 5)", claim=1, neighbours=HALVES, true=np.inf)
def sparse_without_query_noise(data, n):
    return rows(data, n) >= laplace(2, (n, 1))


@broken(fault="answers 'above' without limit (variant 6)", claim=1, neighbours=HALVES)
def sparse_without_cutoff(data, n):
    return rows(data, n) + laplace(2, (n, len(data))) > laplace(2, (n, 1))


@broken(fault="noise does not grow with the number of positives (variant 4)", claim=1, neighbours=HALVES)
def sparse_with_unscaled_noise(data, n):
    above = rows(data, n) + laplace(4 / 3, (n, len(data))) >= laplace(4, (n, 1))
    return until(above, 3)


@broken(
    fault="publishes the noisy value that was compared (variant 3)",
    claim=4,
    neighbours=([0] * 6 + [1], [1] * 6 + [0]),
)
def sparse_publishing_the_compared_value(data, n):
    noisy = rows(data, n) + laplace(1, (n, len(data)))
    threshold = laplace(0.5, (n, 1)) + 1
    first = until(noisy >= threshold, 1)
    return np.where(first == 1, noisy, np.where(first == 0, -10_000, -20_000))


@broken(fault="the threshold has no noise", claim=1, neighbours=([0] * 6, [1] * 6))
def sparse_without_threshold_noise(data, n):
    return until(rows(data, n) + laplace(4, (n, len(data))) >= 1, 1)


# Floating point
@broken(fault="floating-point Laplace (Mironov 2012)", claim=1, neighbours=(0.0, 1.0), true=np.inf)
def float_laplace(x, n):
    return x + rng.laplace(0, 1, n)


@broken(fault="floating-point Gaussian", claim=dp.ApproxDP(5, 1e-3), neighbours=(0.0, 1.0), true=np.inf)
def float_gaussian(x, n):
    return x + rng.normal(0, 2, n)


@broken(fault="whole-number noise on an unrounded value", claim=1, neighbours=(1.25, 1.75), true=np.inf)
def fraction_left_alone(x, n):
    return x + laplace(1, n)


@broken(fault="weights of the exponential mechanism underflow to 0/0", claim=1, neighbours=([-1490], [-1491]))
def underflowing_weights(scores, n):
    weights = np.exp(np.array([scores[0], scores[0] - 1.0]) / 2)
    with np.errstate(all="raise"):
        return rng.choice(2, p=weights / weights.sum(), size=n)


# Sensitivity
@broken(fault="noise scaled by the largest value in the data", claim=1, neighbours=([1, 1, 10], [1, 1]))
def sum_with_local_sensitivity(data, n):
    return sum(data) + laplace(max(data), n)


@broken(fault="k counts with the noise of one", claim=1, neighbours=([0] * 4, [1] * 4), true=4)
def vector_with_scalar_noise(data, n):
    return rows(data, n) + laplace(1, (n, len(data)))


@broken(fault="histogram under replace with add/remove noise", claim=1, neighbours=([3, 2], [2, 3]), true=2)
def histogram_under_replace(data, n):
    return rows(data, n) + laplace(1, (n, len(data)))


@broken(
    fault="clamped to [0, 1] before multiplying by 10", claim=1, neighbours=([0, 0, 0], [0, 0, 1]), true=10
)
def clamp_before_expression(data, n):
    return int((np.clip(data, 0, 1) * 10).sum()) + laplace(1, n)


@broken(fault="(U - L)/2 rounded down", claim=0.5, neighbours=([0, 0], [0, 3]), true=1.5)
def half_width_truncated(data, n):
    return int(np.sum(data)) + laplace(((3 - 0) // 2) / 0.5, n)


@broken(fault="the sum overflows 8 bits", claim=1, neighbours=([100, 27], [100, 28]))
def overflowing_sum(data, n):
    return int(np.array(data, dtype=np.int8).sum(dtype=np.int8)) + laplace(28, n)


@broken(fault="one value poisons the sum with NaN", claim=1, neighbours=([1.0, 1.0], [1.0, float("nan")]))
def nan_poisons_the_sum(data, n):
    return np.clip(np.array(data), 0, 1).sum() + laplace(1, n)


# Selection
@broken(
    fault="noisy max at 1/eps of scores that move both ways", claim=1, neighbours=([1, 0, 0, 0], [0, 1, 1, 1])
)
def noisy_max_of_opposite_scores(scores, n):
    return np.argmax(rows(scores, n) + rng.exponential(1, (n, len(scores))), axis=1)


@broken(
    fault="noisy max at 1/eps under replace", claim=1, neighbours=([1] + [0] * 9, [0, 1] + [0] * 8), true=2
)
def noisy_max_under_replace(scores, n):
    return np.argmax(rows(scores, n) + rng.laplace(0, 1, (n, len(scores))), axis=1)


@broken(fault="noisy max that also returns the value", claim=1, neighbours=([0] * 6, [1] * 6))
def noisy_max_with_value(scores, n):
    noisy = rows(scores, n) + laplace(1, (n, len(scores)))
    return noisy.max(axis=1)


@broken(fault="exponential mechanism without the 2", claim=1, neighbours=([1] + [0] * 9, [0] + [1] * 9))
def exponential_without_the_two(scores, n):
    return gumbel_choice(scores, n)


# Randomised response
@broken(fault="the last bit is not flipped", claim=1, neighbours=([0, 0, 1], [0, 0, 0]), true=np.inf)
def last_bit_without_noise(bits, n):
    flips = rng.random((n, len(bits))) < 1 / (1 + np.e)
    flips[:, -1] = False
    return rows(bits, n) ^ flips


@broken(fault="a report only ever sets bits", claim=1, neighbours=([1, 0, 0, 0], [0, 0, 1, 0]), true=np.inf)
def reports_that_only_set_bits(bits, n):
    return np.where(rng.random((n, len(bits))) < 0.3, 1, rows(bits, n))


@broken(fault="ten values with the coin for two", claim=1, neighbours=(0, 1), true=np.log(9 * np.e))
def response_over_ten_values(x, n):
    lie = (x + rng.integers(1, 10, n)) % 10
    return np.where(rng.random(n) < np.e / (1 + np.e), x, lie)


@broken(fault="unary encoding charged for one bit, two differ", claim=1, neighbours=([1, 0], [0, 1]), true=2)
def unary_encoding_charged_once(bits, n):
    return rows(bits, n) ^ (rng.random((n, len(bits))) < 1 / (1 + np.e))


# Noise
@broken(fault="one draw for all cells", claim=2, neighbours=([5, 5], [5, 6]), true=np.inf)
def noise_reused(data, n):
    return rows(data, n) + laplace(1, (n, 1))


@broken(fault="a forgotten count: the total is published exactly", claim=1, neighbours=([2, 3], [2, 4]))
def forgotten_count(data, n):
    noisy = rows(data, n) + laplace(1, (n, 2))
    return np.column_stack((noisy, np.full(n, sum(data))))


@broken(fault="a mean divides by the true number of rows", claim=1, neighbours=([1, 1, 1], [1, 1, 1, 1]))
def mean_with_true_n(data, n):
    return (sum(data) + laplace(1, n)) / len(data)


@broken(fault="the scale is eps instead of 1/eps", claim=0.5, neighbours=(0, 1), true=2)
def scale_upside_down(x, n):
    return x + laplace(0.5, n)


@broken(fault="noise cut off at 4", claim=1, neighbours=(0, 1), true=np.inf)
def truncated_noise(x, n):
    return x + np.clip(laplace(1, n), -4, 4)


@broken(fault="two answers for the price of one", claim=1, neighbours=(0, 1), true=2)
def two_answers_for_one_price(x, n):
    return x + laplace(1, (n, 2))


@broken(fault="noise seeded by the data", claim=1, neighbours=([1, 2], [1, 3]), true=np.inf)
def noise_seeded_by_the_data(data, n):
    return [float(np.random.default_rng(sum(data)).laplace(sum(data), 100))] * n


@broken(fault="the noisy answer is capped by the true maximum", claim=1, neighbours=(8, 9), true=np.inf)
def capped_by_the_truth(x, n):
    return np.minimum(x + laplace(1, n), x + 1)


@broken(fault="classic Gaussian calibration at epsilon = 8", claim=dp.ApproxDP(8, 0.2), neighbours=(0, 1))
def classic_gaussian_at_eight(x, n):
    sigma = np.sqrt(2 * np.log(1.25 / 0.2)) / 8
    return np.round((x + rng.normal(0, sigma, n)) * 1024).astype(int)


# Keys, shapes, order
@broken(
    fault="the threshold for keys says >= where > was charged",
    claim=dp.ApproxDP(1, 0.00494),
    neighbours=(0, 1),
)
def threshold_off_by_one(people, n):
    noisy = people + laplace(1, n)
    return np.where((people > 0) & (noisy >= 5), noisy, -1)


@broken(fault="only groups that occur are published", claim=1, neighbours=(["a", "b"], ["a"]), true=np.inf)
def groups_from_the_data(data, n):
    return [{key: data.count(key) + int(noise) for key in sorted(set(data))} for noise in laplace(1, n)]


@broken(
    fault="rows come sorted by their true counts", claim=2, neighbours=({"a": 1, "b": 2}, {"a": 2, "b": 1})
)
def rows_in_true_order(counts, n):
    order = sorted(counts, key=counts.get)
    return [tuple((key, counts[key] + int(noise)) for key in order) for noise in laplace(1, n)]


@broken(fault="empty data raises", claim=1, neighbours=([], [1]), true=np.inf)
def empty_data_raises(data, n):
    if not data:
        raise ZeroDivisionError
    return 1 + laplace(1, n)


@broken(
    fault="everything is published with probability 0.002", claim=1, neighbours=("ann", "bob"), true=np.inf
)
def everything_with_small_probability(data, n):
    shown = rng.random(n) < 0.002
    return [data if show else "-" for show in shown]


@broken(fault="discrete Gaussian noise sold as pure", claim=1, neighbours=(0, 1), true=np.inf)
def discrete_gaussian_sold_as_pure(x, n):
    return x + discrete_gaussian(1, n)
