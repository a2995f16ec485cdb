"""A stage for invented data: the whole stack, from file to ledger, in a folder that is thrown away.

Tested by: tests/auditing/test_replay.py
"""

import os
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Self

from discreet.apps.auditing.datasets import Invented
from discreet.apps.auditing.frozen import FrozenCurator
from discreet.asking.curator import Curator
from discreet.asking.dry_run import complete
from discreet.asking.engines.sql import SQL_TYPES
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
