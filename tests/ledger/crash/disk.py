"""A disk that can lose power: what a trace of changes leaves behind at any point."""

import random
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

SECTOR = 512


@dataclass(frozen=True)
class Change:
    kind: str
    name: str
    offset: int
    data: bytes


def read_trace(path: Path) -> list[Change]:
    trace, place, changes = path.read_bytes(), 0, []
    while place < len(trace):
        kind = chr(trace[place])
        name_length, offset, length = struct.unpack_from("<Iqq", trace, place + 1)
        place += 21
        name = trace[place : place + name_length].decode()
        place += name_length
        data = trace[place : place + length] if kind == "W" else b""
        place += len(data)
        changes.append(Change(kind, name, offset, data))
    return changes


@dataclass
class File:
    """What is surely on disk, and the changes that may or may not be."""

    durable: bytes = b""
    pending: list[Change] = field(default_factory=list)
    is_entered: bool = False  # whether the folder's own entry is surely on disk


@dataclass
class Disk:
    files: dict[str, File] = field(default_factory=dict)
    acks: list[str] = field(default_factory=list)

    def apply(self, change: Change) -> None:
        if change.name == "acks":
            self.acks += change.data.decode().splitlines()
        elif change.kind == "D":
            for file in self.files.values():
                file.is_entered = True
        elif change.kind == "U":
            self.files.pop(change.name, None)
        elif change.kind == "S":
            file = self.files.setdefault(change.name, File())
            file.durable, file.pending = written(file.durable, file.pending), []
        else:
            self.files.setdefault(change.name, File()).pending.append(change)

    def images(self, choose: random.Random) -> Iterator[tuple[str, dict[str, bytes]]]:
        """What a reader may find: after the process died, and after the power went."""
        yield "killed", {name: written(file.durable, file.pending) for name, file in self.files.items()}
        yield "lost", {name: file.durable for name, file in self.files.items() if file.is_entered}
        yield (
            "torn",
            {
                name: written(file.durable, torn(file.pending, choose))
                for name, file in self.files.items()
                if file.is_entered or choose.random() < 0.5
            },
        )


def torn(pending: list[Change], choose: random.Random) -> list[Change]:
    """Some of the changes, some of them in part: sectors are written whole, in any order."""
    kept = []
    for change in pending:
        if change.kind != "W":
            kept += [change] * choose.randint(0, 1)
            continue
        for start in range(0, len(change.data), SECTOR):
            if choose.random() < 0.5:
                part = change.data[start : start + SECTOR]
                kept.append(Change("W", change.name, change.offset + start, part))
    return kept


def written(content: bytes, changes: list[Change]) -> bytes:
    image = bytearray(content)
    for change in changes:
        if change.kind == "T":
            image = image[: change.offset].ljust(change.offset, b"\0")
        elif change.kind == "W":
            end = change.offset + len(change.data)
            image = image.ljust(end, b"\0")
            image[change.offset : end] = change.data
    return bytes(image)
