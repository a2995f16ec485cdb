"""Charges that end without an answer: counted, and rationed until the owner has looked.

A failure tells something that no noise covers (docs/theory/failures.md). So it is an entry of the chain,
written by the unit of work that ends the charge, before its error leaves; and an analyst who has used up the
allowance is charged nothing more until the owner releases it.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from discreet.errors import DiscreetError, EngineFailure, InvalidParameter, Rationed
from discreet.kernel.ledger.charging import abandon, append, end, now
from discreet.kernel.ledger.declaration import Declaration, Ration
from discreet.kernel.ledger.request import check_name, check_reason
from discreet.kernel.ledger.store import ChargeRow, FailureRow, Transaction

Cause: TypeAlias = Literal["failed", "unfinished"]  # it ended so; or its process did
Decision: TypeAlias = Literal["approved", "denied"]
DECISIONS = ("approved", "denied")


def failed() -> EngineFailure:
    """Return the one error of a question that was charged and has no answer, at first and ever after."""
    return EngineFailure("the question was charged and could not be answered in time. It is not run again.")


def fail(transaction: Transaction, row: ChargeRow, cause: Cause = "failed") -> None:
    """End a charge without an answer, and count it. Nothing is refunded."""
    end(transaction, row.id, "abandoned", None)
    facts = {"dataset": row.dataset, "analyst": row.analyst, "charge": row.id, "question": row.question}
    entry = append(transaction, {"kind": "failure", **facts, "cause": cause})
    transaction.add_failure(FailureRow(entry.sequence, row.dataset, row.analyst, row.id, row.question))


def end_the_dead(
    transaction: Transaction, rows: Sequence[ChargeRow], is_alive: Callable[[str], bool]
) -> None:
    """End and count the charges whose process is gone; one without a question is a watch."""
    for row in rows:
        if not is_alive(row.owner):
            if row.question:
                fail(transaction, row, "unfinished")
            else:
                abandon(transaction, row.id)


def left(failures: Sequence[FailureRow], allowed: Ration, analyst: str) -> int:
    """Return how many failures this analyst still has, of those that count in the data set.

    >>> left([], Ration(), "ann"), left([FailureRow(7, "bank", "ann", 5, "")], Ration(), "ann")
    (3, 2)
    """
    own = sum(each.analyst == analyst for each in failures)
    if len(failures) >= allowed.failures_in_all:
        return 0 if own else 1
    return max(0, allowed.failures - own)


def refusal(
    transaction: Transaction,
    declared: Declaration,
    analyst: str,
    questions: Collection[str],
    is_alive: Callable[[str], bool],
) -> DiscreetError | None:
    """Return why this analyst may not be charged now; None where the allowance permits it.

    It is returned, not raised: what is found dead on the way is kept.
    """
    if any(each.question in questions for each in transaction.failures(declared.dataset)):
        return failed()
    running = _running(transaction, declared, analyst)
    allowance = left(transaction.failures(declared.dataset), declared.allowed, analyst)
    if len(running) < allowance:
        return None
    end_the_dead(transaction, running, is_alive)
    failures = transaction.failures(declared.dataset)
    allowance = left(failures, declared.allowed, analyst)
    if allowance == 0:
        return _waits(sum(each.analyst == analyst for each in failures))
    return _at_once(allowance) if len(_running(transaction, declared, analyst)) >= allowance else None


def _running(transaction: Transaction, declared: Declaration, analyst: str) -> list[ChargeRow]:
    return [row for row in transaction.running(declared.dataset) if row.analyst == analyst]


def _waits(failures: int) -> Rationed:
    return Rationed(
        f"asking must wait until the owner has looked: too many questions failed after they were charged, "
        f"{failures} of them yours. The owner says so with `discreet ledger release`.",
        failures=failures,
    )


def _at_once(allowance: int) -> Rationed:
    return Rationed(
        f"at most {allowance} of your questions may run at once, as many as may still fail. Ask again when "
        "one of them has ended; nothing was charged.",
        state="running",
    )


# --- what the owner says of it ----------------------------------------------------------------------------


def count(transaction: Transaction, dataset: str, analyst: str | None = None) -> int:
    """Return how many failures count now: one analyst's, or all."""
    return sum(analyst in (None, each.analyst) for each in transaction.failures(dataset))


def by_analyst(transaction: Transaction, dataset: str) -> dict[str, int]:
    """Return how many failures of each analyst count now."""
    return dict(Counter(each.analyst for each in transaction.failures(dataset)))


def release(
    transaction: Transaction, dataset: str, reason: str, analyst: str | None, is_alive: Callable[[str], bool]
) -> int:
    """Count failures from zero again, one analyst's or all: an owner's entry. How many there were."""
    end_the_dead(transaction, transaction.running(dataset), is_alive)
    counted = [each for each in transaction.failures(dataset) if analyst in (None, each.analyst)]
    if not counted:
        raise InvalidParameter(
            "there must be a failure to release, and none is counted.", parameter="analyst"
        )
    facts = {
        "kind": "release",
        "dataset": dataset,
        "analyst": analyst,
        "failures": [each.id for each in counted],
    }
    entry = append(transaction, {**facts, "reason": check_reason(reason), "time": now()})
    for each in counted:
        transaction.release_failure(each.id, entry.sequence)
    return len(counted)


def decide(transaction: Transaction, dataset: str, facts: Mapping[str, Any], decision: Decision) -> None:
    """Enter an owner's decision on a question that waited for approval: who asked what, at which price,
    and who decided.
    """
    if decision not in DECISIONS:
        raise InvalidParameter("a decision must be 'approved' or 'denied'.", parameter="decision")
    for name in ("analyst", "by"):
        check_name(facts[name], name=name)
    append(
        transaction, {"kind": "decision", "dataset": dataset, **facts, "decision": decision, "time": now()}
    )
