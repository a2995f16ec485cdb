"""Randomised response: tell the truth with a known probability, else another value."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidParameter
from discreet.kernel.laws import FiniteLaw, ResponseLaw
from discreet.kernel.losses import PrivacyLoss, Relation, channel, check_relation, randomized_response
from discreet.kernel.mechanisms.inputs import Labels, check_values
from discreet.kernel.mechanisms.mechanism import Case, Frozen, Pair
from discreet.kernel.numerics import (
    Arb,
    Estimate,
    Interval,
    Real,
    ball,
    certified_floor,
    exact,
    exact_confidence,
    exact_epsilon,
    exact_probability,
    mean_limits,
    plain_repr,
    working_precision,
)
from discreet.kernel.randomness import Source, bernoulli, bernoulli_real, fresh_source, uniform_below

# Shares from randomised reports: holders of a value support it with one probability, others with
# another.

BITS = 128


@dataclass(frozen=True)
class Support:
    """A report supports value v with probability `own` from those who hold v, `other` from those who do not.

    Estimate of a share f from c supports in n reports: (c/n - other)/(own - other), unbiased for every f.
    Accuracy: the interval is that of the mean probability of a support, mapped by the same line.
    """

    own: Arb
    other: Arb

    def expected(self, share: Fraction) -> float:
        """Return other + (own - other)·share."""
        with working_precision(BITS):
            return float((self.other + (self.own - self.other) * ball(share)).mid())

    def estimate(self, *, count: int, reports: int, confidence: Fraction) -> Estimate:
        """Return the share of holders behind `count` supports among `reports`."""
        if reports == 0:
            raise InvalidParameter("reports must hold at least one report, got none.", parameter="reports")
        slope = float(self.own - self.other)
        error = math.sqrt(count * (reports - count) / reports**3) / abs(slope)
        limits = mean_limits(successes=count, trials=reports, confidence=confidence)
        ends = sorted(self._invert(Fraction(end)) for end in limits)
        return Estimate(self._invert(Fraction(count, reports)), error, Interval(*ends), float(confidence))

    def _invert(self, supported: Fraction) -> float:
        """Return the share behind a share of supporting reports."""
        with working_precision(BITS):
            return float(((ball(supported) - self.other) / (self.own - self.other)).mid())

    def variance(self, share: Fraction, reports: int) -> float:
        """Return Var of the estimate when this share holds v: own(1-own)f + other(1-other)(1-f) over n·(own-
        other)².

        The people are fixed here; only their coins are random.
        """
        with working_precision(BITS):
            own, other, f = self.own, self.other, ball(share)
            spread = own * (1 - own) * f + other * (1 - other) * (1 - f)
            return float((spread / (reports * (own - other) ** 2)).mid())


@dataclass(frozen=True, init=False, repr=False)
class RandomizedResponse(Frozen):
    """Answer v for a true v with probability θ, every other of the k values with (1 - θ)/(k - 1).

    θ = e^ε/(e^ε + k - 1) by `epsilon`, sampled exactly though irrational; or any rational `truth`.
    Privacy: |ln(θ(k - 1)/(1 - θ))|-DP, tight (Warner, JASA 1965; Kairouz, Oh and Viswanath, JMLR 2016).
    Accuracy: the share of v is estimated without bias from the share y of answers v: (y - q)/(θ - q), q =
    (1-θ)/(k-1).

    >>> RandomizedResponse(truth=0.75).loss.epsilon(delta=0)  # ln 3
    1.0986122886681098
    >>> RandomizedResponse(truth=0.75).estimate([1] * 40 + [0] * 60).value  # 2 · 0.4 - 1/2
    0.3
    """

    epsilon: Fraction | None
    truth: Fraction | float
    values: tuple[Hashable, ...]
    relation: Relation

    def __init__(
        self,
        *,
        epsilon: Real | None = None,
        truth: Real | None = None,
        values: Sequence[Hashable] = (0, 1),
        relation: Relation = "local",
    ) -> None:
        if (epsilon is None) == (truth is None):
            raise InvalidParameter("exactly one of epsilon and truth must be given.", parameter="epsilon")
        self._fix(values=check_values(values), relation=check_relation(relation))
        if truth is not None:
            self._fix(epsilon=None, truth=exact_probability(truth, name="truth"))
        elif epsilon is not None:
            self._fix(epsilon=exact_epsilon(epsilon))
            with working_precision(128):
                self._fix(truth=float(ResponseLaw(len(self.values), epsilon=self.epsilon).own.mid()))

    def __repr__(self) -> str:
        said = "" if tuple(self.values) == (0, 1) else f", values={self.values!r}"
        said += "" if self.relation == "local" else f", relation={self.relation!r}"
        name = "truth" if self.epsilon is None else "epsilon"
        return f"RandomizedResponse({name}={plain_repr(getattr(self, name))}{said})"

    @classmethod
    def linear(cls, epsilon: Real) -> "RandomizedResponse":
        """Return θ = (1+ε)/(2+ε), the first attempt at e^ε/(1+e^ε): its real loss is ln(1+ε) < ε.

        >>> RandomizedResponse.linear(1).truth
        Fraction(2, 3)
        """
        return cls._from_series(1 + exact_epsilon(epsilon))

    @classmethod
    def quadratic(cls, epsilon: Real) -> "RandomizedResponse":
        """Return θ = (1+ε+ε²/2)/(2+ε+ε²/2): its real loss is ln(1+ε+ε²/2) < ε.

        >>> RandomizedResponse.quadratic(1).truth
        Fraction(5, 7)
        """
        e = exact_epsilon(epsilon)
        return cls._from_series(1 + e + e * e / 2)

    @classmethod
    def _from_series(cls, series: Fraction) -> "RandomizedResponse":
        return cls(truth=series / (1 + series))

    @classmethod
    def coin(cls, s: Real) -> "RandomizedResponse":
        """Tell the truth with probability 1 - p, a fair coin with p = min(1, 1/s): loss ln(2s - 1), or 0.

        >>> RandomizedResponse.coin(2).truth
        Fraction(3, 4)
        """
        fair = min(Fraction(1), 1 / _positive(s))
        return cls(truth=1 - fair / 2)

    @cached_property
    def _law(self) -> ResponseLaw:
        """Return the law of one report."""
        truth = self.truth if isinstance(self.truth, Fraction) else None
        return ResponseLaw(len(self.values), self.epsilon, truth)

    @property
    def loss(self) -> PrivacyLoss:
        """Return the exact loss of the channel that is sampled."""
        if self.epsilon is not None:
            return randomized_response(epsilon=self.epsilon, values=len(self.values), relation=self.relation)
        return channel(self.channel(), relation=self.relation)

    def channel(self) -> list[list[Fraction]]:
        """Return the probability of each answer (column) for each true value (row), where all are
        rational."""
        if not isinstance(self.truth, Fraction):
            raise InvalidParameter(
                "truth must be given for a rational channel, got epsilon.", parameter="truth"
            )
        size = len(self.values)
        lie = (1 - self.truth) / (size - 1)
        return [[self.truth if i == j else lie for j in range(size)] for i in range(size)]

    # --- the client ----------------------------------------------------------------------------------------

    def release(self, value: Any) -> Any:
        """Report one of the declared values for a value, a list for a list, an array for an array of people.

        Two bits given as bools alone come back as bools: the type of the input is taken to be public.
        """
        return self.draw(value, fresh_source())

    def draw(self, value: Any, source: Source) -> Any:
        """Release with randomness from `source`."""
        if isinstance(value, np.ndarray):
            answers = self._answer(self._read(value), source)
            return self._labels.table(value.dtype)[answers].reshape(value.shape)
        people = list(value) if isinstance(value, list | tuple) else [value]
        as_bools = self._labels.are_bits and all(isinstance(person, bool | np.bool_) for person in people)
        places = self._answer(self._read(people), source).tolist()
        named = [bool(place) if as_bools else self.values[place] for place in places]
        return named if isinstance(value, list | tuple) else named[0]

    def _answer(self, codes: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        """Return the positions of the answers among the values: a lie goes on to one of the others,
        uniformly."""
        lies = self._lies(source, codes.size)
        if len(self.values) > 2:
            lies *= 1 + uniform_below(source, len(self.values) - 1, codes.size)
        return (codes + lies) % len(self.values)

    def _lies(self, source: Source, size: int) -> NDArray[np.int64]:
        if isinstance(self.truth, Fraction):
            return bernoulli(source, 1 - self.truth, size)
        return bernoulli_real(
            source, lambda bits: certified_floor(lambda: (1 - self._law.own) * 2**bits), size
        )

    @cached_property
    def _labels(self) -> Labels:
        return Labels(self.values)

    def _read(self, values: Any) -> NDArray[np.int64]:
        """Return places among the declared values."""
        if isinstance(values, np.ndarray):
            flat = values.reshape(-1)
            if self._labels.are_bits and flat.dtype.kind in "biu" and ((flat == 0) | (flat == 1)).all():
                return flat.astype(np.int64)
            values = flat.tolist()
        return np.array(self._labels.places(values), dtype=np.int64)

    def sample(self, value: Any, n: int) -> list[Any]:
        """Report n times, as n people who hold the same value."""
        reports: list[Any] = self.release([value] * n)
        return reports

    def law(self, value: Any) -> FiniteLaw:
        """Return the probability of each report."""
        (place,) = self._labels.places([value])
        return self._law.table(self.values, self.values[place])

    def neighbours(self) -> Sequence[Pair]:
        """Return the first value with the second and with the last."""
        first, second, last = self.values[0], self.values[1], self.values[-1]
        return [(first, second)] if len(self.values) == 2 else [(first, second), (first, last)]

    # --- the collector -------------------------------------------------------------------------------------

    @property
    def support(self) -> Support:
        """Return how often a value is reported by those who hold it, and by those who do not."""
        with working_precision(128):
            return Support(own=self._law.own, other=self._law.other)

    def expected(self, share: Real) -> float:
        """Return the expected share of answers v when this share of people holds v: q + (θ - q)·share.

        >>> RandomizedResponse(truth=0.75).expected(0.3)  # 0.3 · 3/4 + 0.7 · 1/4
        0.4
        """
        return self.support.expected(exact_probability(share, name="share"))

    def estimate(self, reports: Any, confidence: Real = 0.95) -> Any:
        """Return the share of ones, or for declared values the share of each: unbiased, with error and
        interval."""
        self._check_informative()
        codes = self._read(_listed(reports))
        counts = np.bincount(codes, minlength=len(self.values)).tolist()
        level = exact_confidence(confidence)
        shares = [
            self.support.estimate(count=counts[code], reports=codes.size, confidence=level)
            for code in range(len(self.values))
        ]
        return shares[1] if self._labels.are_bits else dict(zip(self.values, shares, strict=True))

    def _check_informative(self) -> None:
        if self.epsilon is None and self.truth == Fraction(1, len(self.values)):
            raise InvalidParameter(
                f"truth must differ from 1/{len(self.values)} for an estimate, got {self.truth}. "
                "Every answer is equally likely whatever the truth.",
                parameter="truth",
            )

    def describe(self) -> str:
        """Return one sentence for a receipt."""
        rule = f"epsilon {self.epsilon}" if self.epsilon is not None else f"truth {self.truth}"
        return f"Randomised response with {rule} over {len(self.values)} values ({self.relation})."

    @classmethod
    def examples(cls) -> tuple[Case, ...]:
        """Return cases for the conformance tests."""
        letters = ["a", "b", "c"]
        return (
            Case({"epsilon": 1}, (0, 1)),
            Case({"truth": Fraction(3, 4)}, (0, 1)),
            Case({"epsilon": Fraction(3, 2), "values": letters}, ("a", "c")),
            Case({"truth": Fraction(1, 5), "values": letters}, ("a", "b")),
        )


def _positive(s: Real) -> Fraction:
    value = exact(s, name="s")
    if value <= 0:
        raise InvalidParameter(f"s must be > 0, got {s}.", parameter="s")
    return value


def _listed(reports: Any) -> Any:
    if not isinstance(reports, list | tuple | np.ndarray):
        raise InvalidParameter(
            "reports must be a list or an array of what release returned.", parameter="reports"
        )
    return reports
