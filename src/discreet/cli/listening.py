"""What the commands that serve have in common: packages that must be there, and a place to listen."""

import socket
from contextlib import ExitStack
from importlib import util

from discreet.errors import InvalidParameter

NEEDED = ("fastapi", "uvicorn", "jinja2", "markdown_it")


def check_installed(command: str) -> None:
    """Refuse in words where the server's packages are missing."""
    if any(util.find_spec(name) is None for name in NEEDED):
        raise InvalidParameter(
            f"{command} needs the server's packages. Install: pip install 'discreet[server]'."
        )


def listen(host: str, port: int) -> socket.socket:
    """Listen at once, so that whoever reads the address may connect to it."""
    with ExitStack() as stack:
        try:
            family, kind, _, _, where = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
            listening = stack.enter_context(socket.socket(family, kind))
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((where[0], port, *where[2:]))  # here a port beyond the last one is an error
            listening.listen(1024)
        except (OSError, OverflowError):
            raise InvalidParameter(
                f"port must be one that is free at {host}, got {port}.", parameter="port"
            ) from None
        stack.pop_all()  # it stays open: whoever called closes it
        return listening
