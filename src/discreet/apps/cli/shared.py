"""Helpers that the commands share: printing, waiting, and listening on a port."""

import json
import shutil
import socket
import sys
import textwrap
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import util
from typing import Annotated, TypeAlias

from cyclopts import Parameter

from discreet.errors import DiscreetError, InvalidParameter

Flag: TypeAlias = Annotated[bool, Parameter(negative="")]
NEEDED = ("fastapi", "uvicorn", "jinja2", "markdown_it")


def report_error(error: DiscreetError, *, as_json: bool) -> None:
    """Print a sentence on standard error, or JSON on standard output."""
    if as_json:
        print(json.dumps(error.to_json()))
    else:
        print(f"error: {error.message}", file=sys.stderr)


def fitted(text: str) -> str:
    """Wrap lines to the width of the terminal; leave them as they are without one."""
    if not sys.stdout.isatty():
        return text
    width = shutil.get_terminal_size().columns
    return "\n".join(
        textwrap.fill(line, width, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
        for line in text.splitlines()
    )


@contextmanager
def waiting(text: str) -> Iterator[None]:
    """Show a spinner on a terminal while the block runs; print nothing elsewhere."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield


def check_installed(command: str) -> None:
    """Raise with the remedy if the server's packages are missing."""
    if any(util.find_spec(name) is None for name in NEEDED):
        raise InvalidParameter(
            f"{command} needs the server's packages. Install: pip install 'discreet[server]'."
        )


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket, so that clients may connect as soon as the address is printed."""
    with ExitStack() as stack:
        try:
            family, kind, _, _, where = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
            listening = stack.enter_context(socket.socket(family, kind))
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((where[0], port, *where[2:]))  # raises for a port number that is too large
            listening.listen(1024)
        except (OSError, OverflowError):
            raise InvalidParameter(
                f"port must be one that is free at {host}, got {port}.", parameter="port"
            ) from None
        stack.pop_all()  # keep it open: the caller closes it
        return listening
