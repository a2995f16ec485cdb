"""Approvals: questions above a price wait for an owner, who approves or denies them; each is used once."""

import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TypeAlias

from discreet.apps.server.http_errors import busy, not_found
from discreet.apps.server.people import Person, now
from discreet.apps.server.records import Records, make_tables
from discreet.asking.policy import Budget

MOST_WAITING = 32  # questions of one person, on the owner's page
LONGEST_REASON = 500
State: TypeAlias = Literal["waiting", "approved", "denied", "used"]

_TABLES = (
    "CREATE TABLE IF NOT EXISTS approvals (id TEXT PRIMARY KEY, dataset TEXT NOT NULL, person TEXT NOT NULL,"
    " digest TEXT NOT NULL, question TEXT NOT NULL, price TEXT NOT NULL, state TEXT NOT NULL,"
    " made TEXT NOT NULL, decided TEXT, decided_by TEXT, request TEXT)",
    "CREATE TABLE IF NOT EXISTS approval_reasons (approval TEXT NOT NULL, by_owner INTEGER NOT NULL,"
    " reason TEXT NOT NULL, PRIMARY KEY (approval, by_owner))",
)
_NAMES = ("id", "dataset", "person", "question", "price", "state", "made", "decided", "decided_by")


@dataclass(frozen=True)
class Approval:
    """One question that waits, or waited, for an owner's decision."""

    id: str
    dataset: str
    person: str
    question: str
    price: str  # JSON: a notion by name and exact numbers
    state: State
    made: str
    decided: str | None
    decided_by: str | None

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "price": json.loads(self.price)}


class RepeatedApproval(Approval):
    """An approval that an earlier attempt of the same request used. That attempt may be charged, so this one
    must not reopen it."""


class Approvals:
    """The questions that needed an owner's approval. An approval pays for nothing: it lets one ask."""

    def __init__(self, records: Records) -> None:
        self._records = records
        make_tables(records, _TABLES)

    def use(
        self, dataset: str, person: Person, question: str, price: Mapping[str, str], *, request: str | None
    ) -> Approval:
        """Use up an approval of exactly this question and price, and return it as used; without one, return
        an approval that waits for an owner.

        A retry with the same idempotency key finds the approval that its first attempt used: the ledger
        then decides.
        """
        digest = _digest(question, price)
        named = (dataset, person.name, digest)
        which = "dataset = ? AND person = ? AND digest = ?"
        for used in self._find(f"{which} AND state = 'used' AND request = ?", *named, request):
            return RepeatedApproval(**asdict(used))
        for approved in self._find(f"{which} AND state = 'approved'", *named):
            if self._move(approved, "used", request=request):
                return replace(approved, state="used")
        waiting = self._find("dataset = ? AND person = ? AND state = 'waiting'", dataset, person.name)
        for same in self._find(f"{which} AND state = 'waiting'", *named):
            return same
        if len(waiting) >= MOST_WAITING:
            raise busy()
        return self._add(dataset, person, question, price, digest)

    def reopen(self, used: Approval) -> None:
        """Allow an approval that was just used to be used again, because nothing was charged."""
        self._move(used, "approved", request=None)

    def keep_used(self, repeated: RepeatedApproval) -> None:
        """Mark the approval of a repeated request that was charged as used, though its first attempt may have
        reopened it meanwhile."""
        self._records.change(
            "UPDATE approvals SET state = 'used' WHERE id = ? AND state = 'approved'", repeated.id
        )

    def decide(self, dataset: str, approval: str, decision: State, *, owner: Person) -> Approval:
        """Approve or deny a waiting question; an earlier decision stays."""
        self._records.change(
            "UPDATE approvals SET state = ?, decided = ?, decided_by = ?"
            " WHERE id = ? AND dataset = ? AND state = 'waiting'",
            *(decision, now(), owner.name, approval, dataset),
        )
        found = self._find("id = ? AND dataset = ?", approval, dataset)
        if not found:
            raise not_found()
        return found[0]

    def give_reason(self, dataset: str, approval: str, person: Person, reason: str) -> None:
        """Keep why the asker needs an answer, or why an owner decided so; the first reason stays."""
        found = [each for each in self.seen_by(dataset, person) if each.id == approval]
        if not found:
            raise not_found()
        self._records.change(
            "INSERT INTO approval_reasons VALUES (?, ?, ?)",
            *(approval, int(person.is_owner and found[0].person != person.name), reason[:LONGEST_REASON]),
        )

    def reasons(self, approval: str) -> dict[str, str]:
        """Return the reasons that were given, by whose they are: `asker` and `owner`."""
        rows = self._records.rows(
            "SELECT by_owner, reason FROM approval_reasons WHERE approval = ?", approval
        )
        return {("asker", "owner")[by_owner]: reason for by_owner, reason in rows}

    def seen_by(self, dataset: str, person: Person) -> tuple[Approval, ...]:
        """Return all approvals of a data set for an owner, and an analyst's own otherwise, oldest first."""
        if person.is_owner:
            return self._find("dataset = ?", dataset)
        return self._find("dataset = ? AND person = ?", dataset, person.name)

    def _add(
        self, dataset: str, person: Person, question: str, price: Mapping[str, str], digest: str
    ) -> Approval:
        name = secrets.token_hex(8)
        self._records.change(
            "INSERT INTO approvals VALUES (?, ?, ?, ?, ?, ?, 'waiting', ?, NULL, NULL, NULL)",
            *(name, dataset, person.name, digest, question, json.dumps(dict(price)), now()),
        )
        return self._find("id = ?", name)[0]

    def _move(self, approval: Approval, after: State, *, request: str | None) -> bool:
        """Change the state by compare-and-set: of two simultaneous requests, one succeeds."""
        changed = self._records.change(
            "UPDATE approvals SET state = ?, request = ? WHERE id = ? AND state = ?",
            *(after, request, approval.id, approval.state),
        )
        return changed == 1

    def _find(self, condition: str, *values: object) -> tuple[Approval, ...]:
        rows = self._records.rows(
            f"SELECT {', '.join(_NAMES)} FROM approvals WHERE {condition} ORDER BY made, id",  # noqa: S608  constants
            *values,
        )
        return tuple(Approval(**dict(zip(_NAMES, row, strict=True))) for row in rows)


def needs_approval(limit: Budget | None, price: object) -> bool:
    """Return whether a price exceeds the limit in any number. A number that the limit omits must be 0.

    >>> from fractions import Fraction
    >>> from discreet.kernel.losses import ApproxDP, PureDP
    >>> limit = (("epsilon", Fraction(1, 2)),)
    >>> needs_approval(limit, PureDP(0.5)), needs_approval(limit, PureDP(0.6))
    (False, True)
    >>> needs_approval(limit, ApproxDP(0.5, 1e-12))  # the limit grants no delta
    True
    """
    if limit is None:
        return False
    allowed = dict(limit)
    names = ("epsilon", "delta", "rho", "mu")
    return any(getattr(price, name, 0) > allowed.get(name, 0) for name in names)


def _digest(question: str, price: Mapping[str, str]) -> str:
    return hashlib.sha256(json.dumps([question, dict(price)], sort_keys=True).encode()).hexdigest()
