"""Anchors: somewhere else that remembers how far the chain had come.

The chain alone detects accidents: anyone who can write the file can also write a new chain. An anchor, kept
where that hand does not reach, remembers the last head: a ledger that was set back to yesterday, or that
grew two different ends, no longer contains it and is refused.
"""

import hmac
import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from discreet.errors import InvalidParameter, LedgerConflict
from discreet.kernel.ledger.entry import Head
from discreet.kernel.ledger.file_locks import check_locks, fcntl
from discreet.kernel.ledger.store import Transaction


class Anchor(Protocol):
    """Gets each head once it is durable, before the charge is acknowledged; gives the last one back."""

    def publish(self, head: Head) -> None: ...
    def latest(self) -> Head | None: ...


class FileAnchor:
    """A small file elsewhere: another disk, another machine's mount, another owner's folder."""

    def __init__(self, path: str | Path) -> None:
        check_locks()
        self._path = Path(path)

    def latest(self) -> Head | None:
        return _parse(self._path.read_bytes()) if self._path.exists() else None

    def publish(self, head: Head) -> None:
        """Keep the head that is furthest; two different heads at one place are a fork, and refused."""
        file = os.open(self._path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            last = _parse(os.pread(file, 4096, 0))
            if last is not None and last.sequence == head.sequence and last.digest != head.digest:
                raise forked()
            if last is None or last.sequence < head.sequence:
                # One write of a fixed length: a crash leaves the old head or the new one, or a refused text.
                os.pwrite(file, _text(head), 0)
                os.fsync(file)
        finally:
            os.close(file)


class CommandAnchor:
    """Two commands: one reads a head as JSON from its standard input, the other prints the last one.

    Heads of several processes may arrive out of order: the command keeps the one with the greatest sequence.
    """

    def __init__(self, *, publish: Sequence[str], latest: Sequence[str], timeout_s: float = 30) -> None:
        self._publish, self._latest, self._timeout = list(publish), list(latest), timeout_s

    def publish(self, head: Head) -> None:
        self._run(self._publish, _text(head))

    def latest(self) -> Head | None:
        return _parse(self._run(self._latest, b""))

    def _run(self, command: list[str], text: bytes) -> bytes:
        try:
            done = subprocess.run(command, input=text, capture_output=True, timeout=self._timeout, check=True)
        except (OSError, subprocess.SubprocessError):
            raise LedgerConflict(
                "the anchor must answer, and its command failed. Nothing was acknowledged."
            ) from None
        return done.stdout


def forked() -> LedgerConflict:
    """Return the error for a ledger that does not contain what its anchor remembers."""
    return LedgerConflict(
        "the ledger must contain the head its anchor remembers, and it does not: it was set back or copied. "
        "Restore the newest file."
    )


def _text(head: Head) -> bytes:
    return b"%-120s\n" % json.dumps({"sequence": head.sequence, "digest": head.digest}).encode()


def _parse(text: bytes) -> Head | None:
    if not text.strip():
        return None
    try:
        facts = json.loads(text)
        return Head(int(facts["sequence"]), str(facts["digest"]))
    except (ValueError, KeyError, TypeError):
        raise LedgerConflict("the anchor must hold a head, and it holds something else.") from None


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
        """Return HMAC-SHA-256 of the head under the owner's key; empty without one."""
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
