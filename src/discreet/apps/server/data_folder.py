"""The folder of a server: files of data, a policy for each data set, one ledger and the users of all.

Owners open data sets in it from their browser. All of them share one ledger, so that the same columns under
a second name open no second budget unless the owner says that these are other people.

Tested by: tests/server/pages/test_setup_page.py
"""

import asyncio
import os
import re
import secrets
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from discreet.apps.server.http_errors import not_found, too_large
from discreet.asking.policy import change_setting
from discreet.errors import InvalidParameter

Setting: TypeAlias = tuple[tuple[str, ...], str, Any]  # section, name, value
LEDGER, PEOPLE = "folder.ledger", "folder.people"
DATA = re.compile(r"\w[\w .()-]{0,100}\.(?i:csv|tsv|jsonl|ndjson|parquet)(\.gz)?")
LONGEST = 200  # bytes of a file's name; systems take 255


class DataFolder:
    """A folder that only its owner may read; it is made if it is not there."""

    def __init__(self, place: str | Path) -> None:
        self.place = Path(place)
        with _readable(self.place):
            self.place.mkdir(mode=0o700, parents=True, exist_ok=True)

    @property
    def people(self) -> Path:
        """Where users are stored."""
        return self.place / PEOPLE

    def policies(self) -> list[Path]:
        """Return the policies of all data sets, by name."""
        return sorted(path for path in self.place.glob("*.toml") if path.is_file())

    def files(self) -> list[str]:
        """Return the names of the files of data."""
        with _readable(self.place):
            every = sorted(path.name for path in self.place.iterdir() if path.is_file())
        return [name for name in every if DATA.fullmatch(name)]

    def file(self, name: str) -> Path:
        """Return where a file of data is, or raise."""
        if name not in self.files():
            raise not_found()
        return self.place / name

    async def receive(self, name: str, content: AsyncIterator[bytes], *, most: int) -> None:
        """Keep a file that an owner sends, whole or not at all; none is replaced."""
        if not DATA.fullmatch(name) or len(name.encode()) > LONGEST:
            raise InvalidParameter(
                "a file must be .csv, .tsv, .jsonl or .parquet, its name letters, digits and spaces, a few.",
                parameter="file",
            )
        self._check_new(self.place / name)
        part = self.place / f".{secrets.token_hex(8)}.part"
        try:
            with _readable(self.place):
                kept, size = await asyncio.to_thread(open_new, part), 0
                try:
                    async for piece in content:
                        size += len(piece)
                        if size > most:
                            raise too_large(most)
                        await asyncio.to_thread(kept.write, piece)  # no disk holds up what others are due
                finally:
                    await asyncio.to_thread(close_on_disk, kept)
                self._check_new(self.place / name)
                part.rename(self.place / name)
        finally:
            part.unlink(missing_ok=True)

    def add_policy(self, name: str, text: str) -> Path:
        """Write the policy of a new data set."""
        path = self.place / f"{name}.toml"
        with _readable(self.place):
            try:
                with _new_file(path) as kept:
                    kept.write(text.encode())
            except FileExistsError:
                raise InvalidParameter("id must be new, and there is a policy of this name.") from None
        return path

    @staticmethod
    def _check_new(path: Path) -> None:
        if path.exists():
            raise InvalidParameter("a file must have a new name, and there is one of this name.")


@dataclass(frozen=True)
class PolicyFile:
    """A policy file that an owner changes from their browser."""

    path: Path

    def read(self) -> str:
        """Return its text."""
        with _readable(self.path):
            return self.path.read_text(encoding="utf-8")

    def with_settings(self, changes: Iterable[Setting]) -> str:
        """Return its text with these settings changed: section, name and value each."""
        text = self.read()
        for section, name, value in changes:
            text = change_setting(text, section, name, value)
        return text

    def write(self, text: str) -> None:
        """Replace the file, whole or not at all."""
        part = self.path.with_name(f".{secrets.token_hex(8)}.part")
        with _readable(self.path):
            try:
                with _new_file(part) as kept:
                    kept.write(text.encode())
                part.chmod(self.path.stat().st_mode & 0o777)
                part.replace(self.path)
            finally:
                part.unlink(missing_ok=True)


@contextmanager
def _readable(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError:
        raise InvalidParameter(f"{place.name!r} must be readable and writable by the server.") from None


@contextmanager
def _new_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file that was not there and that only its owner may read; it is on disk at the end."""
    file = open_new(path)
    try:
        yield file
    finally:
        close_on_disk(file)


def open_new(path: Path) -> BinaryIO:
    """Open a file that was not there and that only its owner may read."""
    handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    return os.fdopen(handle, "wb")


def close_on_disk(file: BinaryIO) -> None:
    """Close a file once what was written is on disk."""
    with file:
        file.flush()
        os.fsync(file.fileno())
