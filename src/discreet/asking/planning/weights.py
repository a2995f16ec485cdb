"""One weight for each unit: how a unit's whole vector over groups is scaled to a limit, in whole numbers.

A unit's part of group g and measure m is v[g][m], in the measure's steps; its norm n is the sum of |v| over
all groups that are released and all measures of the plan. Every part is multiplied by one weight,

    w = ⌊τ·2ᴷ / max(n, τ)⌋,   so that w = 2ᴷ where n ≤ τ, and Σ |w·v| ≤ τ·2ᴷ for every unit,

and the group's total is Σ w·v over units, in steps of 2⁻ᴷ. Nothing is chosen, so there is no salt and no
order, and groupings of the same rows add up (docs/theory/weights.md).
"""

from dataclasses import dataclass

from discreet.errors import InternalError

_FINEST, _FINE = 40, 30  # bits of a weight: where all is in 64 bits, and where it is not
_NARROW, _WIDE = 62, 86  # bits of τ·2ᴷ that leave room for a sign; and for 2^40 units in 38 digits


@dataclass(frozen=True)
class Limit:
    """The most that one unit adds to a plan over all its groups and measures: `most` steps, τ. A total is in
    steps of 2^-bits.

    Privacy: a function of the unit's own rows alone scales its parts to Σ |w·v| ≤ `total`.

    >>> Limit(3, 4).weight(2), Limit(3, 4).weight(9)
    (16, 5)
    """

    most: int
    bits: int

    def __post_init__(self) -> None:
        if self.most < 1 or self.bits < 0:
            raise InternalError("a limit must be at least one step, and its bits at least 0")

    @classmethod
    def of(cls, most: int) -> "Limit":
        """Return the limit with the bits that every engine computes fast: 40 while τ·2ᴷ has 62 bits, then
        fewer, but 30 as long as totals of 2^40 units fit in 38 digits.

        >>> [Limit.of(2**exponent - 1).bits for exponent in (1, 22, 23, 32, 50, 56, 57, 86, 99)]
        [40, 40, 39, 30, 30, 30, 29, 0, 0]
        """
        length = most.bit_length()
        return cls(most, max(0, min(_FINEST, max(_NARROW - length, _FINE), _WIDE - length)))

    @property
    def one(self) -> int:
        """The weight of a unit within the limit."""
        return 1 << self.bits

    @property
    def total(self) -> int:
        """The most that one unit moves all totals together, in the sum of sizes."""
        return self.most * self.one

    @property
    def is_narrow(self) -> bool:
        """Whether a unit's weighted parts have 64 bits."""
        return self.total.bit_length() <= _NARROW

    def weight(self, norm: int) -> int:
        """Return what every part of a unit with this norm is multiplied by."""
        return self.total // max(norm, self.most)


@dataclass(frozen=True)
class Excess:
    """The sum, over units, of the part of a unit's norm between `start` and `start + span`, in units of
    span/2^bits, rounded down for each unit.

    With span = start it is what the next octave would still add, with span = 1 and bits = 0 the number of
    units above `start`.

    Privacy: a unit adds a whole number from 0 to 2^bits.

    >>> Excess(4, 4).of(6) == 2**19, Excess(4, 1, bits=0).of(6), Excess(4, 1, bits=0).of(4)
    (True, 1, 0)
    """

    start: int
    span: int
    bits: int = 20

    def __post_init__(self) -> None:
        if self.start < 0 or self.span < 1 or self.bits < 0:
            raise InternalError("an excess must begin at 0 or above and span one step or more")

    @property
    def one(self) -> int:
        """The most that a unit adds."""
        return 1 << self.bits

    def of(self, norm: int) -> int:
        """Return what a unit with this norm adds."""
        return min(max(norm - self.start, 0), self.span) * self.one // self.span
