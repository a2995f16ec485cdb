"""What every command prints the same way."""

import json
import shutil
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager

from discreet.errors import DiscreetError


def report_error(error: DiscreetError, *, as_json: bool) -> None:
    """A sentence on standard error, or the one JSON shape on standard output."""
    if as_json:
        print(json.dumps(error.to_json()))
    else:
        print(f"error: {error.message}", file=sys.stderr)


def fitted(text: str) -> str:
    """Lines as wide as the terminal, broken between words; as they are where no terminal shows them."""
    if not sys.stdout.isatty():
        return text
    width = shutil.get_terminal_size().columns
    return "\n".join(
        textwrap.fill(line, width, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
        for line in text.splitlines()
    )


@contextmanager
def waiting(words: str) -> Iterator[None]:
    """A moving sign on the owner's terminal while something takes long; nothing anywhere else."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(words):
        yield
