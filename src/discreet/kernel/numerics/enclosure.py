"""Certified enclosures: Arb balls, with precision raised until a question is decided.

A ball holds the true value whatever the precision; more precision only makes it smaller. So a decision taken
from a ball is a proof, and an undecided one is asked again with twice the bits.
"""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import TypeAlias

from flint import acb, arb, ctx, fmpq

from discreet.errors import InternalError

Arb: TypeAlias = arb

START_BITS = 128
MOST_BITS = (
    1 << 20
)  # a question that this many bits leave open is an equality that the caller should have excluded

_precision_lock = threading.RLock()  # flint's precision is one global of the process
if hasattr(
    os, "register_at_fork"
):  # a child must not inherit the lock, or a precision, in another thread's use
    os.register_at_fork(
        before=_precision_lock.acquire,
        after_in_parent=_precision_lock.release,
        after_in_child=_precision_lock.release,
    )


@contextmanager
def working_precision(bits: int) -> Iterator[None]:
    """Compute with balls of this many bits; the process's own precision is restored."""
    with _precision_lock:
        before = ctx.prec
        ctx.prec = bits
        try:
            yield
        finally:
            ctx.prec = before


def ball(value: Fraction | int) -> Arb:
    """Return the ball around an exact number, at the working precision."""
    return arb(fmpq(value.numerator, value.denominator))


def power(value: Arb, count: int) -> Arb:
    """value^count for a whole count >= 0, also where the ball holds 0: Arb's own power knows nothing there.

    >>> power(arb(0, 0.5), 2) < 0.26
    True
    """
    return value**count if value > 0 else (acb(value) ** count).real


def _decide(question: Callable[[], int | None]) -> int:
    bits = START_BITS
    while bits <= MOST_BITS:
        with working_precision(bits):
            answer = question()
        if answer is not None:
            return answer
        bits *= 2
    raise InternalError("a certified decision stayed open at the highest precision")


def certified_floor(compute: Callable[[], Arb]) -> int:
    """⌊x⌋ for the real number that `compute` encloses at any working precision; x must not be whole.

    >>> certified_floor(lambda: ball(20).exp())
    485165195
    """

    def floor() -> int | None:
        whole = compute().floor().unique_fmpz()
        return None if whole is None else int(whole)

    return _decide(floor)


def certified_sign(compute: Callable[[], Arb]) -> int:
    """+1 or -1 for the real number that `compute` encloses; the number must not be 0.

    >>> certified_sign(lambda: ball(1).exp() - ball(Fraction(2718281828, 10**9)))
    1
    """

    def sign() -> int | None:
        value = compute()
        return 1 if value > 0 else -1 if value < 0 else None

    return _decide(sign)
