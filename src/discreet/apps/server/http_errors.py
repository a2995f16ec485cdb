"""Errors over HTTP: those that the server itself raises, and the one JSON shape that every error has.

The shape is {"error": {"code", "message", "fields"}}. Messages of the server are constants: they never
depend on data, and do not distinguish what does not exist from what belongs to someone else.
"""

import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from discreet.errors import (
    DiscreetError,
    EngineFailure,
    InternalError,
    InvalidParameter,
    PolicyViolation,
    Unauthenticated,
)
from discreet.kernel.ledger import failed

NO_ACCESS = "Not found, or you do not have access to it."
_PROTOCOL = {
    404: ("not_found", NO_ACCESS),
    405: ("method_not_allowed", "This path does not support that method."),
}


class NotFound(InvalidParameter):
    """A name that does not exist, or that this user may not see: the two look the same."""

    code, status = "not_found", 404


class TooLarge(InvalidParameter):
    """A request body above the limit."""

    code, status = "too_large", 413


class Busy(EngineFailure):
    """Too many requests, or too many questions at once."""

    code, status = "busy", 429


class Unreachable(EngineFailure):
    """An engine that could not be opened, before anything was charged."""


class Forbidden(PolicyViolation):
    """An action that only owners may take."""


def unauthenticated() -> Unauthenticated:
    """Return the one error for a missing token and for every token that is not valid."""
    return Unauthenticated("a request must carry a valid token: Authorization: Bearer dp_...")


def not_found() -> NotFound:
    """Return the error for a name that does not exist or is not this user's to see."""
    return NotFound(NO_ACCESS)


def busy(after_s: int = 1) -> Busy:
    """Return the error for too many requests. `after_s` comes from deadlines, never from actual runs."""
    return Busy("The server is busy. Try again later; nothing was charged.", retry_after_s=after_s)


def unreachable() -> Unreachable:
    """Return the error for an engine that could not be opened."""
    return Unreachable("The engine could not be opened. Try again later; nothing was charged.")


def too_large(limit: int) -> TooLarge:
    """Return the error for a request body of more than `limit` bytes."""
    return TooLarge(f"a request's body must have at most {limit} bytes.")


def owners_only() -> Forbidden:
    """Return the error for an action that only owners may take."""
    return Forbidden("Only owners may do this.")


def broken() -> InternalError:
    """Return the one error for every unexpected failure."""
    return InternalError("Internal server error. Details are withheld because they could reveal data.")


def too_late() -> EngineFailure:
    """Return the one error for a charged question without an answer at its deadline, whatever the reason."""
    return failed()


@contextmanager
def after_the_charge() -> Iterator[None]:
    """Turn every failure after the charge into that one error: it reveals neither the cause nor the time."""
    try:
        yield
    except Exception:  # noqa: BLE001  the original message might quote the data
        raise too_late() from None


def as_json(content: Any, *, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return a JSON response. Numbers are written as Python writes them; infinities and NaN become null."""
    write = partial(json.dumps, separators=(",", ":"), allow_nan=False)
    try:
        body = write(content)
    except ValueError:  # rare: checking every time would cost more than writing
        body = write(_walk(content, _finite))
    return Response(body, status_code=status, headers=headers, media_type="application/json")


def as_failure(error: DiscreetError) -> Response:
    """Return the response for an error: its code, message and fields, and nothing else."""
    headers = {"www-authenticate": "Bearer"} if error.status == 401 else None
    if error.status == 429:
        headers = {"retry-after": str(error.fields.get("retry_after_s", 1))}
    facts: Any = error.to_json()["error"]
    body = {"error": {**facts, "fields": _walk(error.fields, _writable)}}
    return as_json(body, status=error.status, headers=headers)


def handle_failures(app: FastAPI, *, show: Callable[[DiscreetError], Response] = as_failure) -> None:
    """Install the handlers of all errors; `show` renders an unknown address for a browser."""

    @app.exception_handler(DiscreetError)
    async def _ours(_: Request, error: DiscreetError) -> Response:
        return as_failure(error)

    @app.exception_handler(HTTPException)
    async def _of_the_protocol(request: Request, error: HTTPException) -> Response:
        if error.status_code == 404 and _is_browser(request):
            return show(not_found())
        unknown = ("bad_request", "The server does not support this request.")
        code, message = _PROTOCOL.get(error.status_code, unknown)
        body = {"error": {"code": code, "message": message, "fields": {}}}
        return as_json(body, status=error.status_code, headers=dict(error.headers or {}))

    @app.exception_handler(RequestValidationError)
    async def _of_a_parameter(_: Request, __: RequestValidationError) -> Response:
        return as_failure(InvalidParameter("a header or path must be as the API describes it."))


def _is_browser(request: Request) -> bool:
    return "text/html" in request.headers.get("accept", "") and not request.url.path.startswith("/api")


def _walk(value: Any, leaf: Callable[[Any], Any]) -> Any:
    """Return the same JSON with every leaf replaced."""
    if isinstance(value, dict):
        return {str(name): _walk(each, leaf) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_walk(each, leaf) for each in value]
    return leaf(value)


def _finite(value: object) -> Any:
    """Replace infinities and NaN by None: a reply that is due must not fail because of them."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _writable(value: object) -> Any:
    """Replace what JSON cannot hold by its text."""
    return value if value is None or isinstance(value, bool | int | str) else str(value)
