"""SCRAM-SHA-256 verifiers: what is stored so that a token can be proved without being sent (RFC 5802, 7677).

A token has 256 random bits, so the number of iterations is the least that the standard allows.
"""

import hashlib
import hmac
from dataclasses import dataclass

from discreet.apps.server.records import Records, secret_of

ITERATIONS = 4096
SALT_BYTES = 16


@dataclass(frozen=True)
class Verifier:
    """What proves a token: it does not reveal the token, and cannot be used in its place."""

    stored_key: bytes
    server_key: bytes

    def to_text(self) -> str:
        return f"{self.stored_key.hex()}:{self.server_key.hex()}"

    @classmethod
    def from_text(cls, text: str) -> "Verifier":
        """Return the verifier that `to_text` wrote."""
        stored, _, server = text.partition(":")
        return cls(bytes.fromhex(stored), bytes.fromhex(server))

    def accepts(self, exchange: bytes, proof: bytes) -> bool:
        """Return whether a proof over the messages of an exchange was made with the token."""
        signature = mac(self.stored_key, exchange)
        key = bytes(one ^ other for one, other in zip(proof, signature, strict=False))
        return hmac.compare_digest(hashlib.sha256(key).digest(), self.stored_key)


def make_verifier(token: str, salt: bytes) -> Verifier:
    """Return the verifier of a token.

    >>> verifier = make_verifier("pencil", b"salt")
    >>> Verifier.from_text(verifier.to_text()) == verifier
    True
    """
    salted = hashlib.pbkdf2_hmac("sha256", token.encode(), salt, ITERATIONS)
    client_key = mac(salted, b"Client Key")
    return Verifier(hashlib.sha256(client_key).digest(), mac(salted, b"Server Key"))


def mac(key: bytes, text: bytes) -> bytes:
    """Return HMAC-SHA-256."""
    return hmac.digest(key, text, "sha256")


class Salts:
    """The salt of each name, known or not: derived from one secret, so that the two look the same."""

    def __init__(self, records: Records) -> None:
        self._secret = secret_of(records, "salts")

    def of(self, name: str) -> bytes:
        """Return the salt of a name."""
        return mac(self._secret, b"salt of " + name.encode())[:SALT_BYTES]

    def mock_verifier(self, name: str, number: int) -> Verifier:
        """Return a verifier that no token has."""
        seed = mac(self._secret, f"mock {number} of {name}".encode())
        return Verifier(mac(seed, b"stored"), mac(seed, b"server"))
