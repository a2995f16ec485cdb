"""The sensitivity checker: neighbours whose answers lie further apart than was declared.

    Δf = max ‖f(D) - f(D')‖ over all neighbours D, D' of the declared domain, never over the data at hand

Small domains are searched whole, which is a proof for the sizes searched; larger ones by restarts and hill
climbing, which can only refute. The search is the same in every run.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from discreet.apps.auditing.neighbours import Pair, Relation, edges, tables
from discreet.apps.auditing.report import Verdict
from discreet.errors import InvalidParameter
from discreet.kernel.numerics import Real, exact_positive

Norm: TypeAlias = Literal["l1", "l2", "max"]

MOST_EXHAUSTIVE = 50_000  # pairs
TRIES = 20_000
CLIMB = 40  # attempts to improve one pair before a restart
ROUNDING = 1e-9  # what floating-point arithmetic of the function itself may add


@dataclass(frozen=True)
class SensitivityReport:
    """`lower_bound` is a distance that neighbours do reach: "violated" if it exceeds `declared`."""

    lower_bound: float
    declared: float
    verdict: Verdict
    neighbours: Pair
    answers: tuple[Any, Any]
    exhaustive: bool
    pairs: int

    def __str__(self) -> str:
        how = "all pairs" if self.exhaustive else "a search"
        return (
            f"{self.verdict}: sensitivity {self.declared:.6g} declared, {self.lower_bound:.6g} reached "
            f"between {self.neighbours[0]!r} and {self.neighbours[1]!r} ({how}, {self.pairs} pairs)"
        )


@dataclass(frozen=True)
class Domain:
    """What one record may be: a finite list of values, or bounds of each of its numbers."""

    values: Sequence[Any] = ()
    bounds: Sequence[tuple[Real, Real]] = ()

    @classmethod
    def read(cls, *, values: Iterable[Any] | None, bounds: Any) -> "Domain":
        """Exactly one of `values` and `bounds` (of a number, or one pair for each number of a record)."""
        if (values is None) == (bounds is None):
            raise InvalidParameter("domain must be given by values or by bounds, exactly one of them.")
        if values is not None:
            return cls(values=list(values))
        single = not isinstance(bounds[0], Sequence)
        return cls(bounds=[tuple(bounds)] if single else [tuple(pair) for pair in bounds])

    def draw(self, stream: "Stream") -> Any:
        """A record: often at an edge, else anywhere."""
        if self.values:
            return self.values[stream.below(len(self.values))]
        numbers = [self._number(pair, stream) for pair in self.bounds]
        return numbers[0] if len(numbers) == 1 else tuple(numbers)

    def _number(self, pair: tuple[Real, Real], stream: "Stream") -> float:
        if stream.below(2):
            found = edges(pair)
            return found[stream.below(len(found))]
        lower, upper = float(pair[0]), float(pair[1])
        return lower + (upper - lower) * stream.unit()

    def nudge(self, record: Any, stream: "Stream") -> Any:
        """A record nearby, at a scale drawn from all scales."""
        if self.values:
            return self.draw(stream)
        numbers = [record] if len(self.bounds) == 1 else list(record)
        place = stream.below(len(numbers))
        lower, upper = (float(end) for end in self.bounds[place])
        width = (upper - lower) * 2.0 ** -stream.below(40) * (2 * stream.unit() - 1)
        numbers[place] = min(max(numbers[place] + width, lower), upper)
        return numbers[0] if len(self.bounds) == 1 else tuple(numbers)


class Stream:
    """A fixed stream of numbers (splitmix64): a search, not noise, and the same in every run."""

    def __init__(self) -> None:
        self._state = 0

    def word(self) -> int:
        """64 bits."""
        self._state = (self._state + 0x9E3779B97F4A7C15) % 2**64
        mixed = (self._state ^ self._state >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB % 2**64
        return mixed ^ mixed >> 31

    def below(self, bound: int) -> int:
        """A whole number below `bound`."""
        return self.word() % bound

    def unit(self) -> float:
        """A number in [0, 1)."""
        return self.word() / 2.0**64


def check_sensitivity(
    function: Callable[[list[Any]], Any],
    *,
    sensitivity: Real | Callable[[list[Any]], Real],
    values: Iterable[Any] | None = None,
    bounds: Any = None,
    relation: Relation = "add/remove",
    norm: Norm = "l1",
    sizes: Sequence[int] = (0, 1, 2, 3),
    tries: int = TRIES,
) -> SensitivityReport:
    """Search for neighbours that exceed a declared sensitivity.

    function: of a list of records, to a number or a list of numbers (scores of all candidates: norm="max").
    sensitivity: a number; or a function of the data, as in noise scaled by the data's own maximum, of which
    the smaller of the two neighbours' counts. A function that is undefined (raises, NaN) on one neighbour
    has no sensitivity.

    >>> check_sensitivity(sum, values=[0, 7], sensitivity=1).lower_bound
    7.0
    """
    domain = Domain.read(values=values, bounds=bounds)
    measure = _Measure(function, sensitivity, norm)
    small = bool(domain.values) and _count(len(domain.values), sizes) <= MOST_EXHAUSTIVE
    if small:
        pairs: Iterator[Pair] = iter(tables(domain.values, sizes=sizes, relation=relation))
        for pair in pairs:
            measure.try_pair(pair)
    else:
        _climb(measure, domain, relation, sizes, tries)
    return measure.report(exhaustive=small)


def _count(values: int, sizes: Sequence[int]) -> int:
    """About how many pairs of tables there are."""
    return sum(math.comb(values + size - 1, size) * values * max(size, 1) for size in sizes)


class _Measure:
    """Distances of pairs, and the worst so far: by how often it exceeds what was declared for it."""

    def __init__(self, function: Callable[[list[Any]], Any], sensitivity: Any, norm: Norm) -> None:
        self.function, self.norm, self.sensitivity = function, norm, sensitivity
        self.fixed = None if callable(sensitivity) else float(exact_positive(sensitivity, name="sensitivity"))
        self.worst: tuple[float, float, float, Pair, tuple[Any, Any]] | None = None
        self.pairs = 0

    def try_pair(self, pair: Pair) -> float:
        """The distance of a pair over the sensitivity declared for it."""
        self.pairs += 1
        answers = (_answer(self.function, pair[0]), _answer(self.function, pair[1]))
        distance = _distance(answers[0], answers[1], self.norm)
        declared = min(self._declared(pair[0]), self._declared(pair[1])) if self.fixed is None else self.fixed
        ratio = distance / declared if declared > 0 else (math.inf if distance > 0 else 0.0)
        if self.worst is None or ratio > self.worst[0]:
            self.worst = (ratio, distance, declared, pair, answers)
        return ratio

    def _declared(self, data: list[Any]) -> float:
        """What the data's own scale is; none (0) where it is undefined."""
        found = _answer(self.sensitivity, data)
        return float(found) if isinstance(found, int | float) and math.isfinite(found) else 0.0

    def report(self, *, exhaustive: bool) -> SensitivityReport:
        """The worst pair, judged."""
        if self.worst is None:
            raise InvalidParameter("sizes must allow at least one pair of neighbours.", parameter="sizes")
        ratio, distance, declared, pair, answers = self.worst
        verdict: Verdict = "violated" if ratio > 1 + ROUNDING else "not refuted"
        return SensitivityReport(distance, declared, verdict, pair, answers, exhaustive, self.pairs)


