"""The order in which a unit's rows and groups are kept: a salted hash of the unit's own values, in one place.

The orders are those of (C1) and (C2) in docs/theory/exact-half.md. A row is hashed with its values and its
ordinal among the unit's rows that are equal to it, so that ten equal rows are ten chances, not one. Salt,
unit and values are mixed after they are combined: every order of a unit's rows, and of its groups, is then
as likely as any other.

The hash has 32 bits. Ties are broken by the values themselves, so the order is total whatever the hash is;
bounding holds for every hash, and the hash only spreads the choice evenly. Conformance compares engines
with md5 of a canonical text; an engine may use its own fastest hash instead, since no one compares across
engines then.
"""

import datetime
import hashlib
from collections import Counter
from collections.abc import Hashable, Iterable

from discreet.asking.policy import Value

HASH_BITS = 32
SEPARATOR = ":"


def canonical(value: Value) -> str:
    """Return a value in the canonical text. A double has no text that all engines agree on: it leaves its
    place to the tie-break.
    """
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return "#"
    if isinstance(value, datetime.datetime):
        return str((value - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1))
    return value.isoformat() if isinstance(value, datetime.date) else str(value)


def ordinals(rows: Iterable[Hashable]) -> list[int]:
    """Return the ordinal of each row among those that are equal to it.

    >>> ordinals(["a", "b", "a", "a"])
    [0, 0, 1, 2]
    """
    seen: Counter[Hashable] = Counter()
    found = []
    for row in rows:
        found.append(seen[row])
        seen[row] += 1
    return found


def order_hash(salt: int, values: Iterable[Value]) -> int:
    """Return the first 32 bits of md5 of the canonical text.

    >>> order_hash(7, [42, "Ottawa"]) == int(hashlib.md5(b"7:42:Ottawa").hexdigest()[:8], 16)
    True
    """
    text = SEPARATOR.join([str(salt), *map(canonical, values)])
    digest = hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
    return int(digest[: HASH_BITS // 4], 16)
