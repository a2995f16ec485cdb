"""A stage for invented data: the whole stack, from file to ledger, in a folder that is thrown away.

Tested by: tests/auditing/test_replay.py
"""

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any, Self

from discreet.apps.auditing.datasets import Invented
from discreet.apps.auditing.frozen import Call, FrozenCurator
from discreet.apps.auditing.outcomes import canonical, shape_of
from discreet.asking.curator import Curator
from discreet.asking.dry_run import complete
from discreet.asking.engines.sql import SQL_TYPES
from discreet.asking.planning import Plan, QuestionLike, named_price
from discreet.asking.policy import LedgerPlace, Policy, PublicTable, Table
from discreet.asking.policy.budget import Budget
from discreet.errors import InvalidParameter

ENGINES = ("duckdb", "memory")
NEARLY_ONE = Fraction(2**20 - 1, 2**20)


class Stage:
    """Curators of invented data sets under one policy, each opened once, with a ledger of its own.

    The budgets are those of the policy, `asks` times over; its own ledger, anchors and keys stay untouched.
    Answers are not shared between analysts, so that everyone who asks gets a new one.
    """

    def __init__(self, policy: Policy, *, engine: str = "duckdb", asks: int = 1) -> None:
        if engine not in ENGINES:
            raise InvalidParameter(
                f"engine must be one of {', '.join(ENGINES)}, got {engine!r}.", parameter="engine"
            )
        self.policy = _staged(complete(policy), asks)
        self._engine = engine
        self._folder = tempfile.TemporaryDirectory(prefix="discreet-audit-", dir=_fast_folder())
        self._numbers = count(1)
        self._frames: dict[Invented, Mapping[str, object]] = {}
        self._open: list[Curator] = []

    def frozen(self, data: Invented) -> FrozenCurator:
        """A curator of a data set whose noise is frozen, with a new ledger."""
        curator = FrozenCurator(
            self.policy, ledger=self._path("ledger"), engine=self._engine, frames=self._frame(data)
        )
        self._open.append(curator)
        return curator

    def curator(self, data: Invented) -> Curator:
        """A curator of a data set as users have it, with a new ledger."""
        curator = Curator(
            self.policy, ledger=self._path("ledger"), engine=self._engine, frames=self._frame(data)
        )
        self._open.append(curator)
        return curator

    def _frame(self, data: Invented) -> Mapping[str, object]:
        if data not in self._frames:
            self._frames[data] = data.rows if self._engine == "memory" else self._write(data)
        return self._frames[data]

    def _write(self, data: Invented) -> Mapping[str, object]:
        """A DuckDB file: it keeps NaN, infinities and missing values apart, as no text file does."""
        import duckdb

        path = self._path("duckdb")
        every: tuple[Table | PublicTable, ...] = (*self.policy.tables, *self.policy.public)
        with duckdb.connect(path) as connection:
            for number, table in enumerate(every):
                names = [f'"{column.name.replace(chr(34), chr(34) * 2)}"' for column in table.columns]
                typed = ", ".join(
                    f"{name} {SQL_TYPES[column.type]}"
                    for name, column in zip(names, table.columns, strict=True)
                )
                connection.execute(f'CREATE TABLE "t{number}" ({typed})')
                rows = [[row.get(column.name) for column in table.columns] for row in data.rows[table.name]]
                if rows:
                    marks = ", ".join("?" * len(names))
                    connection.executemany(f'INSERT INTO "t{number}" VALUES ({marks})', rows)  # noqa: S608  our own names
        return {table.name: f"{path}#t{number}" for number, table in enumerate(every)}

    def _path(self, kind: str) -> str:
        return str(Path(self._folder.name) / f"{next(self._numbers)}.{kind}")

    def close(self) -> None:
        """Close every curator and remove the folder."""
        for curator in self._open:
            curator.close()
        self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _fast_folder() -> str | None:
    """A folder in memory, where there is one: invented ledgers are as durable as any, but need not last."""
    shared = Path("/dev/shm")  # noqa: S108  a private folder is made inside
    return str(shared) if os.access(shared, os.W_OK) else None


