"""The one monotone search, over rationals and over whole numbers: it returns the safe end."""

from collections.abc import Callable
from fractions import Fraction

from discreet.errors import InternalError

MOST_DOUBLINGS = 4096


def least_passing(
    passes: Callable[[Fraction], bool],
    *,
    start: Fraction = Fraction(1),
    tolerance: Fraction = Fraction(1, 2**40),
) -> Fraction:
    """Return a number that passes, at most (1 + tolerance) times the least number > 0 that does.

    `passes` must be monotone: what passes at x passes above x. The answer was itself tested, so a caller who
    asks "is this much noise enough?" never gets too little.

    >>> x = least_passing(lambda x: x * x >= 2)
    >>> x * x >= 2, round(float(x), 9)
    (True, 1.414213562)
    """
    high = start
    for _ in range(MOST_DOUBLINGS):
        if passes(high):
            break
        high *= 2
    else:
        raise InternalError("the search found no number that passes")
    low = high / 2
    for _ in range(MOST_DOUBLINGS):
        if not passes(low):
            break
        low, high = low / 2, low
    else:
        return high
    while high > low * (1 + tolerance):
        middle = (low + high) / 2
        if passes(middle):
            high = middle
        else:
            low = middle
    return high


def least_whole(passes: Callable[[int], bool], *, failing: int, passing: int) -> int:
    """Return the least whole number above `failing` that passes; `passing` is one that does.

    `passes` must be monotone, as in `least_passing`. It is asked at neither end.

    >>> least_whole(lambda n: n * n >= 200, failing=0, passing=200)
    15
    """
    low, high = failing, passing
    while high - low > 1:
        middle = (low + high) // 2
        if passes(middle):
            high = middle
        else:
            low = middle
    return high
