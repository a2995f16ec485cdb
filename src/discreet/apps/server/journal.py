"""The request journal: who did what, a JSON line each; no data, no secret, no question text, no duration."""

import hashlib
import json
import os
import sys
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from pathlib import Path
from typing import Any, TextIO, TypeAlias

from fastapi import Request

from discreet.apps.server.http_errors import as_failure, broken
from discreet.apps.server.people import now

# Middleware of the server: security headers, and one constant response to every unexpected failure.

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]

CONTENT_SECURITY_POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self';"
    " connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
SECURE = "max-age=31536000"  # over TLS: browsers use TLS only, for a year
STATIC = "/static/"  # files of the package, the same for everyone: they may be cached


class SecurityHeaders:
    """Adds the headers to every response, and no-store everywhere except under /static/."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        added = dict(HEADERS)
        if not scope["path"].startswith(STATIC):
            added["cache-control"] = "no-store"
        if scope.get("scheme") == "https":
            added["strict-transport-security"] = SECURE

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                kept = [(name, value) for name, value in message["headers"] if name.decode() not in added]
                message["headers"] = kept + [(name.encode(), text.encode()) for name, text in added.items()]
            await send(message)

        await self._app(scope, receive, send_with_headers)


class HideInternalErrors:
    """Answers every unexpected failure with one constant error, and keeps its message out of all logs."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        begun = False

        async def send_and_see(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, send_and_see)
        except Exception:  # noqa: BLE001  its message might quote the data
            if scope["type"] == "http" and not begun:
                await as_failure(broken())(scope, receive, send)


METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")  # clients may make up others
NOTED = "discreet"  # where a request's scope keeps the facts that its route adds


class Journal:
    """Appends lines to a file that only its owner may read, or to a stream; counts them by kind."""

    def __init__(self, place: str | Path | TextIO | None = None) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[tuple[str, str, int]] = Counter()
        if isinstance(place, str | Path):
            file = os.open(place, os.O_CREAT | os.O_APPEND | os.O_WRONLY | os.O_CLOEXEC, 0o600)
            self._stream: TextIO | None = os.fdopen(file, "a", encoding="utf-8", buffering=1)
        else:
            self._stream = place

    def write(self, method: str, route: str, status: int, **facts: Any) -> None:
        """Write one request, by its route's pattern: the path itself may contain names."""
        line = {"time": now(), "method": method, "route": route, "status": status, **facts}
        with self._lock:
            self._counts[method, route, status] += 1
            if self._stream is not None:
                self._stream.write(json.dumps(line) + "\n")
                self._stream.flush()

    def counts(self) -> dict[tuple[str, str, int], int]:
        """Return the number of requests by method, route and status."""
        with self._lock:
            return dict(self._counts)

    def close(self) -> None:
        """Close the file, but not the standard streams."""
        if self._stream is not None and self._stream not in (sys.stdout, sys.stderr):
            self._stream.close()


class JournalRequests:
    """Middleware that writes one line for each request, when its response begins."""

    def __init__(self, app: App, *, journal: Journal) -> None:
        self._app, self._journal = app, journal

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        noted: dict[str, Any] = {}
        scope[NOTED] = noted

        async def send_and_note(message: Message) -> None:
            if message["type"] == "http.response.start":
                route = getattr(scope.get("route"), "path", "")
                method = scope["method"] if scope["method"] in METHODS else "OTHER"
                self._journal.write(method, route, message["status"], **noted)
            await send(message)

        await self._app(scope, receive, send_and_note)


def note(request: Request, **facts: Any) -> None:
    """Add facts to this request's line of the journal."""
    request.scope.get(NOTED, {}).update(facts)


def digest_of(questions: Iterable[str]) -> str:
    """Return the digest that the journal writes instead of the questions' text."""
    return hashlib.sha256("; ".join(questions).encode()).hexdigest()
