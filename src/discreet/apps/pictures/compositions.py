"""What many releases cost together, by every rule: epsilon against their number."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from discreet.apps.pictures.picture import Picture
from discreet.apps.pictures.theme import axis, scientific
from discreet.apps.pictures.traces import line
from discreet.errors import InvalidParameter
from discreet.kernel.losses import PrivacyLoss, compose_advanced
from discreet.kernel.numerics import Real, exact_delta, round_up

Losses = Any  # one loss (or mechanism), to be repeated, or a sequence of them: a plan in its order
POINTS = 24
LARGEST = 5  # beyond, e^ε makes the theorem of advanced composition say nothing


def composition(losses: Losses, *, delta: Real = 1e-6, times: int = 100) -> Picture:
    """ε at this δ after the first k releases: by adding up, by advanced composition, and exactly.

    One loss is repeated up to `times` times; a sequence is taken as the plan it is. Every ε is rounded up.
    """
    plan = _plan(losses, times)
    failure = exact_delta(delta)
    sizes = np.unique(np.round(np.geomspace(1, len(plan), POINTS)).astype(int)).tolist()
    rules: dict[str, Callable[[Counter[PrivacyLoss]], float]] = {
        "basic: sums of ε and δ": lambda used: _basic(used, failure),
        "advanced composition": lambda used: _advanced(used, failure),
        "exact: composed laws": lambda used: reduce(add, _repeated(used)).epsilon(delta=failure),
    }
    firsts = [Counter(plan[:size]) for size in sizes]
    return Picture(
        title="What many releases cost together",
        subtitle=f"ε at δ = {scientific(float(failure))}, after the first k releases",
        traces=[
            line(sizes, [rule(used) for used in firsts], name=name, index=index)
            for index, (name, rule) in enumerate(rules.items())
        ],
        axes={"xaxis": axis("number of releases k"), "yaxis": axis("ε", rangemode="tozero")},
    )


def _repeated(used: Counter[PrivacyLoss]) -> list[PrivacyLoss]:
    return [count * loss for loss, count in used.items()]


def _basic(used: Counter[PrivacyLoss], failure: Fraction) -> float:
    each = failure / used.total()
    return sum(count * loss.epsilon(delta=each) for loss, count in used.items())


def _advanced(used: Counter[PrivacyLoss], failure: Fraction) -> float:
    """The theorem for the largest ε among them: all of δ is slack for pure releases, else half of it."""
    pure = max(loss.epsilon(delta=0) for loss in used)
    if failure == 0:
        return math.nan
    if math.isfinite(pure):
        each, slack = Fraction(0), failure
    else:
        each, slack = failure / (2 * used.total()), failure / 2
    largest = max(loss.epsilon(delta=each) for loss in used)
    if not 0 < largest <= LARGEST:
        return math.nan
    try:
        together = compose_advanced(epsilon=largest, delta=each, times=used.total(), slack=slack)
    except InvalidParameter:  # beyond every sensible price
        return math.nan
    return round_up(together.epsilon)


def _plan(losses: Losses, times: int) -> list[PrivacyLoss]:
    given = list(losses) if isinstance(losses, Sequence) else [losses] * times
    plan = [getattr(item, "loss", item) for item in given]
    if not plan or not all(isinstance(loss, PrivacyLoss) for loss in plan):
        raise InvalidParameter(
            "losses must be a loss, or a list of them that is not empty.", parameter="losses"
        )
    return plan
