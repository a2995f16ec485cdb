"""Calibration: the least noise that keeps a target, over any mix of mechanisms.

Tested by: tests/accounting/test_calibrate.py, tests/accounting/test_training.py
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from discreet.errors import InvalidParameter
from discreet.kernel.losses import ApproxDP, Notion, PrivacyLoss, Relation, gaussian
from discreet.kernel.numerics import Real, exact_delta, exact_positive, exact_whole, least_passing, stated

TOLERANCE = Fraction(1, 2**30)
CLOSE = Fraction(1, 2**22)  # the same for an ε that is known by an interval
NEAR = Fraction(21, 20)  # ends as near as this need costs as good as can be had
CLOSED = 1e-12  # of ε: ends as near as this have a closed form
WIDTHS = (1e-3, 3e-5)  # of ε: as little as a question needs, and where that leaves it open


def keeps(loss: PrivacyLoss, target: Notion) -> bool:
    """Return whether the loss, by its proved upper ends, is within the target.

    >>> from discreet.kernel.losses import GDP, gaussian
    >>> keeps(gaussian(sigma=2), GDP(0.5)), keeps(gaussian(sigma=1.99), GDP(0.5))
    (True, False)
    """
    if loss.relation != target.relation:
        raise InvalidParameter(
            f"loss and target must share one relation, got {loss.relation} and {target.relation}.",
            parameter="relation",
        )
    for width in WIDTHS:  # ends that are as near as it takes
        found = target.ends_of(loss, width=width)
        if found.upper < math.inf and stated(found.upper) <= target.value:
            return True
        if found.lower > target.value:
            return False
    return target.is_kept(loss)


def calibrate(plan: Callable[[Fraction], PrivacyLoss], target: Notion) -> Fraction:
    """Return the least noise x whose plan keeps the target; more noise must never cost more.

    To one part in 10⁹, or in 10⁴ where the target is an ε that is known by an interval alone.

    Privacy: the answer was itself tested against the target, by proved upper ends.

    >>> from discreet.kernel.losses import ApproxDP, gaussian, laplace
    >>> sigma = calibrate(lambda x: 10 * gaussian(sigma=x) + laplace(scale=x), ApproxDP(1, 1e-6))
    >>> (10 * gaussian(sigma=sigma) + laplace(scale=sigma)).epsilon(delta=1e-6) <= 1
    True
    """
    high = least_passing(lambda noise: keeps(plan(noise), target), tolerance=Fraction(1))
    low = high / 2
    ends = target.ends_of(plan(high), width=WIDTHS[0])
    tolerance = TOLERANCE if ends.upper - ends.lower <= ends.upper * CLOSED else CLOSE
    while high > low * (1 + tolerance):
        width = high - low
        for side in (1, -1, 0):  # above where it should be, below it; the middle, if that was of no use
            if side or high - low > width / 4:
                noise = _guess(plan, target, (low, high), side)
                low, high = (low, noise) if keeps(plan(noise), target) else (noise, high)
    return high


def _guess(
    plan: Callable[[Fraction], PrivacyLoss], target: Notion, ends: tuple[Fraction, Fraction], side: int
) -> Fraction:
    """Return a place close to where the cost, as a power of the noise, meets the target; or the middle."""
    low, high = ends
    width = WIDTHS[high < low * NEAR]
    first, second = (target.ends_of(plan(noise), width=width).upper / float(target.value) for noise in ends)
    if side == 0 or not 0 < second < first < math.inf:
        return (low + high) / 2
    share = math.log(max(first, 1.0)) / math.log(first / second)
    place = float(low) * float(high / low) ** share + side * float(high - low) / 64
    digits = 12 - math.frexp(float(high - low))[1]
    rounded = Fraction(round(place * 2.0**digits)) / Fraction(2) ** digits
    return rounded if low < rounded < high else (low + high) / 2


# Training runs: DP-SGD with clipped gradients and Gaussian noise, by how its batches are really drawn.

Sampling: TypeAlias = Literal["poisson", "fixed", "shuffled"]
SAMPLINGS: dict[Sampling, str] = {
    "poisson": "on average, each example by itself",
    "fixed": "drawn without replacement",
    "shuffled": "in shuffled order",
}


@dataclass(frozen=True)
class Training:
    """A training run: its noise, and what it costs. `training` makes one.

    Privacy: the loss of what is run, provided that each example's gradient is clipped to norm 1 and N(0, σ²)
    is added to each coordinate of a batch's sum. Parameters chosen by looking at other runs cost those too.
    """

    examples: int
    batch: int
    steps: int
    sigma: Fraction
    delta: Fraction
    sampling: Sampling
    per_person: int

    @property
    def rate(self) -> Fraction:
        """The probability that an example is in a batch."""
        return Fraction(self.batch, self.examples)

    @property
    def relation(self) -> Relation:
        """What neighbours are: add/remove for Poisson batches, replace where batches are of one size."""
        return "add/remove" if self.sampling == "poisson" else "replace"

    @property
    def loss(self) -> PrivacyLoss:
        """The loss of the whole run, for one person's examples."""
        return _loss(self, self.sigma)

    @property
    def epsilon(self) -> float:
        """The least ε that is known to hold at the run's delta: never below the truth."""
        return self.loss.epsilon(delta=self.delta)

    def describe(self) -> str:
        """Say what is run and what it costs."""
        who = "example" if self.per_person == 1 else f"person with up to {self.per_person} examples"
        return (
            f"{self.steps} steps of {self.batch} from {self.examples} examples, {SAMPLINGS[self.sampling]}; "
            f"noise {float(self.sigma):.6g} times the clip; epsilon {self.epsilon:.6g} at delta "
            f"{float(self.delta):g} for each {who}, {self.relation}."
        )