def _staged(policy: Policy, asks: int) -> Policy:
    return replace(
        policy,
        budget=_widened(policy.budget, asks),
        per_analyst=policy.per_analyst and _widened(policy.per_analyst, asks),
        per_question=policy.per_question and _widened(policy.per_question, asks),
        share_answers=False,
        ledger=LedgerPlace(),
    )


def _widened(budget: Budget, asks: int) -> Budget:
    """The budget many times over; delta stays below 1."""
    return tuple(
        (name, max(number, min(number * asks, NEARLY_ONE)) if name == "delta" else number * asks)
        for name, number in budget
    )


# All that an analyst can see of a question, written down; and where two such records differ.

SHOWN = 60  # characters on either side of a difference


@dataclass(frozen=True)
class Asking:
    """A question with its terms, who asks it, and the salt that contributions are bounded by."""

    question: QuestionLike
    terms: Mapping[str, Any]
    analyst: str
    salt: int


@dataclass(frozen=True)
class Seen:
    """What was visible, part by part; what mechanisms were given; what was charged."""

    visible: dict[str, str]
    calls: list[Call]
    costs: list[tuple[str | None, str | None]]

    @property
    def answered(self) -> bool:
        """Whether there was an answer."""
        return "the answer" in self.visible

    def faults(self, plan: Plan) -> Iterator[str]:
        """What is wrong by itself, whatever the neighbour shows."""
        words = [call.word for call in self.calls]
        if len(set(words)) < len(words):
            yield "the same random words are used twice"
        again = self.visible.get("asking again")
        if again is not None and again != self.visible["the answer"]:
            yield "asking again gives another answer"
        if again is not None and len(self.costs) != 1:
            yield f"asking twice is charged {len(self.costs)} times"
        if self.answered and not any(_covers(plan, cost) for cost in self.costs):
            yield "less is charged than the price"


def _covers(plan: Plan, cost: tuple[str | None, str | None]) -> bool:
    """Whether the price was charged; where the account has a better rule for the loss, it decides."""
    price = named_price(plan.policy, plan.price)
    if price is None:
        return True
    return Fraction(cost[0] or 0) >= price.amount and Fraction(cost[1] or 0) >= price.failure


def look(curator: FrozenCurator, asking: Asking, *, shown: frozenset[Any]) -> Seen:
    """Ask twice, the second time for free, and write down all there is to see."""
    curator.start(salt=asking.salt, shown=shown)
    before = len(curator.history)
    analyst = curator.for_analyst(asking.analyst)
    visible: dict[str, str] = {}
    try:
        visible["the plan"] = str(analyst.explain(asking.question, **asking.terms))
        visible |= _read(analyst.ask(asking.question, **asking.terms))
        visible["asking again"] = canonical(list(analyst.ask(asking.question, **asking.terms).rows))
    except Exception as raised:  # noqa: BLE001  an analyst sees any exception
        visible["the error"] = canonical(raised)
    records = [record.to_json() for record in curator.history[before:]]
    for record in records:
        del record["time"]  # written before any data is read
    visible["the ledger"] = json.dumps(records)
    visible["what remains"] = str(curator.remaining)
    visible["the SQL that ran"] = "; ".join(curator.watched.statements)
    costs = [(record["cost"], record["delta"]) for record in records if record["kind"] == "charge"]
    return Seen(visible, list(curator.watched.calls), costs)


def _read(answer: Any) -> dict[str, str]:
    rows = list(answer.rows)
    return {
        "the answer": canonical(rows),
        "the types of the answer": shape_of(rows),
        "the columns": canonical(answer.columns),
        "the intervals": canonical(list(answer.intervals)),
        "the answer in print": str(answer),
        "the receipt": canonical(answer.receipt.to_json()),
    }


def differences(first: Mapping[str, str], second: Mapping[str, str]) -> list[str]:
    """The parts that are not alike, with the places where they part."""
    found = []
    for part in {**first, **second}:
        left, right = first.get(part, "nothing"), second.get(part, "nothing")
        if left != right:
            at = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), None)
            start = max(0, (min(len(left), len(right)) if at is None else at) - SHOWN // 2)
            here, there = left[start : start + SHOWN], right[start : start + SHOWN]
            found.append(f"{part} depends on the data: {here!r} or {there!r}")
    return found
