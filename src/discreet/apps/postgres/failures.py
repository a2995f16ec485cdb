"""Errors in PostgreSQL's form: a code of five letters, and a message of ours, never of an engine's."""

from discreet.apps.postgres.wire import message, text
from discreet.apps.server.http_errors import Busy, NotFound, broken
from discreet.errors import (
    BudgetExceeded,
    DiscreetError,
    EngineFailure,
    EntropyFailure,
    Finished,
    InternalError,
    InvalidParameter,
    LedgerConflict,
    PolicyViolation,
    Rationed,
    Unauthenticated,
    UnsupportedQuery,
)


class Refused(Exception):
    """A refusal of this protocol's own, before anything is charged."""

    def __init__(self, state: str, message: str, hint: str = "", routine: str = "") -> None:
        super().__init__(message)
        self.state, self.message, self.hint = state, message, hint
        self.routine = routine  # drivers know some errors by the name of PostgreSQL's function


class Fatal(Refused):
    """A refusal that ends the connection."""


STATES: tuple[tuple[type[DiscreetError], str], ...] = (
    (NotFound, "3D000"),
    (Busy, "53300"),
    (InvalidParameter, "22023"),
    (PolicyViolation, "42501"),
    (BudgetExceeded, "53400"),
    (Rationed, "55000"),
    (LedgerConflict, "55000"),
    (Finished, "55000"),
    (Unauthenticated, "28P01"),
    (EngineFailure, "58000"),
    (EntropyFailure, "58000"),
    (InternalError, "XX000"),
)
REASONS = {
    "syntax": "42601",
    "several_statements": "42601",
    "not_select": "42601",
    "unknown_table": "42P01",
    "unknown_column": "42703",
    "ambiguous": "42702",
    "type": "42804",
}


def as_refused(error: BaseException) -> Refused:
    """Return any failure as one that may be sent; what is unexpected becomes one constant text."""
    if isinstance(error, Refused):
        return error
    if isinstance(error, UnsupportedQuery):
        return Refused(REASONS.get(str(error.fields.get("reason")), "0A000"), error.message)
    if isinstance(error, DiscreetError):
        state = next((state for kind, state in STATES if isinstance(error, kind)), "XX000")
        after = error.fields.get("retry_after_s")
        hint = f"There is room in about {after} s." if after else ""
        return Refused(state, error.message, hint)
    return Refused("XX000", broken().message)


def error_message(refused: Refused) -> bytes:
    """Return the error as the client reads it."""
    severity = "FATAL" if isinstance(refused, Fatal) else "ERROR"
    return message(b"E", _fields(severity, refused.state, refused.message, refused.hint, refused.routine))


def notice(said: str) -> bytes:
    """Return a notice: text that a client may show next to a result."""
    return message(b"N", _fields("NOTICE", "00000", said))


def _fields(severity: str, state: str, said: str, hint: str = "", routine: str = "") -> bytes:
    parts = (b"S", severity), (b"V", severity), (b"C", state), (b"M", said), (b"H", hint), (b"R", routine)
    return b"".join(name + text(value) for name, value in parts if value) + b"\0"
