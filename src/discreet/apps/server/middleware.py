"""Middleware of the server: security headers, and one constant response to every unexpected failure."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

from discreet.apps.server.http_errors import as_failure, broken

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