def training(
    *,
    examples: int,
    batch: int,
    delta: Real,
    epochs: Real | None = None,
    steps: int | None = None,
    sigma: Real | None = None,
    epsilon: Real | None = None,
    sampling: Sampling = "poisson",
    per_person: int = 1,
) -> Training:
    """Account for a training run with DP-SGD; given epsilon in place of sigma, find the least noise.

    Give epochs or steps, and sigma or epsilon. `sigma` is the noise multiplier: the deviation of the noise
    on a batch's sum of gradients, in units of the clipping norm. `sampling` is how batches are really drawn:
    "poisson", each example by itself with probability batch/examples; "fixed", a batch of one size drawn anew
    for each step; or "shuffled", each example once an epoch, as plain data loaders do, which is charged
    without any gain from sampling.

    >>> run = training(examples=60_000, batch=256, epochs=60, sigma=1.1, delta=1e-5)
    >>> run.steps, round(run.epsilon, 3)
    (14063, 2.382)
    >>> float(round(training(examples=60_000, batch=256, epochs=60, epsilon=2, delta=1e-5).sigma, 3))
    1.224
    """
    people, size = exact_whole(examples, name="examples", least=1), exact_whole(batch, name="batch", least=1)
    if size > people:
        raise InvalidParameter(f"batch must be at most examples, {people}, got {size}.", parameter="batch")
    if sampling not in SAMPLINGS:
        raise InvalidParameter(
            f"sampling must be one of {', '.join(SAMPLINGS)}, got {str(sampling)[:60]}.", parameter="sampling"
        )
    if (sigma is None) == (epsilon is None):
        raise InvalidParameter("exactly one of sigma and epsilon must be given.", parameter="sigma")
    run = Training(
        examples=people,
        batch=size,
        steps=_steps(people, size, epochs, steps, sampling),
        sigma=Fraction(1) if sigma is None else exact_positive(sigma, name="sigma"),
        delta=exact_delta(delta),
        sampling=sampling,
        per_person=exact_whole(per_person, name="per_person", least=1),
    )
    if run.delta == 0:
        raise InvalidParameter("delta must be > 0 for Gaussian noise, got 0.", parameter="delta")
    if epsilon is None:
        return run
    target = ApproxDP(epsilon, delta, run.relation)
    found = calibrate(lambda noise: _loss(run, noise), target)
    return Training(**{**run.__dict__, "sigma": _short(found)})


def _steps(examples: int, batch: int, epochs: Real | None, steps: int | None, sampling: Sampling) -> int:
    if (epochs is None) == (steps is None):
        raise InvalidParameter("exactly one of epochs and steps must be given.", parameter="epochs")
    if steps is not None:
        return exact_whole(steps, name="steps", least=1)
    assert epochs is not None
    wanted = exact_positive(epochs, name="epochs")
    if sampling == "shuffled":
        return math.ceil(wanted) * (examples // batch)
    return math.ceil(wanted * examples / batch)  # a step that is begun is a step


def _loss(run: Training, sigma: Fraction) -> PrivacyLoss:
    if run.sampling == "poisson":
        one = gaussian(sigma=sigma).sampled(run.rate)
        return (run.steps * one).for_group(run.per_person)
    one = gaussian(
        sigma=sigma, sensitivity=2, relation="replace"
    )  # a replaced gradient moves a sum by up to 2
    if run.sampling == "fixed":
        return (run.steps * one.drawn(batch=run.batch, of=run.examples)).for_group(run.per_person)
    # Each example is in one batch an epoch, and batches are disjoint: an epoch costs one release
    # (docs/theory/parallel.md). A loader that drops small batches has the most epochs for its steps.
    epochs = math.ceil(Fraction(run.steps, run.examples // run.batch))
    return (epochs * one).for_group(run.per_person)


def _short(sigma: Fraction) -> Fraction:
    """Return the noise rounded up to nine digits, so that it can be copied."""
    digits = 9 - math.ceil(math.log10(sigma))
    return Fraction(math.ceil(sigma * Fraction(10) ** digits)) / Fraction(10) ** digits
