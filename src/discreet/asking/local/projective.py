"""One of many public values in a few bytes: a report names a linear hash and a noisy value of it.

The reports are points of a projective space over F_q, the values are hyperplanes in it: projective geometry
response (Feldman, Nelson, Nguyen and Talwar, ICML 2022). The hyperplanes that are used all miss one point,
which would say nothing and is left out; then a report is a hash and a hash value, and can be drawn as such.
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.asking.local.choice import Choice, best_size
from discreet.asking.local.domain import Domain
from discreet.asking.local.field import Field, is_supported
from discreet.asking.local.frequency import Frequencies
from discreet.asking.local.report import read_field
from discreet.asking.local.sources import Groups
from discreet.errors import InvalidParameter
from discreet.kernel.numerics import Real, exact_whole
from discreet.kernel.randomness import Source, uniform_below

MOST_REPORTS = 1 << 26  # different reports: the collector keeps a count for each
ALIKE = Fraction(101, 100)  # variances within 1 % of the least count as equal
MOST_HELD = 64  # values in a report of subset selection: some hundred bytes

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
Number = TypeVar("Number", np.int64, np.float64)


@dataclass(frozen=True, init=False)
class ProjectiveChoice(Frequencies):
    """Write the place of a value as m digits d of F_q. Draw a direction z of F_q^m evenly (its first digit
    that is not 0 is 1), and report z with ⟨d, z⟩ with probability e^ε/(e^ε + q - 1), else with another digit.

    Privacy: ε-DP for each report: z does not depend on the value, and the digit is randomised response.
    Accuracy: two values share ⟨d, z⟩ for (q^(m-1) - 1)/(q^m - 1) of the directions, all pairs alike: for
    k = q^m that is subset selection's variance with size k/q, in log2 k + log2 q/(q-1) bits.

    >>> protocol = ProjectiveChoice(domain=Domain.of(domain=10**6), epsilon=1, field=4)
    >>> protocol.digits, protocol.reports, float(round(protocol.variance, 3))
    (10, 1398100, 3.692)
    """

    protocol: ClassVar[str] = "projective"

    field: int
    digits: int

    def __init__(
        self,
        *,
        values: Sequence[Hashable] | None = None,
        domain: Domain | None = None,
        epsilon: Real,
        field: int,
    ) -> None:
        super().__init__(domain=domain or Domain.of(values=values), epsilon=epsilon)
        order = exact_whole(field, name="field", least=2)
        if not is_supported(order):
            raise InvalidParameter(
                f"field must be a prime, or a prime power up to 256, got {order}.", parameter="field"
            )
        object.__setattr__(self, "field", order)
        object.__setattr__(self, "digits", count_digits(self.domain.size, order))
        if self.reports > MOST_REPORTS:
            raise InvalidParameter(
                f"field must leave at most {MOST_REPORTS} reports, got {order}. Take a smaller one.",
                parameter="field",
            )

    @property
    def directions(self) -> int:
        """How many linear hashes there are: 1 + q + … + q^(m-1)."""
        return sum(self.field**i for i in range(self.digits))

    @property
    def reports(self) -> int:
        """How many different reports there are."""
        return self.field * self.directions

    @property
    def odds(self) -> Fraction:
        """q - 1."""
        return Fraction(self.field - 1)

    @property
    def overlap(self) -> Fraction:
        """The share of directions in which another value has the same hash."""
        return Fraction(self.field ** (self.digits - 1) - 1, self.field**self.digits - 1)

    @property
    def overlap_outside(self) -> Fraction:
        """Elsewhere the other value has one of the q - 1 other digits."""
        return (1 - self.overlap) / (self.field - 1)

    @property
    def bits(self) -> float:
        """log2 of the number of reports."""
        return math.log2(self.reports)

    def channel(self) -> list[list[Fraction]]:
        """Return the exact probability of each report for each value."""
        inside = self.own / self.directions
        outside = (1 - self.own) / (self.field - 1) / self.directions
        z = np.arange(self.directions)
        rows = []
        for code in range(self.domain.size):
            row = [outside] * self.reports
            for report in (z * self.field + self._hash(np.full(z.size, code), z)).tolist():
                row[report] = inside
            rows.append(row)
        return rows

    # --- the client ----------------------------------------------------------------------------------------

    @cached_property
    def _field(self) -> Field:
        return Field(self.field)

    def _draw(self, codes: Counts, source: Source) -> Counts:
        """Words in order: the direction, whether to tell the truth, and if not which digit instead."""
        z = uniform_below(source, self.directions, codes.size)
        lying = np.flatnonzero(~self._supports_truth(source, codes.size))
        digit = self._hash(codes, z)
        away = 1 + uniform_below(source, self.field - 1, lying.size)
        digit[lying] = (digit[lying] + away) % self.field
        drawn: Counts = z * self.field + digit
        return drawn

    def _hash(self, codes: Counts, z: Counts) -> Counts:
        """⟨d, z⟩. Directions are numbered from those with the most zeros before their 1: the one with its 1
        at place i and digits a after it, lowest place first, has the number (q^(m-1-i) - 1)/(q - 1) + Σ a·qʲ.
        """
        q, last = self.field, self.digits - 1
        powers = q ** np.arange(self.digits, dtype=np.int64)
        starts = (powers - 1) // (q - 1)  # the first number with 0, 1, … digits after the 1
        free = np.searchsorted(starts, z, side="right") - 1
        rest = z - starts[free]
        high, digit = np.divmod(codes // powers[last - free], q)
        for i in range(last):
            digit = self._add_product(digit, high, rest)
            if i + 1 < last:
                high, rest = high // q, rest // q
        return digit

    def _add_product(self, digit: Counts, high: Counts, rest: Counts) -> Counts:
        q = self.field
        return self._field.add(digit, self._field.multiply(high % q, rest % q))

    def _name(self, drawn: Counts) -> Counts:
        return drawn

    # --- the collector -------------------------------------------------------------------------------------

    def _count(self, reports: Any) -> tuple[Counts, Groups]:
        if isinstance(reports, Groups):
            seen, many = self._read(reports.reports), reports.counts
            counts = np.zeros(self.reports, dtype=np.int64)
            np.add.at(counts, seen, many)
        else:
            counts = np.bincount(self._read(reports), minlength=self.reports)
        return self.decode(counts), Groups(None, counts)

    def _expect(self, seen: Groups, shares: Floats) -> Floats:
        """Transpose `decode`: spread each value's share over the reports that support it, place by place."""
        q, m = self.field, self.digits
        top = -(-self.domain.size // q ** (m - 1))
        padded = np.zeros(top * q ** (m - 1))
        padded[: shares.size] = shares
        parts = []
        for free in range(m):  # directions are numbered from the fewest digits after the 1
            sums = padded.reshape(top * q**free, -1).sum(axis=1)
            parts.append(self._spread_over(sums, free, top))
        return np.concatenate(parts)

    def _gather(self, seen: Groups, ratios: Floats) -> Floats:
        return self.decode(ratios)

    def _read(self, reports: Any) -> Counts:
        array = np.asarray(reports) if len(reports) else np.zeros(0, dtype=np.int64)
        whole = array.dtype.kind in "iu" and array.ndim == 1
        if not whole or (array.size and not (array.min() >= 0 and array.max() < self.reports)):
            raise InvalidParameter(
                f"a report must be a whole number below {self.reports}.", parameter="reports"
            )
        if isinstance(reports, list | tuple) and any(isinstance(report, bool) for report in reports):
            raise InvalidParameter("a report must be a whole number, not a bool.", parameter="reports")
        return array.astype(np.int64, copy=False)

    def decode(self, counts: NDArray[Number]) -> NDArray[Number]:
        """Return how many reports support each value, from how often each report was sent.

        A value with digits d is supported by the direction with its 1 at i and digits a after it where the
        report's digit is d_i + Σ_j d_(i+1+j)·a_j. Each place i is summed digit by digit, the highest first;
        only digits that some value has are formed: O(n + q·k·m) in all.
        """
        q, m, k = self.field, self.digits, self.domain.size
        top = -(-k // q ** (m - 1))  # digits that the highest place takes
        supports = np.zeros((top, q ** (m - 1)), dtype=counts.dtype)
        by_direction = counts.reshape(self.directions, q)
        for i in range(m):
            free = m - 1 - i
            first = (q**free - 1) // (q - 1)
            part = self._sum_over(by_direction[first : first + q**free], free, top)
            supports += np.repeat(part.reshape(top, -1), q**i, axis=1)
        return supports.reshape(-1)[:k]

    def _sum_over(self, counts: NDArray[Number], free: int, top: int) -> NDArray[Number]:
        """Σ_a counts[a, s + ⟨d, a⟩] for all digits d of `free` places and s, ordered (d highest first, s)."""
        q = self.field
        if free == 0:
            return counts.reshape(-1)[:top]  # the pivot is the highest place itself
        # a[s, digits of a (highest first), digits of d formed so far (lowest last)]
        table = np.ascontiguousarray(counts.T).reshape(q, -1)
        formed = 1
        for place in range(free):
            wanted = top if place == 0 else q
            source = table.reshape(q, q, -1, formed)
            made = np.zeros((q, source.shape[2], formed, wanted), dtype=counts.dtype)
            for d, a in product(range(wanted), range(q)):
                made[:, :, :, d] += source[self._shifted(d, a), a]
            formed *= wanted
            table = made.reshape(q, -1)
        return np.ascontiguousarray(table.T).reshape(-1)

    def _spread_over(self, sums: Floats, free: int, top: int) -> Floats:
        """Transpose `_sum_over`, its steps in the opposite order."""
        q = self.field
        if free == 0:
            return np.concatenate([sums, np.zeros(q - top)])
        formed = top * q ** (free - 1)
        table = np.ascontiguousarray(sums.reshape(formed, q).T)
        for place in reversed(range(free)):
            wanted = top if place == 0 else q
            formed //= wanted
            made = table.reshape(q, -1, formed, wanted)
            source = np.zeros((q, q, made.shape[1], formed))
            for d, a in product(range(wanted), range(q)):
                source[self._shifted(d, a), a] += made[:, :, :, d]
            table = source.reshape(q, -1)
        return np.ascontiguousarray(table.T).reshape(-1)

    def _shifted(self, d: int, a: int) -> Counts:
        """Every digit s plus d·a."""
        digits = np.arange(self.field, dtype=np.int64)
        shift = self._field.multiply(digits[[d]], digits[[a]])
        return self._field.add(digits, np.broadcast_to(shift, self.field))

    def _describe_report(self) -> str:
        return f"Each report is one of {self.reports} whole numbers, about {self.domain.size} values,"

    def _shape(self) -> dict[str, int]:
        return {"field": self.field, "digits": self.digits}

    @classmethod
    def _of(cls, domain: Domain, epsilon: Fraction, protocol: dict[str, Any]) -> "ProjectiveChoice":
        found = cls(domain=domain, epsilon=epsilon, field=read_field(protocol, "field"))
        if protocol.get("digits", found.digits) != found.digits:
            raise InvalidParameter(f"digits must be {found.digits}.", parameter="digits")
        return found


def count_digits(values: int, field: int) -> int:
    """Return the least m with field^m ≥ values.

    >>> count_digits(10**6, 4), count_digits(1000, 10**4)
    (10, 1)
    """
    digits, reach = 1, field
    while reach < values:
        digits, reach = digits + 1, reach * field
    return digits


def choose_protocol(domain: Domain, epsilon: Fraction) -> Choice | ProjectiveChoice:
    """Return the protocol with the shortest reports among those whose variance is within 1 % of the least.

    Subset selection has the least variance, but its reports hold about k/(e^ε + 1) values; beyond 64 it is
    left out. All numbers here are public; privacy does not depend on the choice.
    """
    fields = _fields_near(domain.size, epsilon)
    found: list[Choice | ProjectiveChoice] = [
        ProjectiveChoice(domain=domain, epsilon=epsilon, field=q) for q in fields
    ]
    if best_size(domain.size, epsilon) <= MOST_HELD or not found:
        found.insert(0, Choice(domain=domain, epsilon=epsilon))
    least = min(each.variance for each in found)
    return min((each for each in found if each.variance <= ALIKE * least), key=lambda each: each.bits)


def _fields_near(values: int, epsilon: Fraction) -> list[int]:
    """The fields whose variance can be near the least: q - 1 within a factor of 2 of e^ε, and few reports.

    With m digits (e^ε + q - 1)²/((e^ε - 1)²(q - 1)) is the limit of the variance, least at q - 1 = e^ε.
    """
    if values < 4:
        return []
    e = math.exp(min(float(epsilon), 10.0))
    near = [q for q in range(2, math.ceil(2 * e) + 2) if q - 1 >= e / 2 - 1 and is_supported(q)]
    few = [q for q in near if q < values and _reports(values, q) <= MOST_REPORTS]
    few.sort(key=lambda q: abs(math.log((q - 1) / e)))
    return sorted(few[:24])


def _reports(values: int, field: int) -> int:
    return sum(field**i for i in range(1, count_digits(values, field) + 1))
