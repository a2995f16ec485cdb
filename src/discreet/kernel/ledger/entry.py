"""An entry of the chain: what happened, bound by a hash to everything that happened before it."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from discreet.errors import LedgerConflict

UNAVAILABLE = (
    "the ledger must be readable and writable, and it is not: nothing was acknowledged. "
    "Look at its disk, its permissions and its locks."
)
ORIGIN = "0" * 64  # what the first entry names as its predecessor


def unavailable() -> LedgerConflict:
    """Return the one error for a full disk, a read-only folder, a locked or damaged file, without details."""
    return LedgerConflict(UNAVAILABLE)


@contextmanager
def readable() -> Iterator[None]:
    """Turn whatever is wrong with a text of the ledger into the one constant error: nothing of it is
    quoted.
    """
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError):
        raise unavailable() from None


@dataclass(frozen=True)
class Head:
    """Where the chain ends: the number of entries, and the digest of all of them.

    >>> Head.at_origin().sequence
    0
    """

    sequence: int
    digest: str

    @classmethod
    def at_origin(cls) -> "Head":
        return cls(0, ORIGIN)


@dataclass(frozen=True)
class Entry:
    """One line of the ledger.

    digest = SHA-256(sequence, digest of the entry before, body)

    >>> first = Entry.after(Head.at_origin(), {"kind": "charge", "cost": "0.1"})
    >>> first.is_sound, Entry(1, first.previous, first.body.replace("0.1", "0.0"), first.digest).is_sound
    (True, False)
    """

    sequence: int
    previous: str
    body: str
    digest: str

    @classmethod
    def after(cls, head: Head, facts: Mapping[str, Any]) -> "Entry":
        """Return the entry that follows `head` and states these facts."""
        sequence, body = head.sequence + 1, canonical(facts)
        return cls(sequence, head.digest, body, _digest(sequence, head.digest, body))

    @property
    def facts(self) -> dict[str, Any]:
        with readable():
            facts: dict[str, Any] = json.loads(self.body)
            return facts

    @property
    def head(self) -> Head:
        """The end of the chain once this entry is its last."""
        return Head(self.sequence, self.digest)

    @property
    def is_sound(self) -> bool:
        """Whether the entry still says what its digest was made from."""
        return self.digest == _digest(self.sequence, self.previous, self.body)

    def to_line(self) -> str:
        """Return the entry as one line of JSON: a reader can check the chain from such lines alone."""
        parts = {
            "sequence": self.sequence,
            "previous": self.previous,
            "body": self.body,
            "digest": self.digest,
        }
        return json.dumps(parts, ensure_ascii=False)

    @classmethod
    def from_line(cls, line: str) -> "Entry":
        """Return the entry that `to_line` wrote."""
        return cls(**json.loads(line))

    def follows(self, head: Head) -> bool:
        """Return whether this is a sound entry directly after `head`."""
        return self.is_sound and self.sequence == head.sequence + 1 and self.previous == head.digest


# Made once: this runs while others wait for their turn.
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical(facts: Mapping[str, Any]) -> str:
    """Return one text for equal facts: keys sorted, no spaces, no NaN."""
    return _ENCODER.encode(facts)


def fingerprint(facts: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the canonical text."""
    return hashlib.sha256(canonical(facts).encode()).hexdigest()


def _digest(sequence: int, previous: str, body: str) -> str:
    # Sequence and predecessor have a fixed shape and end in a line break, so no two entries share an
    # encoding.
    return hashlib.sha256(f"{sequence}\n{previous}\n{body}".encode()).hexdigest()
