"""Every exception of discreet, on one page.

    DiscreetError
    ├── InvalidParameter   a number or option that no mechanism, loss or budget may take (also a ValueError)
    ├── UnsupportedQuery   a question outside the closed list of allowed nodes
    ├── PolicyViolation    a question or an opening that the owner's policy forbids
    ├── BudgetExceeded     a charge that does not fit its accounts
    ├── Rationed           too many charges that failed: asking waits until the owner has looked
    ├── LedgerConflict     a ledger that does not agree with what was asked of it
    ├── Finished           an interactive mechanism that has used up its answers
    ├── Unauthenticated    a request without a valid token
    ├── EngineFailure      an engine that could not run its plan (a constant text: nothing of the data)
    ├── EntropyFailure     no secure randomness, so no answer
    └── InternalError      a broken invariant of discreet itself

Each has a stable `code`, an HTTP `status` and a process `exit_code`. A message reads
"<subject> must <rule>, got <value>. <remedy>." and never carries a value from the data.
"""

from typing import ClassVar


class DiscreetError(Exception):
    """The root: everything discreet raises on purpose."""

    code: ClassVar[str] = "internal"
    status: ClassVar[int] = 500
    exit_code: ClassVar[int] = 70

    def __init__(self, message: str, **fields: object) -> None:
        super().__init__(message)
        self.message = message
        self.fields = fields

    def to_json(self) -> dict[str, object]:
        """The one JSON shape of an error.

        >>> Finished("the stream is used up").to_json()
        {'error': {'code': 'finished', 'message': 'the stream is used up', 'fields': {}}}
        """
        return {"error": {"code": self.code, "message": self.message, "fields": self.fields}}


class InvalidParameter(DiscreetError, ValueError):
    """A parameter that must be refused before anything is charged or read."""

    code, status, exit_code = "invalid_parameter", 400, 2


class UnsupportedQuery(DiscreetError):
    """A question that is not made of allowed nodes."""

    code, status, exit_code = "unsupported_query", 422, 3


class PolicyViolation(DiscreetError):
    """Something the owner's policy does not allow."""

    code, status, exit_code = "policy_violation", 403, 4


class BudgetExceeded(DiscreetError):
    """A charge that would overspend an account."""

    code, status, exit_code = "budget_exceeded", 409, 5


class Rationed(DiscreetError):
    """An analyst whose allowance of failed questions is used up, or under way."""

    code, status, exit_code = "rationed", 403, 12


class LedgerConflict(DiscreetError):
    """A ledger that contradicts the request: another budget, a broken chain, a reused key."""

    code, status, exit_code = "ledger_conflict", 409, 6


class Finished(DiscreetError):
    """An interactive mechanism was asked after its last answer."""

    code, status, exit_code = "finished", 409, 7


class Unauthenticated(DiscreetError):
    """A request without a valid token."""

    code, status, exit_code = "unauthenticated", 401, 8


class EngineFailure(DiscreetError):
    """An engine failed; its own words are withheld, because they may quote the data."""

    code, status, exit_code = "engine_failure", 503, 9


class EntropyFailure(DiscreetError):
    """The operating system gave no secure randomness, so nothing was drawn."""

    code, status, exit_code = "entropy_failure", 503, 10


class InternalError(DiscreetError):
    """An invariant of discreet itself does not hold; nothing is released."""
