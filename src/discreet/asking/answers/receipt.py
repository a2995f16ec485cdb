"""Receipt: what was done and what it cost; nothing of the data.

Tested by: tests/answers/test_signed.py
"""

import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib import metadata
from typing import Any, NamedTuple

from discreet.asking.answers.shown import Shown
from discreet.asking.planning import BookPlan, Plan
from discreet.errors import InvalidParameter, LedgerConflict
from discreet.kernel.numerics import lines_html, short_down, short_up

FREE = "from the ledger, free"  # how each interface describes an answer that was stored before
_NUMBERS = ("epsilon", "delta", "rho", "mu")


@dataclass(frozen=True, repr=False)
class Receipt:
    """What was done and what it cost; nothing of the data. Readable and shareable.

    `charged` says whether it was paid for now; an answer that was stored before comes from the ledger, free.
    """

    facts: Mapping[str, Any]
    charged: bool = True

    @classmethod
    def of(cls, plan: Plan | BookPlan, *, charge: int, remaining: object, failures: int = 0) -> "Receipt":
        """Return the receipt of a plan that was charged and run."""
        facts = {
            "format": 1,
            "discreet": metadata.version("discreet"),
            "charge": charge,
            "dataset": plan.policy.id,
            "version": plan.policy.version,
            "policy": plan.policy.digest,
            "question": plan.text,
            "plan": plan.sentences(),
            "price": _numbers(plan.price, short_up),
            "loss": plan.loss.to_json(),
            "remaining": _numbers(remaining, short_down),
            "failures": failures,
        }
        return cls(facts)

    def in_words(self, fact: str) -> str:
        """Return the price, or what remains, as text: epsilon 0.5, delta 1e-06."""
        return ", ".join(f"{name} {self.facts[fact][name]}" for name in _NUMBERS if name in self.facts[fact])

    def to_json(self) -> dict[str, Any]:
        """Return the facts, for programs; and whether they were charged for now."""
        return {**self.facts, "charged": self.charged}

    def __repr__(self) -> str:
        price, remaining = self.in_words("price"), self.in_words("remaining")
        return (
            f"<Receipt {self.facts['charge']} of {self.facts['dataset']!r}: {price}; remaining {remaining}>"
        )

    def _repr_html_(self) -> str:
        title, *lines = str(self).splitlines()
        return lines_html(title, lines)

    def __str__(self) -> str:
        spent, left = self.in_words("price"), self.in_words("remaining")
        lines = [
            f"Receipt {self.facts['charge']} for data set {self.facts['dataset']!r}, "
            f"version {self.facts['version']!r}",
            *self.facts["plan"],
            f"Charged: {spent}. Remaining: {left}."
            if self.charged
            else f"Given {FREE}. Charged before: {spent}. Remaining then: {left}.",
        ]
        if failures := self.facts.get("failures"):
            lines.append(f"Questions that failed before it, and count: {failures}.")
        return "\n".join(lines)


def _numbers(notion: object, short: Callable[[Fraction], str]) -> dict[str, str]:
    """Return a notion's numbers, short and on the safe side, by name."""
    return {name: short(getattr(notion, name)) for name in _NUMBERS if hasattr(notion, name)}


# Signed receipts: anyone who holds one can check who asked what, when and at what price, by a signature.
#
# A receipt names the rows by a digest with a salt, which travels with the rows only: rows are often a few
# bits and could be guessed from a plain digest, so a receipt alone says nothing of them (Ed25519: RFC
# 8032).

ALGORITHM = "ed25519"
_TITLE = b"discreet receipt\n"  # what else the key might ever sign begins with something else


class Checked(NamedTuple):
    """A receipt whose signature is right: what it says, whose key signed it, and whether rows were seen."""

    receipt: Mapping[str, Any]
    key: str
    has_rows: bool


class Signer:
    """Signs receipts with a secret of 32 bytes, from which the salts of rows are derived as well."""

    def __init__(self, secret: bytes) -> None:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        self._secret = secret
        self._key = Ed25519PrivateKey.from_private_bytes(hmac.digest(secret, b"sign", "sha256"))

    def __repr__(self) -> str:
        return f"<Signer {self.key[:16]}>"

    @property
    def key(self) -> str:
        """The public key, as hexadecimal text."""
        return self._key.public_key().public_bytes_raw().hex()

    def salt(self, dataset: str, charge: int, part: int) -> str:
        """Return the salt of one answer's rows."""
        named = json.dumps([dataset, charge, part]).encode()
        return hmac.digest(self._secret, b"salt" + named, "sha256").hex()

    def sign(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        """Return a document that holds these facts and their signature."""
        value = self._key.sign(_bytes(facts)).hex()
        signature = {"algorithm": ALGORITHM, "key": self.key, "value": value}
        return {"receipt": dict(facts), "signature": signature}


def rows_digest(shown: Mapping[str, Any], salt: str) -> str:
    """Return the digest by which a receipt names rows: of columns, rows, intervals and confidence."""
    named = {name: shown[name] for name in ("columns", "rows", "intervals", "confidence")}
    return hmac.digest(bytes.fromhex(salt), _canonical(named), "sha256").hex()


def digest_of_rows(shown: Shown, salt: str) -> str:
    """Return the same of a table."""
    return rows_digest(json.loads(json.dumps(shown.to_json())), salt)


def check_receipt(document: object, *, key: str | None = None) -> Checked:
    """Check a signed receipt, alone or with the rows that it came with; raise if anything differs.

    `key` is the public key of the house that is trusted; without it the receipt's own key is used, and the
    caller must compare that.
    """
    try:
        receipt, signature = document["receipt"], document["signature"]  # type: ignore[index]
        named, value = str(signature["key"]), bytes.fromhex(signature["value"])
        trusted = bytes.fromhex(key if key is not None else named)
        known = signature["algorithm"] == ALGORITHM and isinstance(receipt, dict) and len(trusted) == 32
        signed = _bytes(receipt)
    except (KeyError, TypeError, ValueError, RecursionError):
        known = False
    if not known:
        raise InvalidParameter(
            "a receipt must be the JSON that an answer's page gives, with its signature, got another text."
        )
    if trusted.hex() != named:
        raise LedgerConflict("the receipt must be signed by the key that is trusted, got another key.")
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(trusted).verify(value, signed)
    except (InvalidSignature, ValueError):
        raise LedgerConflict("the receipt must be as it was signed, and it is not.") from None
    return Checked(receipt, trusted.hex(), _check_rows(document, receipt))


def _check_rows(document: Any, receipt: Mapping[str, Any]) -> bool:
    if "rows" not in document:
        return False
    if "salt" not in document:
        raise InvalidParameter("rows must come with their salt, as the answer's JSON has it, got none.")
    try:
        found = rows_digest(document, document["salt"])
    except (KeyError, TypeError, ValueError, RecursionError):
        found = ""
    if not hmac.compare_digest(found, str(receipt.get("rows"))):
        raise LedgerConflict("the rows must be those that the receipt was signed for, and they are not.")
    return True


def fingerprint(key: str) -> str:
    """Return a key as people compare it.

    >>> fingerprint("00" * 32)
    '6668 7aad f862 bd77'
    """
    digest = hashlib.sha256(bytes.fromhex(key)).hexdigest()[:16]
    return " ".join(digest[start : start + 4] for start in range(0, 16, 4))


def _bytes(facts: Mapping[str, Any]) -> bytes:
    return _TITLE + _canonical(facts)


def _canonical(facts: Mapping[str, Any]) -> bytes:
    return json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()
