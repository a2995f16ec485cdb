"""Errors of every kind in the one shape: {"error": {"code", "message", "fields"}}."""

import json
import math
from collections.abc import Callable
from functools import partial
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from discreet.errors import DiscreetError, InvalidParameter
from discreet.server.middleware import App, Message, Receive, Send
from discreet.server.refusals import broken, not_found

_CODES = {404: "not_found", 405: "method_not_allowed"}
_MESSAGES = {404: "nothing of that name is here for you.", 405: "this path has no such method."}


def as_json(content: Any, *, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A JSON response; numbers are written as Python writes them, and null where JSON has none for one."""
    write = partial(json.dumps, separators=(",", ":"), allow_nan=False)
    try:
        body = write(content)
    except ValueError:  # rare: looking for it every time would cost more than writing
        body = write(_finite(content))
    return Response(body, status_code=status, headers=headers, media_type="application/json")


def as_failure(error: DiscreetError) -> Response:
    """The response that stands for an error; nothing but its code, its words and its fields."""
    headers = {"www-authenticate": "Bearer"} if error.status == 401 else None
    if error.status == 429:
        headers = {"retry-after": str(error.fields.get("retry_after_s", 1))}
    return as_json(_plain(error), status=error.status, headers=headers)


def handle_failures(app: FastAPI, *, show: Callable[[DiscreetError], Response] = as_failure) -> None:
    """Give every error its one shape; to a browser an address that leads nowhere is shown as a page."""

    @app.exception_handler(DiscreetError)
    async def _ours(_: Request, error: DiscreetError) -> Response:
        return as_failure(error)

    @app.exception_handler(HTTPException)
    async def _of_the_protocol(request: Request, error: HTTPException) -> Response:
        if error.status_code == 404 and _is_for_a_reader(request):
            return show(not_found())
        code = _CODES.get(error.status_code, "bad_request")
        message = _MESSAGES.get(error.status_code, "the request must be one that the server knows.")
        body = {"error": {"code": code, "message": message, "fields": {}}}
        return as_json(body, status=error.status_code, headers=dict(error.headers or {}))

    @app.exception_handler(RequestValidationError)
    async def _of_a_parameter(_: Request, __: RequestValidationError) -> Response:
        return as_failure(InvalidParameter("a header or path must be as the API describes it."))


def _is_for_a_reader(request: Request) -> bool:
    return "text/html" in request.headers.get("accept", "") and not request.url.path.startswith("/api")


class HideInternalErrors:
    """Middleware: what nobody foresaw becomes one constant failure, and its words are seen by no log."""

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
        except Exception:  # noqa: BLE001  its words might quote the data
            if scope["type"] == "http" and not begun:
                await as_failure(broken())(scope, receive, send)


def _plain(error: DiscreetError) -> dict[str, Any]:
    facts: dict[str, Any] = error.to_json()
    return {"error": {**facts["error"], "fields": _writable(error.fields)}}


def _finite(value: Any) -> Any:
    """The same without infinities and NaN: a reply that is due must not fail for want of a word."""
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _writable(value: object) -> Any:
    """What JSON can hold; anything else as its text."""
    if isinstance(value, dict):
        return {str(name): _writable(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_writable(each) for each in value]
    return value if value is None or isinstance(value, bool | int | str) else str(value)
