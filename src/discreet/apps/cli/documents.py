"""Write the documentation site: `python -m discreet.apps.cli.documents FOLDER`.

It is made of docs/, the docstrings, the help of every command and the description of the REST API.

Tested by: tests/site/test_site.py
"""

import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cyclopts import App
from rich.console import Console

WIDTH = 92


def build_documentation() -> dict[str, bytes]:
    """Return every file of the documentation site, by its address."""
    from discreet.apps.site import build_site

    return build_site(commands=command_helps(), openapi=openapi())


def command_helps() -> dict[str, str]:
    """Return the help of each command, and of each command inside it, as text."""
    from discreet.apps.cli import build_app

    app = build_app(listing=True)
    return {" ".join(path): _help(app, path) for path in _paths(app)}


def _paths(app: App, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name in app:
        if not name.startswith("-"):
            yield (*before, name)
            yield from _paths(app[name], (*before, name))


def _help(app: App, path: tuple[str, ...]) -> str:
    shown = io.StringIO()
    app.help_print(list(path), console=Console(file=shown, width=WIDTH, color_system=None))
    return "\n".join(line.rstrip() for line in shown.getvalue().splitlines()).strip("\n")


def openapi() -> dict[str, Any]:
    """Return the description of the REST API; nothing is served for it."""
    from discreet.apps.server import describe_rest

    return describe_rest()


def write_site(folder: Path) -> int:
    """Write every file of the site into a folder; return how many bytes they are."""
    files = build_documentation()
    for address, content in files.items():
        place = folder / address
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    return sum(map(len, files.values()))


if __name__ == "__main__":
    print(f"{sys.argv[1]}: {write_site(Path(sys.argv[1])) / 1e6:.1f} MB")
