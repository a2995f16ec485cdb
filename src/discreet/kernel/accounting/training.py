"""Training runs: DP-SGD with clipped gradients and Gaussian noise, by how its batches are really drawn."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from discreet.errors import InvalidParameter
from discreet.kernel.accounting.calibrate import calibrate
from discreet.kernel.losses import ApproxDP, PrivacyLoss, Relation, gaussian
from discreet.kernel.numerics import Real, exact_delta, exact_positive, exact_whole

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
