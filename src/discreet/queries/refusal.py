"""Refusals: the reason, the place underlined, and what to write instead."""

from typing import NoReturn

from discreet.errors import UnsupportedQuery
from discreet.queries.nodes import Node, Place

MOST_SHOWN = 100


def refuse(reason: str, message: str, where: Node | Place | None = None) -> NoReturn:
    """Stop here; `reason` is the stable word that programs read, `message` the sentence that people read."""
    place = where.place if isinstance(where, Node) else where
    raise UnsupportedQuery(message, reason=reason, **({} if place is None else {"place": list(place)}))


def underline(error: UnsupportedQuery, text: str) -> UnsupportedQuery:
    """The same refusal with the line of the question it is about, and a mark under the place.

    >>> error = UnsupportedQuery("NOW() is not a function of the data.", reason="clock", place=[7, 10])
    >>> print(underline(error, "SELECT now() FROM t").message)
    NOW() is not a function of the data.
      SELECT now() FROM t
             ^^^
    """
    place = error.fields.get("place")
    if not isinstance(place, list):
        return error
    start, end = place
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", start)
    line = text[first : last if last >= 0 else len(text)]
    shift = max(0, min(start - first - MOST_SHOWN // 2, len(line) - MOST_SHOWN))
    shown = line[shift : shift + MOST_SHOWN].replace("\t", " ")
    marks = max(1, min(end, first + shift + len(shown)) - start)
    message = f"{error.message}\n  {shown}\n  {' ' * (start - first - shift)}{'^' * marks}"
    return UnsupportedQuery(message, **error.fields)
