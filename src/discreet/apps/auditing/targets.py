"""What is audited: mechanisms, by the protocol that they keep, as functions with pairs and finite laws.

Tested by: tests/auditing/test_mechanisms.py
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import comb
from typing import Any

from discreet.apps.auditing.blackbox import Target
from discreet.apps.auditing.claim import BITS
from discreet.errors import InvalidParameter
from discreet.kernel.laws import FiniteLaw, compute_subsets, compute_windows
from discreet.kernel.mechanisms import Mechanism
from discreet.kernel.mechanisms.mechanism import Pair
from discreet.kernel.numerics import ball, working_precision

# Local reports over finite fields as targets: their law written down a second time, by listing
# vectors.

Polynomial = tuple[int, ...]  # coefficients, highest first


def projective_law(mechanism: Any) -> Callable[[Any], FiniteLaw]:
    """A direction evenly, and the value's digit in it e^ε times as often as any other digit."""
    q, values = mechanism.field, list(mechanism.values)
    digits = _length(len(values), q)
    directions = list_directions(q, digits)
    multiply = multiplication(q)

    def law(value: Any) -> FiniteLaw:
        place = values.index(value)
        truth = [place // q**i % q for i in range(digits)]
        with working_precision(BITS):
            grow = ball(mechanism.epsilon).exp()
            total = (grow + q - 1) * len(directions)
            found = {}
            for number, direction in enumerate(directions):
                own = 0
                for a, b in zip(truth, direction, strict=True):
                    own = add(q, own, multiply[a][b])
                for digit in range(q):
                    found[number * q + digit] = (grow if digit == own else ball(1)) / total
            return found

    return law


def wave_law(mechanism: Any) -> Callable[[Any], FiniteLaw]:
    """Places of the window of the number's bin e^ε times as often as others."""
    low, high = mechanism.bounds

    def law(value: Any) -> FiniteLaw:
        part = (Fraction(value) - low) / (high - low)
        home = next(
            x for x in range(mechanism.bins) if part * mechanism.bins < x + 1 or x == mechanism.bins - 1
        )
        inside = range(home, home + mechanism.window)
        with working_precision(BITS):
            grow = ball(mechanism.epsilon).exp()
            weights = [grow if y in inside else ball(1) for y in range(mechanism.bins + mechanism.window - 1)]
            total = sum(weights, ball(0))
            return {y: weight / total for y, weight in enumerate(weights)}

    return law


def _length(values: int, q: int) -> int:
    return next(m for m in range(1, 65) if q**m >= values)


def list_directions(q: int, digits: int) -> list[tuple[int, ...]]:
    """Return the vectors whose first digit that is not 0 is 1: most leading zeros first, then by the digits
    after the 1, of which the last weighs most.
    """
    vectors = [v for v in product(range(q), repeat=digits) if next((x for x in v if x), 0) == 1]
    return sorted(vectors, key=lambda v: (-v.index(1), v[::-1]))


def _prime_of(q: int) -> int:
    return next(p for p in range(2, q + 1) if q % p == 0)


def add(q: int, a: int, b: int) -> int:
    """Return the sum in the field of q elements: digit by digit in base p."""
    p, place, total = _prime_of(q), 1, 0
    while place < q:
        total += (a // place + b // place) % p * place
        place *= p
    return total


def multiplication(q: int) -> list[list[int]]:
    """Return all products, modulo the first monic polynomial that no two smaller ones multiply to."""
    p = _prime_of(q)
    degree = next(r for r in range(1, 9) if p**r >= q)
    modulus = _first_irreducible(p, degree)
    elements = {_as_number(f, p): f for f in product(range(p), repeat=degree)}
    return [
        [_as_number(_remainder(_times(elements[a], elements[b], p), modulus, p), p) for b in range(q)]
        for a in range(q)
    ]


def _first_irreducible(p: int, degree: int) -> Polynomial:
    monic = [[(1, *rest) for rest in product(range(p), repeat=d)] for d in range(degree + 1)]
    composite = {_times(f, g, p) for d in range(1, degree) for f in monic[d] for g in monic[degree - d]}
    return next(f for f in monic[degree] if f not in composite)


def _times(f: Polynomial, g: Polynomial, p: int) -> Polynomial:
    result = [0] * (len(f) + len(g) - 1)
    for i, a in enumerate(f):
        for j, b in enumerate(g):
            result[i + j] = (result[i + j] + a * b) % p
    return tuple(result)


def _remainder(f: Polynomial, modulus: Polynomial, p: int) -> Polynomial:
    rest = list(f)
    while len(rest) >= len(modulus):
        lead = rest[0]
        rest = [(a - lead * b) % p for a, b in zip(rest, [*modulus, *[0] * len(rest)], strict=False)][1:]
    return tuple(rest)


def _as_number(f: Polynomial, p: int) -> int:
    number = 0
    for coefficient in f:
        number = number * p + coefficient
    return number


MOST_SAMPLED = 8  # pairs; of more, the first, the middle and the last
MOST_SETS = 2000  # reports that are enumerated


def _no_law(data: Any) -> None:
    return None


@dataclass(frozen=True)
class Audited:
    """A mechanism as f(data, n), with pairs to sample, and its law with pairs to enumerate."""

    target: Target
    pairs: Sequence[Pair]
    law: Callable[[Any], FiniteLaw | None] = _no_law
    enumerated: Sequence[Pair] = ()


def read_mechanism(mechanism: Any) -> Audited:
    """Return what a mechanism offers to an audit; only what users call is sampled."""
    if isinstance(mechanism, Mechanism):
        return _with_pairs(mechanism.sample, mechanism.law, mechanism.neighbours())
    adapter = LOCAL.get(str(getattr(mechanism, "protocol", "")))
    if adapter is not None:
        law, pairs = adapter(mechanism)
        return _with_pairs(lambda data, n: mechanism.randomize([data] * n), law, pairs)
    raise InvalidParameter(
        f"target must be a function f(data, n) or a mechanism with a known way to sample it, got "
        f"{type(mechanism).__name__}. Wrap it: lambda data, n: [mechanism.release(data) for _ in range(n)].",
        parameter="target",
    )


def _with_pairs(target: Target, law: Callable[[Any], FiniteLaw | None], pairs: Sequence[Pair]) -> Audited:
    few = len(pairs) <= MOST_SAMPLED
    return Audited(target, pairs if few else (pairs[0], pairs[len(pairs) // 2], pairs[-1]), law, pairs)


# --- local protocols that do not keep the mechanism protocol yet ------------------------------------------

Reports = tuple[Callable[[Any], FiniteLaw | None], list[Pair]]


def _choice(mechanism: Any) -> Reports:
    """Return the law of a report of several values: the data are one person's value."""
    values = list(mechanism.values)

    def law(truth: Any) -> FiniteLaw | None:
        if comb(len(values), mechanism.size) > MOST_SETS:
            return None
        return compute_subsets(values, mechanism.epsilon, mechanism.size, truth)

    return law, [(values[0], values[1]), (values[0], values[-1])]


def _projective(mechanism: Any) -> Reports:
    """Return the law of a report over a finite field: the data are one person's value."""
    values = list(mechanism.values)
    law = projective_law(mechanism) if mechanism.reports <= MOST_SETS else _no_law
    return law, [(values[0], values[1]), (values[0], values[-1])]


def _wave(mechanism: Any) -> Reports:
    """Return the law of a report of a number's bin: the data are one person's number."""
    return wave_law(mechanism), _ends(mechanism)


def _window(mechanism: Any) -> Reports:
    """Return the law of a report by windows: the data are one person's number."""
    low, high = mechanism.bounds

    def law(truth: Any) -> FiniteLaw:
        level = (Fraction(truth) - low) / (high - low) * mechanism.levels
        return compute_windows(
            level, epsilon=mechanism.epsilon, levels=mechanism.levels, window=mechanism.window
        )

    return law, _ends(mechanism)


def _noise(mechanism: Any) -> Reports:
    """Return the law of a report with noise: the data are one person's number."""
    low, _ = mechanism.bounds
    return lambda truth: mechanism.noise.law(Fraction(truth) - low), _ends(mechanism)


def _ends(mechanism: Any) -> list[Pair]:
    low, high = (float(end) for end in mechanism.bounds)
    return [(low, high), (low, (low + high) / 3), ((low + high) / 3, high)]


LOCAL: dict[str, Callable[[Any], Reports]] = {
    "choice": _choice,
    "projective": _projective,
    "wave": _wave,
    "window": _window,
    "laplace": _noise,
}
