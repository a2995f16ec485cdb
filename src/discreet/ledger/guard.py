"""Looks at every unit of work: does the chain's end agree with its last entry, its seal and its anchors?"""

import hmac
from collections.abc import Sequence

from discreet.errors import InvalidParameter, LedgerConflict
from discreet.ledger.anchor import Anchor, forked
from discreet.ledger.entry import Head
from discreet.ledger.store import Transaction


class ChainGuard:
    """Checks the end of the chain in constant time; `verify` checks the rest.

    Privacy: with an anchor, a ledger that was set back or forked is refused before it charges. With a key,
    a chain written by a hand without the key is refused. With neither, only accidents are detected.
    """

    def __init__(self, *, anchors: Sequence[Anchor] = (), key: bytes | None = None) -> None:
        if key is not None and len(key) < 16:
            raise InvalidParameter(
                f"the ledger's key must have at least 16 bytes, got {len(key)}.", parameter="key"
            )
        self._anchors, self._key = tuple(anchors), key

    def check(self, transaction: Transaction) -> None:
        """Refuse a ledger whose end does not fit."""
        head = transaction.head()
        last = transaction.entry(head.sequence)
        if head != Head.at_origin() and (last is None or not last.is_sound or last.head != head):
            raise LedgerConflict("the ledger's last entry must match its head, and it does not. Run verify.")
        if not hmac.compare_digest(transaction.seal(), self.seal(head) if head.sequence else ""):
            raise LedgerConflict(
                "the ledger's seal must be made with the key in use, and it is not. "
                "Use the key it was first opened with."
            )
        remembered = [anchor.latest() for anchor in self._anchors]
        self.confirm(transaction, [head for head in remembered if head is not None])

    def confirm(self, transaction: Transaction, remembered: Sequence[Head]) -> None:
        """Refuse a ledger that does not contain these heads."""
        for head in remembered:
            entry = transaction.entry(head.sequence)
            if entry is None or entry.head != head:
                raise forked()

    def seal(self, head: Head) -> str:
        """HMAC-SHA-256 of the head under the owner's key; empty without one."""
        if self._key is None:
            return ""
        return hmac.new(self._key, f"{head.sequence}\n{head.digest}".encode(), "sha256").hexdigest()

    def publish(self, head: Head) -> list[Head]:
        """Tell every anchor, and see that it remembers: this head, or later ones, which are returned.

        A later head is another process that was faster, or another copy of the ledger: `confirm` tells which.
        """
        later = []
        for anchor in self._anchors:
            anchor.publish(head)
            kept = anchor.latest()
            if kept is None or kept.sequence < head.sequence:
                raise LedgerConflict("the anchor must keep the head it was given, and it did not.")
            if kept != head:
                later.append(kept)
        return later
