"""The documentation under /docs: built once, by another process, when it is first asked for.

Building takes seconds of processor time, which the process that holds the ledger has for questions alone.

Tested by: tests/server/test_documentation.py
"""

import asyncio
import sys
import tempfile
from pathlib import Path

from fastapi import APIRouter, Response
from fastapi.responses import RedirectResponse

from discreet.apps.server.http_errors import broken, not_found

# The command line writes the site, because its own help is on it.
BUILDER = (sys.executable, "-I", "-m", "discreet.apps.cli.documents")
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
FOR_A_DAY = {"cache-control": "public, max-age=86400"}


class Documentation:
    """The site's files, by address."""

    def __init__(self) -> None:
        self._files: dict[str, bytes] | None = None
        self._building = asyncio.Lock()

    async def find(self, address: str) -> Response:
        """Return a file of the site."""
        files = self._files if self._files is not None else await self._build()
        if address not in files:
            raise not_found()
        return Response(files[address], media_type=KINDS[Path(address).suffix], headers=FOR_A_DAY)

    async def _build(self) -> dict[str, bytes]:
        async with self._building:
            if self._files is None:
                self._files = await run_builder()
            return self._files


async def run_builder() -> dict[str, bytes]:
    """Build the site in another process, and return its files."""
    with tempfile.TemporaryDirectory(prefix="discreet-docs-") as folder:
        quiet = asyncio.subprocess.DEVNULL
        made = await asyncio.create_subprocess_exec(*BUILDER, folder, stdout=quiet, stderr=quiet, stdin=quiet)
        if await made.wait() != 0:
            raise broken()
        return await asyncio.to_thread(_read, Path(folder))


def _read(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def router() -> APIRouter:
    """Return the routes of the documentation, and of the addresses that theory pages had."""
    routes = APIRouter(include_in_schema=False)
    site = Documentation()

    @routes.get("/docs")
    @routes.get("/docs/")
    def start() -> Response:
        return RedirectResponse("/docs/index.html")

    @routes.get("/docs/{address:path}")
    async def page(address: str) -> Response:
        return await site.find(address)

    @routes.get("/theory")
    def theory() -> Response:
        return RedirectResponse("/docs/theory/index.html")

    return routes