def _answer(function: Callable[[list[Any]], Any], data: list[Any]) -> Any:
    try:
        return function(list(data))
    except Exception as raised:  # noqa: BLE001  undefined is an answer, whatever the reason
        return f"raises {type(raised).__name__}"


def _distance(first: Any, second: Any, norm: Norm) -> float:
    """The norm of the difference; infinite where one side alone is defined, 0 where neither is."""
    left, right = _numbers(first), _numbers(second)
    if left is None or right is None:
        return 0.0 if left is right else math.inf
    if len(left) != len(right):
        return math.inf
    gaps = [abs(a - b) for a, b in zip(left, right, strict=True)]
    if norm == "l2":
        return math.hypot(*gaps)
    return math.fsum(gaps) if norm == "l1" else max(gaps, default=0.0)


def _numbers(answer: Any) -> list[float] | None:
    try:
        found = [float(x) for x in answer] if hasattr(answer, "__iter__") else [float(answer)]
    except (TypeError, ValueError, OverflowError):
        return None
    return found if all(map(math.isfinite, found)) else None


def _climb(measure: _Measure, domain: Domain, relation: Relation, sizes: Sequence[int], tries: int) -> None:
    """Random pairs, each improved by small changes for as long as that helps."""
    stream = Stream()
    while measure.pairs < tries:
        table = [domain.draw(stream) for _ in range(sizes[stream.below(len(sizes))])]
        record, place = domain.draw(stream), stream.below(max(len(table), 1))
        if relation == "replace" and not table:
            if set(sizes) == {0}:
                return
            continue
        best, failures = measure.try_pair(_pair(table, record, place, relation)), 0
        while failures < CLIMB and measure.pairs < tries and math.isfinite(best):
            other, changed = list(table), record
            if table and stream.below(2):
                at = stream.below(len(table))
                other[at] = domain.nudge(other[at], stream)
            else:
                changed = domain.nudge(record, stream)
            ratio = measure.try_pair(_pair(other, changed, place, relation))
            if ratio > best:
                best, failures, table, record = ratio, 0, other, changed
            else:
                failures += 1


def _pair(table: list[Any], record: Any, place: int, relation: Relation) -> Pair:
    if relation == "add/remove":
        return table, [*table, record]
    return table, [*table[:place], record, *table[place + 1 :]]
