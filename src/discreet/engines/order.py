"""The order in which a unit's rows and groups are kept: a salted hash of the unit's own values, in one place.

The hash has 32 bits. Ties are broken by the values themselves, so the order is total whatever the hash is;
bounding holds for every hash, and the hash only spreads the choice evenly. Conformance compares engines
with md5 of a canonical text; an engine may use its own fastest hash instead, since nobody compares across
engines then.
"""

import datetime
import hashlib
from collections.abc import Iterable

from discreet.tables import Value

HASH_BITS = 32
# A prime. Small sets of groups are shuffled by x -> a x + b modulo it, and are the bits of one number.
FIELD = 127
MOST_SHUFFLED = 32  # groups kept of a shuffled set
SEPARATOR = ":"


def canonical(value: Value) -> str:
    """A value in the canonical text. A double has no text that all engines agree on: it leaves its place
    to the tie-break."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return "#"
    if isinstance(value, datetime.datetime):
        return str((value - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1))
    return value.isoformat() if isinstance(value, datetime.date) else str(value)


def is_shuffled(labels: int | None, most: int) -> bool:
    """Whether so many public groups, of which `most` are kept, are ordered by a shuffle of their positions.

    The shuffle of a unit has no ties, so the order is total. Everywhere else the order is (hash, group).
    """
    return labels is not None and labels <= FIELD and most <= MOST_SHUFFLED


def shuffled(hashed: int, position: int) -> int:
    """The place of a position in the shuffle that a unit's hash picks.

    >>> sorted(shuffled(123456, position) for position in range(FIELD)) == list(range(FIELD))
    True
    """
    return ((1 + hashed % (FIELD - 1)) * position + hashed // (FIELD - 1)) % FIELD


def order_hash(salt: int, values: Iterable[Value]) -> int:
    """The first 32 bits of md5 of the canonical text.

    >>> order_hash(7, [42, "Ottawa"]) == int(hashlib.md5(b"7:42:Ottawa").hexdigest()[:8], 16)
    True
    """
    text = SEPARATOR.join([str(salt), *map(canonical, values)])
    digest = hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
    return int(digest[: HASH_BITS // 4], 16)
