"""Counted keys: one draw decides whether a group label is shown, and is the count shown with it."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from discreet.errors import InvalidParameter
from discreet.kernel.laws import FiniteLaw, TruncatedLaplaceLaw, join_laws, show
from discreet.kernel.losses import PrivacyLoss, Relation, approximate, check_relation
from discreet.kernel.mechanisms.key_selection import MOST_PAIRS, Key, check_count, check_delta, keys_moved
from discreet.kernel.mechanisms.mechanism import Case, Frozen, Pair
from discreet.kernel.numerics import (
    Arb,
    Interval,
    Real,
    ball,
    certified_floor,
    exact_confidence,
    exact_epsilon,
    exact_whole,
    least_whole,
    round_down,
    round_up,
    short_up,
    working_precision,
)
from discreet.kernel.randomness import Source, fresh_source

_BITS = 256


@dataclass(frozen=True, init=False, repr=False)
class CountedKeys(Frozen):
    """Give every key's count noise, and show the keys whose noisy count exceeds what the noise can be.

    Y = n + X, Pr[X = x] ∝ exp(-|x|/scale) for |x| <= threshold; the key and Y are shown if Y > threshold.

    One person holds up to `max_groups` keys and adds at most `sensitivity` to the count of each; a replaced
    one leaves so many keys and enters as many others. Only keys with a count above 0 can ever be shown.

    Privacy: (ε, δ)-DP: each key is decided and counted with equal parts of both, and δ pays for the noise
    at its upper end, Pr[X > threshold - sensitivity] (docs/theory/private-keys.md).
    Accuracy: `error` holds for every draw, `interval` for the counts that are shown, given that they are.

    >>> counted = CountedKeys(epsilon=1, delta=1e-6)
    >>> counted.scale, counted.threshold, sorted(counted.release({"Ottawa": 10_000, "nowhere": 0}))
    (Fraction(1, 1), 14, ['Ottawa'])
    """

    epsilon: Fraction
    delta: Fraction
    sensitivity: int
    max_groups: int
    relation: Relation

    def __init__(
        self,
        *,
        epsilon: Real,
        delta: Real,
        sensitivity: Real = 1,
        max_groups: Real = 1,
        relation: Relation = "add/remove",
    ) -> None:
        self._fix(
            epsilon=exact_epsilon(epsilon),
            delta=check_delta(delta),
            sensitivity=exact_whole(sensitivity, name="sensitivity", least=1),
            max_groups=exact_whole(max_groups, name="max_groups", least=1),
            relation=check_relation(relation),
        )

    @property
    def scale(self) -> Fraction:
        """Return the scale of the noise before it is truncated."""
        return self._moved * self.sensitivity / self.epsilon

    @cached_property
    def threshold(self) -> int:
        """Return the least that noise must be allowed to reach: noisy counts above it are shown.

        The least k >= sensitivity with Pr[X > k - sensitivity] = q^(k+1-s)(1 - q^s)/(1 + q - 2q^(k+1)) <= δ′,
        which is q^(k+1) <= δ′(1 + q)/(q^-s - 1 + 2δ′).
        """

        def least() -> Arb:
            price, part = ball(self.epsilon / self._moved), ball(self.delta / self._moved)
            fall = (-price / self.sensitivity).exp()
            return ball(self.scale) * ((price.expm1() + 2 * part) / (part * (1 + fall))).log()

        return max(self.sensitivity, certified_floor(least))

    @cached_property
    def loss(self) -> PrivacyLoss:
        """Return the loss of all keys of one person together, by the law that is drawn."""
        return self._moved * self.noise.loss(Fraction(self.sensitivity), self.relation)

    @cached_property
    def guarantee(self) -> PrivacyLoss:
        """Return ε and δ alone, without the curve between: all that an account needs that adds these up.

        Each key has equal parts; that of δ is at most the noise that a move takes beyond its upper end.
        """
        with working_precision(_BITS):
            exposed = round_up(self.noise.tail(self.threshold - self.sensitivity + 1))
        part = min(self.delta / self._moved, Fraction(short_up(Fraction(exposed))))
        return self._moved * approximate(
            epsilon=self.epsilon / self._moved, delta=part, relation=self.relation
        )

    @property
    def _moved(self) -> int:
        return keys_moved(self.max_groups, self.relation)

    @cached_property
    def noise(self) -> TruncatedLaplaceLaw:
        """Return the law of the noise."""
        return TruncatedLaplaceLaw(self.scale, most=self.threshold)

    @property
    def always(self) -> int:
        """Return the least count whose key is surely shown."""
        return 2 * self.threshold + 1

    def probability(self, count: Real) -> float:
        """Return the probability that a key of this count is shown, to the nearest float."""
        with working_precision(_BITS):
            return float(self._shown(exact_whole(count, name="count")).mid())

    def release(self, counts: Mapping[Key, int]) -> dict[Key, int]:
        """Release the keys that are shown, with their noisy counts. Sort them by something public."""
        noisy = self.draw([check_count(n, name="counts") for n in counts.values()], fresh_source())
        return {key: number for key, number in zip(counts, noisy, strict=True) if number is not None}

    def draw(self, counts: Any, source: Source) -> Any:
        """Return the noisy counts, None where a key is not shown: a list for several keys."""
        if not isinstance(counts, Sequence):
            return self.draw([counts], source)[0]
        noise = self.noise.draw(source, len(counts))
        noisy = [int(count) + int(extra) for count, extra in zip(counts, noise, strict=True)]
        return [number if number > self.threshold else None for number in noisy]

    def sample(self, counts: Any, n: int) -> list[Any]:
        """Release n times, at once: every key has noise of its own."""
        keys = counts if isinstance(counts, Sequence) else [counts]
        found = self.release({(i, j): count for i in range(n) for j, count in enumerate(keys)})
        rows = [tuple(found.get((i, j)) for j in range(len(keys))) for i in range(n)]
        return rows if isinstance(counts, Sequence) else [row[0] for row in rows]

    def law(self, counts: Any) -> FiniteLaw:
        """Return the probability of each noisy count that is shown, and of None."""
        if isinstance(counts, Sequence):
            return join_laws(*map(self.law, counts))
        with working_precision(_BITS):
            values = range(max(counts - self.threshold, self.threshold + 1), counts + self.threshold + 1)
            law: dict[Hashable, Arb] = {value: self.noise.mass(value - counts) for value in values}
            law[None] = 1 - self._shown(counts)
            return law

    def neighbours(self) -> Sequence[Pair]:
        """Return counts of one key, which one person moves by the sensitivity."""
        return [(n, n + self.sensitivity) for n in range(min(self.always + 1, MOST_PAIRS))]

    def error(self, *, confidence: Real = 0.95, dimension: Real = 1) -> float:
        """Return how far from the truth any of `dimension` draws may be, whether shown or not."""
        level = exact_confidence(confidence, bits=100)
        return float(self.noise.reach(level, exact_whole(dimension, name="dimension", least=1)))

    def interval(self, value: int, *, confidence: Real = 0.95) -> Interval:
        """Return where the count of a key is, given that it is shown with this value."""
        exact_whole(value, name="value")
        low, high = self.between(value, exact_confidence(confidence, bits=100))
        return Interval(round_down(Fraction(low)), round_up(Fraction(high)))

    def between(self, value: int, confidence: Fraction) -> tuple[int, int]:
        """Return the ends of `interval`, in whole numbers.

        A count n accepts the shown values next to it, which are the likeliest, until those beyond have
        probability <= 1 - confidence given that n is shown. The ends are the least and the largest n that
        accept the value: far above the threshold those within `error`, near it everything that may have
        been lifted over it (docs/theory/private-keys.md).
        """
        if value <= self.threshold:
            raise InvalidParameter(
                f"value must exceed the threshold {self.threshold}, as all that is shown does.",
                parameter="value",
            )
        reach = int(self.error(confidence=confidence))
        if value - reach > self.always + 1:  # whatever may have given it was sure to be shown
            return value - reach, value + reach
        return _between(self, value, confidence)

    def _shown(self, count: int) -> Arb:
        return self.noise.tail(self.threshold + 1 - count)

    def _accepts(self, count: int, value: int, confidence: Fraction) -> bool:
        """Return whether the shown values at this value's distance and beyond are likely enough together."""
        distance = abs(value - count)
        with working_precision(_BITS):
            shown = self._shown(count)
            above = self.noise.tail(max(distance, self.threshold + 1 - count))
            below = (shown - self.noise.tail(1 - distance)).max(ball(0))
            return not above + below <= ball(1 - confidence) * shown

    def describe(self) -> str:
        """Return one sentence for a receipt."""
        keys = "one key" if self.max_groups == 1 else f"up to {self.max_groups} keys"
        return (
            f"discrete Laplace noise of scale {show(self.scale)}, cut off at {self.threshold:,}, for {keys} "
            f"per person, each moved by at most {self.sensitivity} ({self.relation}). A key is shown if its "
            f"noisy number exceeds {self.threshold:,}, for a delta of {show(self.delta)}"
        )

    @classmethod
    def examples(cls) -> tuple[Case, ...]:
        """Return cases for the conformance tests."""
        two = {"epsilon": 2, "delta": Fraction(1, 5)}
        return (
            Case({"epsilon": 1, "delta": Fraction(1, 10)}, ((3,), (2,))),
            Case({"epsilon": Fraction(3, 2), "delta": Fraction(1, 20), "sensitivity": 3}, ((6,), (3,))),
            Case({**two, "max_groups": 2}, ((3, 1), (2, 0))),
            Case({**two, "relation": "replace"}, ((3, 1), (2, 2))),
        )


@lru_cache(maxsize=4096)
def _between(counted: CountedKeys, value: int, confidence: Fraction) -> tuple[int, int]:
    lowest, highest = max(1, value - counted.threshold), value + counted.threshold
    low = least_whole(
        lambda count: counted._accepts(count, value, confidence), failing=lowest - 1, passing=value
    )
    above = least_whole(
        lambda count: not counted._accepts(count, value, confidence), failing=value, passing=highest + 1
    )
    return low, above - 1
