"""What every command prints the same way."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from discreet.errors import DiscreetError


def report_error(error: DiscreetError, *, as_json: bool) -> None:
    """A sentence on standard error, or the one JSON shape on standard output."""
    if as_json:
        print(json.dumps(error.to_json()))
    else:
        print(f"error: {error.message}", file=sys.stderr)


@contextmanager
def waiting(words: str) -> Iterator[None]:
    """A moving sign on the owner's terminal while something takes long; nothing anywhere else."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(words):
        yield
