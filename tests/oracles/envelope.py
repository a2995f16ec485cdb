"""Thresholds of an envelope by direct sums of exponentials in Arb, at a precision of their own."""

from fractions import Fraction

from flint import arb, ctx, fmpq

from discreet.kernel.randomness.envelope import Envelope


def thresholds(envelope: Envelope, bits: int, count: int, precision: int = 500) -> list[int]:
    """⌊c · 2^bits⌋ of the first `count` outcomes, each height its own exponential (no recurrence)."""
    before, ctx.prec = ctx.prec, precision
    try:
        heights = _heights(envelope, precision)
        masses = _masses(envelope, heights)
        total = sum(masses, arb(0)) + arb(0, heights[-1] * (4 * int(envelope.ratio) + 8))
        found, cumulative = [], arb(0)
        for mass in masses[:count]:
            cumulative += mass
            scaled = cumulative / total * arb(2) ** bits
            floor = scaled.floor().unique_fmpz()
            assert floor is not None or scaled > 2**bits - 1  # a probability is below 1
            found.append(int(floor) if floor is not None else 2**bits - 1)
        return found
    finally:
        ctx.prec = before


def _heights(envelope: Envelope, precision: int) -> list[arb]:
    ratio = _arb(envelope.ratio)
    heights: list[arb] = []
    while not heights or heights[-1] > arb(2) ** (-precision // 2):
        i = len(heights)
        exponent = i / ratio if envelope.shape == "linear" else (i / ratio) ** 2 / 2
        heights.append((-exponent).exp())
    return heights


def _masses(envelope: Envelope, heights: list[arb]) -> list[arb]:
    side = range(envelope.sides)
    if envelope.points:
        return [heights[i + negative] for i in range(len(heights) - 1) for negative in side]
    m = envelope.cells
    boxes = [heights[i + 1] for i in range(m) for _ in side]
    wedges = [heights[i] - heights[i + 1] for i in range(m) for _ in side]
    return boxes + wedges + [heights[i] for i in range(m, len(heights)) for _ in side]


def _arb(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))
