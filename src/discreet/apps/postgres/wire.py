"""Messages of PostgreSQL's protocol 3: read within limits of length and time, and written.

Only lengths and types are looked at here; `message_loop.py` decides what a message means.
"""

import asyncio
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Payload: TypeAlias = bytes
Cell: TypeAlias = bytes | None

PROTOCOL = 196608  # 3.0
CANCEL, SSL, GSS = 80877102, 80877103, 80877104  # requests that come instead of a start-up message
SHORTEST_STARTUP, LONGEST_STARTUP = 8, 10_000
LONGEST_MESSAGE = 128 * 1024
LONGEST_SMALL = 4096  # of every message that carries no statement and no values
LARGE = b"QPB"
CLIENT_MESSAGES = b"BCDEFHPQSXpdcf"
CHUNK = 64 * 1024  # how much is written before waiting for a slow reader


class ProtocolError(Exception):
    """Bytes that are not the protocol, or too many of them: the connection cannot go on."""


class Gone(Exception):
    """A client that closed its end, or takes too long to read or to write."""


@dataclass
class Stream:
    """The two ends of a connection, with a limit on how long each step may take."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    body_s: float
    idle_s: float

    async def read(self, size: int, *, seconds: float) -> bytes:
        """Return exactly so many bytes."""
        try:
            async with asyncio.timeout(seconds):
                return await self.reader.readexactly(size)
        except (TimeoutError, asyncio.IncompleteReadError, OSError):
            raise Gone from None

    async def message(self) -> tuple[bytes, Payload]:
        """Return the type and the content of the next message."""
        kind = await self.read(1, seconds=self.idle_s)
        if kind not in CLIENT_MESSAGES:
            raise ProtocolError
        (length,) = struct.unpack("!i", await self.read(4, seconds=self.body_s))
        longest = LONGEST_MESSAGE if kind in LARGE else LONGEST_SMALL
        if not 4 <= length <= longest:
            raise ProtocolError
        return kind, await self.read(length - 4, seconds=self.body_s)

    async def send(self, *messages: bytes) -> None:
        """Write messages, waiting for the client to take them."""
        self.writer.write(b"".join(messages))
        await self.flush()

    async def send_all(self, messages: Iterable[bytes]) -> None:
        """Write many messages, never holding more than a part of them."""
        waiting: list[bytes] = []
        size = 0
        for message in messages:
            waiting.append(message)
            size += len(message)
            if size >= CHUNK:
                await self.send(*waiting)
                waiting, size = [], 0
        await self.send(*waiting)

    async def flush(self) -> None:
        """Wait until what is written fits the operating system's buffers again."""
        try:
            async with asyncio.timeout(self.body_s):
                await self.writer.drain()
        except (TimeoutError, OSError):
            self.writer.transport.abort()
            raise Gone from None


class Fields:
    """Reads a message's content from left to right; anything missing or left over is a protocol error."""

    def __init__(self, payload: Payload) -> None:
        self._payload, self._place = payload, 0

    def take(self, size: int) -> bytes:
        """Return the next bytes."""
        end = self._place + size
        if size < 0 or end > len(self._payload):
            raise ProtocolError
        found, self._place = self._payload[self._place : end], end
        return found

    def int16(self) -> int:
        """Return a number that is never negative in this protocol."""
        return int.from_bytes(self.take(2), "big")

    def int32(self) -> int:
        """Return a signed number."""
        return int.from_bytes(self.take(4), "big", signed=True)

    def oid(self) -> int:
        """Return an object's number."""
        return int.from_bytes(self.take(4), "big")

    def text(self) -> str:
        """Return a text that ends with NUL."""
        end = self._payload.find(b"\0", self._place)
        if end < 0:
            raise ProtocolError
        raw = self.take(end - self._place)
        self._place += 1
        try:
            return raw.decode()
        except UnicodeDecodeError:
            raise ProtocolError from None

    def cell(self) -> Cell:
        """Return a value with its length before it; None for NULL."""
        size = self.int32()
        return None if size == -1 else self.take(size)

    def end(self) -> None:
        """Check that nothing is left."""
        if self._place != len(self._payload):
            raise ProtocolError

    @property
    def rest(self) -> bytes:
        """All that is left."""
        return self.take(len(self._payload) - self._place)


def message(kind: bytes, payload: bytes = b"") -> bytes:
    """Return a message of the server.

    >>> message(b"Z", b"I")
    b'Z\\x00\\x00\\x00\\x05I'
    """
    return kind + struct.pack("!i", len(payload) + 4) + payload


def text(value: str) -> bytes:
    """Return a text that ends with NUL."""
    return value.replace("\0", " ").encode(errors="replace") + b"\0"


def authentication(code: int, payload: bytes = b"") -> bytes:
    """Return a request to authenticate, or the news that it is done (0)."""
    return message(b"R", struct.pack("!i", code) + payload)


def parameter_status(name: str, value: str) -> bytes:
    """Return a setting that clients follow."""
    return message(b"S", text(name) + text(value))


def ready(status: str) -> bytes:
    """Return that the server waits: I outside a transaction, T in one, E in one that failed."""
    return message(b"Z", status.encode())


def row_description(columns: Sequence[tuple[str, int, int, int]]) -> bytes:
    """Return the columns of a result: name, type, size of the type and format of each."""
    parts = [struct.pack("!h", len(columns))]
    parts.extend(
        text(name) + struct.pack("!ihIhih", 0, 0, oid, size, -1, code) for name, oid, size, code in columns
    )
    return message(b"T", b"".join(parts))


def data_row(cells: Sequence[Cell]) -> bytes:
    """Return one row."""
    parts = [b"\xff\xff\xff\xff" if cell is None else struct.pack("!i", len(cell)) + cell for cell in cells]
    return message(b"D", struct.pack("!h", len(cells)) + b"".join(parts))


def parameter_description(oids: Sequence[int]) -> bytes:
    """Return the types of a statement's parameters."""
    return message(b"t", struct.pack(f"!H{len(oids)}I", len(oids), *oids))


def complete(tag: str) -> bytes:
    """Return that a statement is done."""
    return message(b"C", text(tag))


def copy_out(columns: int) -> bytes:
    """Return that rows follow in the binary format of COPY."""
    return message(b"H", struct.pack(f"!bh{columns}h", 1, columns, *[1] * columns))


PARSE_COMPLETE, BIND_COMPLETE, CLOSE_COMPLETE = message(b"1"), message(b"2"), message(b"3")
EMPTY_QUERY, NO_DATA, SUSPENDED = message(b"I"), message(b"n"), message(b"s")
COPY_DONE = message(b"c")
COPY_HEADER, COPY_TRAILER = b"PGCOPY\n\xff\r\n\0" + b"\0" * 8, b"\xff\xff"
