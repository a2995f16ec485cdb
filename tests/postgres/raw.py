"""A client that says exactly what a test wants, message by message."""

import base64
import hashlib
import hmac
import secrets
import socket
import struct
import time
from typing import Any

SSL_REQUEST = struct.pack("!ii", 8, 80877103)


def message(kind: bytes, payload: bytes = b"") -> bytes:
    return kind + struct.pack("!i", len(payload) + 4) + payload


def text(value: str) -> bytes:
    return value.encode() + b"\0"


def query(sql: str) -> bytes:
    return message(b"Q", text(sql))


def parse(sql: str, name: str = "", types: tuple[int, ...] = ()) -> bytes:
    return message(b"P", text(name) + text(sql) + struct.pack(f"!h{len(types)}I", len(types), *types))


def bind(portal: str = "", statement: str = "", values: tuple[bytes, ...] = ()) -> bytes:
    cells = b"".join(struct.pack("!i", len(each)) + each for each in values)
    head = text(portal) + text(statement) + struct.pack("!hh", 0, len(values))
    return message(b"B", head + cells + struct.pack("!h", 0))


def describe(kind: bytes, name: str = "") -> bytes:
    return message(b"D", kind + text(name))


def execute(portal: str = "", rows: int = 0) -> bytes:
    return message(b"E", text(portal) + struct.pack("!i", rows))


SYNC = message(b"S")


def startup(user: str, database: str = "town", **more: str) -> bytes:
    pairs = {"user": user, "database": database, **more}
    body = struct.pack("!i", 196608) + b"".join(text(n) + text(v) for n, v in pairs.items()) + b"\0"
    return struct.pack("!i", len(body) + 4) + body


class Raw:
    """A socket, and the protocol's messages on it."""

    def __init__(self, port: int, *, timeout: float = 60) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self.key: tuple[int, int] = (0, 0)
        self.sent = 0.0

    def __enter__(self) -> "Raw":
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, *messages: bytes) -> "Raw":
        self.sent = time.monotonic()  # before it leaves: a reply cannot seem quicker than it was
        self.socket.sendall(b"".join(messages))
        return self

    def read(self, size: int) -> bytes:
        found = b""
        while len(found) < size:
            part = self.socket.recv(size - len(found))
            if not part:
                raise EOFError
            found += part
        return found

    def message(self) -> tuple[bytes, bytes]:
        kind = self.read(1)
        return kind, self.read(struct.unpack("!i", self.read(4))[0] - 4)

    def until(self, *kinds: bytes) -> list[tuple[bytes, bytes]]:
        """Messages up to the first of one of these kinds, or up to the end."""
        found = []
        try:
            while not found or found[-1][0] not in kinds:
                found.append(self.message())
        except (EOFError, ConnectionError):
            pass
        return found

    def ask(self, *messages: bytes) -> list[tuple[bytes, bytes]]:
        return self.send(*messages).until(b"Z")

    def log_in(self, user: str, token: str, **more: str) -> "Raw":
        """SCRAM-SHA-256, as RFC 7677 has it."""
        self.send(startup(user, **more))
        for kind, payload in self.prove(token).until(b"Z", b"E"):
            if kind == b"E":
                raise PermissionError(error_of(payload)["M"])
            if kind == b"K":
                self.key = struct.unpack("!iI", payload)
        return self

    def prove(self, token: str, user: str = "") -> "Raw":
        kind, payload = self.message()
        if kind != b"R" or payload[:4] != struct.pack("!i", 10):
            raise PermissionError(kind, payload)
        nonce = base64.b64encode(secrets.token_bytes(18))
        bare = b"n=" + user.encode() + b",r=" + nonce
        first = b"n,," + bare
        self.send(message(b"p", text("SCRAM-SHA-256") + struct.pack("!i", len(first)) + first))
        kind, payload = self.message()
        challenge = payload[4:]
        parts = dict(each.split(b"=", 1) for each in challenge.split(b","))
        salted = hashlib.pbkdf2_hmac(
            "sha256", token.encode(), base64.b64decode(parts[b"s"]), int(parts[b"i"])
        )
        client = hmac.digest(salted, b"Client Key", "sha256")
        without = b"c=biws,r=" + parts[b"r"]
        exchange = b",".join((bare, challenge, without))
        signature = hmac.digest(hashlib.sha256(client).digest(), exchange, "sha256")
        proof = bytes(a ^ b for a, b in zip(client, signature, strict=True))
        return self.send(message(b"p", without + b",p=" + base64.b64encode(proof)))


def error_of(payload: bytes) -> dict[str, str]:
    return {part[:1].decode(): part[1:].decode() for part in payload.split(b"\0") if part}


def kinds(messages: list[tuple[bytes, bytes]]) -> str:
    return b"".join(kind for kind, _ in messages).decode()


def errors(messages: list[tuple[bytes, bytes]]) -> list[dict[str, str]]:
    return [error_of(payload) for kind, payload in messages if kind == b"E"]


def rows(messages: list[tuple[bytes, bytes]]) -> list[tuple[Any, ...]]:
    """The rows of text."""
    found = []
    for kind, payload in messages:
        if kind != b"D":
            continue
        place, cells = 2, []
        for _ in range(struct.unpack("!h", payload[:2])[0]):
            (size,) = struct.unpack("!i", payload[place : place + 4])
            place += 4
            cells.append(None if size < 0 else payload[place : place + size].decode())
            place += max(0, size)
        found.append(tuple(cells))
    return found
