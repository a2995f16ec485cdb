"""Refusal of unknown keyword arguments, with a suggestion of the name that was probably meant."""

import difflib
from collections.abc import Collection, Iterable, Mapping

from discreet.errors import InvalidParameter

PRICES = dict.fromkeys(("budget", "price", "eps"), "epsilon")  # what callers type for the price of a question
BUDGETS = dict.fromkeys(("epsilon", "delta", "rho", "mu"), "budget")


def refuse_unknown(
    names: Iterable[str], known: Collection[str], meant: Mapping[str, str] | None = None
) -> None:
    """Raise for the first name that is not known.

    `meant` maps names that callers are likely to try to the right ones; others are matched by spelling.

    >>> refuse_unknown(["epsilom"], ["epsilon", "delta"])
    Traceback (most recent call last):
    discreet.errors.InvalidParameter: unexpected epsilom; did you mean epsilon=?
    """
    for name in names:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            right = (meant or {}).get(name) or (close[0] if close else None)
            hint = f"did you mean {right}=?" if right else f"the names are {', '.join(known)}."
            raise InvalidParameter(f"unexpected {name[:60]}; {hint}", parameter=name[:60])
