"""What the server refuses by itself, beyond the errors of the library: constant words, nothing looked up."""

from collections.abc import Iterator
from contextlib import contextmanager

from discreet.errors import EngineFailure, InternalError, InvalidParameter, PolicyViolation, Unauthenticated
from discreet.ledger import failed


class NotFound(InvalidParameter):
    """Nothing of that name for this person: what does not exist and what is another's look the same."""

    code, status = "not_found", 404


class TooLarge(InvalidParameter):
    """A body beyond the limit."""

    code, status = "too_large", 413


class Busy(EngineFailure):
    """Too many requests, or too many questions at once."""

    code, status = "busy", 429


class Unreachable(EngineFailure):
    """An engine that could not be opened, before anything was charged."""


class Forbidden(PolicyViolation):
    """Something that only owners do."""


def unauthenticated() -> Unauthenticated:
    """One answer to every token that does not open the auth, and to none."""
    return Unauthenticated("a request must carry a valid token: Authorization: Bearer dp_...")


def not_found() -> NotFound:
    return NotFound("nothing of that name is here for you.")


def busy(after_s: int = 1) -> Busy:
    """Too much at once, and when there will be room; the time comes from deadlines, never from runs."""
    return Busy(
        "the server is asked too much at once. Ask again later; nothing was charged.",
        retry_after_s=after_s,
    )


def unreachable() -> Unreachable:
    return Unreachable("the engine could not be opened. Ask again later; nothing was charged.")


def too_large(limit: int) -> TooLarge:
    return TooLarge(f"a request's body must have at most {limit} bytes.")


def owners_only() -> Forbidden:
    return Forbidden("this is for owners.")


def broken() -> InternalError:
    """The one error of what nobody foresaw."""
    return InternalError("something broke inside. Nothing more is said here.")


def too_late() -> EngineFailure:
    """The one error of a question that was charged and has no answer when it is due, whatever the reason."""
    return failed()


@contextmanager
def after_the_charge() -> Iterator[None]:
    """Whatever breaks once a question was charged is that one error: nobody learns what, nor how late."""
    try:
        yield
    except Exception:  # noqa: BLE001  its words might quote the data
        raise too_late() from None
