"""One SQLite transaction, as the protocol of a unit of work: every write is conditional."""

import sqlite3
from collections.abc import Iterator
from typing import Any

from discreet.accounting import NEVER, WIDTH, Limit, Total
from discreet.errors import LedgerConflict
from discreet.ledger.entry import Entry, Head
from discreet.ledger.store import AccountRow, ChargeRow, KeyRow, State

_ACCOUNTS = (
    "SELECT name, terms, main_limit, square_limit, delta_limit, main, square, delta, sequence FROM accounts"
)
_CHARGES = "SELECT id, dataset, analyst, question, owner, state, answer FROM charges"


class Tables:
    """Reads and conditional writes on one open transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._run = connection.execute

    def head(self) -> Head:
        return Head(*self._one("SELECT sequence, digest FROM head"))

    def seal(self) -> str:
        return str(self._one("SELECT seal FROM head")[0])

    def set_seal(self, seal: str) -> None:
        self._change("UPDATE head SET seal = ?", seal)

    def entry(self, sequence: int) -> Entry | None:
        row = self._run(
            "SELECT sequence, previous, body, digest FROM entries WHERE sequence = ?", (sequence,)
        ).fetchone()
        return None if row is None else Entry(*row)

    def entries(self) -> Iterator[Entry]:
        for row in self._run("SELECT sequence, previous, body, digest FROM entries ORDER BY sequence"):
            yield Entry(*row)

    def append(self, entry: Entry) -> None:
        self._change(
            "INSERT INTO entries VALUES (?, ?, ?, ?)",
            entry.sequence,
            entry.previous,
            entry.body,
            entry.digest,
        )
        self._change(
            "UPDATE head SET sequence = ?, digest = ? WHERE sequence = ? AND digest = ?",
            entry.sequence,
            entry.digest,
            entry.sequence - 1,
            entry.previous,
        )

    def datasets(self) -> dict[str, str]:
        return dict(self._run("SELECT name, declaration FROM datasets ORDER BY name"))

    def dataset(self, name: str) -> str | None:
        row = self._run("SELECT declaration FROM datasets WHERE name = ?", (name,)).fetchone()
        return None if row is None else row[0]

    def add_dataset(self, name: str, declaration: str) -> None:
        self._change("INSERT INTO datasets VALUES (?, ?)", name, declaration)

    def replace_dataset(self, name: str, before: str, after: str) -> None:
        self._change(
            "UPDATE datasets SET declaration = ? WHERE name = ? AND declaration = ?", after, name, before
        )

    def accounts(self) -> list[AccountRow]:
        return [_account(row) for row in self._run(_ACCOUNTS + " ORDER BY name")]

    def account(self, name: str) -> AccountRow | None:
        row = self._run(_ACCOUNTS + " WHERE name = ?", (name,)).fetchone()
        return None if row is None else _account(row)

    def open_account(self, row: AccountRow) -> None:
        self._change(
            "INSERT INTO accounts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            row.name,
            row.terms,
            *_texts(row.limit),
            *_texts(row.total),
            row.sequence,
        )

    def move_account(self, before: AccountRow, after: AccountRow) -> None:
        """Check and charge in one statement: the old total is the one seen, the new one keeps the limit."""
        main, square, delta = _texts(after.total)
        main_limit, square_limit, delta_limit = _texts(after.limit)
        self._change(
            "UPDATE accounts SET terms = ?, main_limit = ?, square_limit = ?, delta_limit = ?,"
            " main = ?, square = ?, delta = ?, sequence = ?"
            " WHERE name = ? AND terms = ? AND sequence = ? AND main = ? AND square = ? AND delta = ?"
            " AND ? <= ? AND (? <= ? OR ? <= ?)",
            *(after.terms, main_limit, square_limit, delta_limit),
            *(main, square, delta, after.sequence),
            *(before.name, before.terms, before.sequence, *_texts(before.total)),
            *(delta, delta_limit, main, main_limit, square, square_limit),
        )

    def charges(self) -> Iterator[ChargeRow]:
        for row in self._run(_CHARGES + " ORDER BY id"):
            yield ChargeRow(*row)

    def charge(self, charge: int) -> ChargeRow | None:
        return self._charge(" WHERE id = ?", charge)

    def answered(self, dataset: str, question: str) -> ChargeRow | None:
        return self._charge(
            " WHERE dataset = ? AND question = ? AND state = 'answered' AND question <> ''"
            " ORDER BY id LIMIT 1",
            dataset,
            question,
        )

    def running(self, dataset: str) -> list[ChargeRow]:
        rows = self._run(_CHARGES + " WHERE dataset = ? AND state = 'charged'", (dataset,))
        return [ChargeRow(*row) for row in rows]

    def add_charge(self, row: ChargeRow) -> None:
        self._change(
            "INSERT INTO charges VALUES (?, ?, ?, ?, ?, 'charged', NULL)",
            *(row.id, row.dataset, row.analyst, row.question, row.owner),
        )

    def settle(self, charge: int, state: State, answer: bytes | None) -> bool:
        """The one compare-and-set from charged to answered or abandoned; False if another was first."""
        changed = self._run(
            "UPDATE charges SET state = ?, answer = ? WHERE id = ? AND state = 'charged'",
            (state, answer, charge),
        )
        return changed.rowcount == 1

    def key(self, dataset: str, analyst: str, key: str) -> KeyRow | None:
        row = self._run(
            "SELECT * FROM keys WHERE dataset = ? AND analyst = ? AND key = ?", (dataset, analyst, key)
        ).fetchone()
        return None if row is None else KeyRow(*row)

    def add_key(self, row: KeyRow) -> None:
        self._change(
            "INSERT INTO keys VALUES (?, ?, ?, ?, ?)",
            *(row.dataset, row.analyst, row.key, row.request, row.charge),
        )

    def _charge(self, condition: str, *values: object) -> ChargeRow | None:
        row = self._run(_CHARGES + condition, values).fetchone()
        return None if row is None else ChargeRow(*row)

    def _one(self, statement: str) -> tuple[Any, ...]:
        row: tuple[Any, ...] | None = self._run(statement).fetchone()
        if row is None:
            raise LedgerConflict(
                "the ledger must have a head, and it has none. It was changed by another hand."
            )
        return row

    def _change(self, statement: str, *values: object) -> None:
        if self._run(statement, values).rowcount != 1:
            raise LedgerConflict("the ledger changed during a charge. Nothing was charged; ask again.")


def _texts(numbers: Total | Limit) -> tuple[str, str, str]:
    """Decimal texts of a fixed width; the limit that nothing keeps is empty and sorts before all."""
    main, square, delta = ("" if number == NEVER else f"{number:0{WIDTH}d}" for number in numbers)
    return main, square, delta


def _account(row: tuple[str, ...]) -> AccountRow:
    numbers = [NEVER if text == "" else int(text) for text in row[2:8]]
    return AccountRow(row[0], row[1], Limit(*numbers[:3]), Total(*numbers[3:]), int(row[8]))
