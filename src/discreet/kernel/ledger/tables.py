"""One transaction of a database, as the protocol of a unit of work: every write is conditional.

Tested by: tests/ledger/test_sqlite.py, tests/ledger/test_commits.py
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeAlias

from discreet.errors import DiscreetError, LedgerConflict
from discreet.kernel.accounting import NEVER, WIDTH, Limit, Total
from discreet.kernel.ledger.entry import Entry, Head, readable
from discreet.kernel.ledger.store import AccountRow, ChargeRow, FailureRow, KeyRow, State

_ACCOUNTS = (
    "SELECT name, terms, main_limit, square_limit, delta_limit, main, square, delta, sequence FROM accounts"
)
_FAILURES = "SELECT id, dataset, analyst, charge, question, released FROM failures"
_CHARGES = "SELECT id, dataset, analyst, question, owner, state, answer FROM charges"


class Rows(Protocol):
    """What a statement gives."""

    @property
    def rowcount(self) -> int: ...
    def fetchone(self) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...


Run: TypeAlias = Callable[..., Rows]


class Tables:
    """Reads and conditional writes on one open transaction that has no other writer.

    `run` takes a statement with ? for its values; `scan` is for long results. The head is read
    once and written once, conditionally, at the end.
    """

    def __init__(self, run: Run, scan: Callable[[str], Iterable[Any]] | None = None) -> None:
        self._run, self._scan = run, scan or run
        self._kept: tuple[Head, str] | None = None  # the head and seal that the transaction found
        self._head: Head | None = None

    def head(self) -> Head:
        if self._head is None:
            self._head = self._found()[0]
        return self._head

    def seal(self) -> str:
        return self._found()[1]

    def _found(self) -> tuple[Head, str]:
        if self._kept is None:
            row = self._run("SELECT sequence, digest, seal FROM head").fetchone()
            if row is None:
                raise LedgerConflict(
                    "the ledger must have a head, and it has none. It was changed by another hand."
                )
            self._kept = Head(row[0], row[1]), row[2]
        return self._kept

    def write_head(self, seal: str) -> None:
        """Write where the chain now ends: once, after all entries, and only if it ended where it was
        found.
        """
        (before, _), after = self._found(), self.head()
        self._change(
            "UPDATE head SET sequence = ?, digest = ?, seal = ? WHERE sequence = ? AND digest = ?",
            *(after.sequence, after.digest, seal, before.sequence, before.digest),
        )

    def attempt(self, work: Callable[["Tables"], Any], *, alone: bool) -> tuple[Any, DiscreetError | None]:
        """Return a unit of work of its own: what it gives, or its error, and then nothing of it is left."""
        before = self.head()
        if not alone:
            self._run("SAVEPOINT work")
        try:
            result = work(self)
        except DiscreetError as error:
            self._run("ROLLBACK" if alone else "ROLLBACK TO work")
            self._head = before
            return None, error
        if not alone:
            self._run("RELEASE work")
        return result, None

    def entry(self, sequence: int) -> Entry | None:
        row = self._run(
            "SELECT sequence, previous, body, digest FROM entries WHERE sequence = ?", (sequence,)
        ).fetchone()
        return None if row is None else Entry(*row)

    def entries(self) -> Iterator[Entry]:
        for row in self._scan("SELECT sequence, previous, body, digest FROM entries ORDER BY sequence"):
            yield Entry(*row)

    def append(self, entry: Entry) -> None:
        if not entry.follows(self.head()):
            raise _changed()
        self._change(
            "INSERT INTO entries VALUES (?, ?, ?, ?)",
            entry.sequence,
            entry.previous,
            entry.body,
            entry.digest,
        )
        self._head = entry.head

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
        """Check and charge in one statement: the old total is the one seen, the new one keeps the limit.

        A new limit is the table's own to check: no row may hold a total above its limit.
        """
        total = main, square, delta = _texts(after.total)
        self._change(
            "UPDATE accounts SET terms = ?, main_limit = ?, square_limit = ?, delta_limit = ?,"
            " main = ?, square = ?, delta = ?, sequence = ?"
            " WHERE name = ? AND terms = ? AND sequence = ? AND main = ? AND square = ? AND delta = ?"
            " AND (terms <> ? OR (? <= delta_limit AND (? <= main_limit OR ? <= square_limit)))",
            *(after.terms, *_texts(after.limit), *total, after.sequence),
            *(before.name, before.terms, before.sequence, *_texts(before.total)),
            *(after.terms, delta, main, square),
        )

    def charges(self) -> Iterator[ChargeRow]:
        for row in self._scan(_CHARGES + " ORDER BY id"):
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
        """Return the one compare-and-set from charged to answered or abandoned; False if another was
        first.
        """
        changed = self._run(
            "UPDATE charges SET state = ?, answer = ? WHERE id = ? AND state = 'charged'",
            (state, answer, charge),
        )
        return changed.rowcount == 1

    def failures(self, dataset: str | None = None) -> list[FailureRow]:
        """Return those of a data set that still count; without a name, all there ever were."""
        if dataset is None:
            return [FailureRow(*row) for row in self._run(_FAILURES + " ORDER BY id")]
        counted = self._run(_FAILURES + " WHERE dataset = ? AND released = 0 ORDER BY id", (dataset,))
        return [FailureRow(*row) for row in counted]

    def add_failure(self, row: FailureRow) -> None:
        self._change(
            "INSERT INTO failures VALUES (?, ?, ?, ?, ?, 0)",
            *(row.id, row.dataset, row.analyst, row.charge, row.question),
        )

    def release_failure(self, failure: int, released: int) -> None:
        self._change("UPDATE failures SET released = ? WHERE id = ? AND released = 0", released, failure)

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

    def _change(self, statement: str, *values: object) -> None:
        if self._run(statement, values).rowcount != 1:
            raise _changed()


def _changed() -> LedgerConflict:
    return LedgerConflict("the ledger changed during a charge. Nothing was charged; ask again.")


def _texts(numbers: Total | Limit) -> tuple[str, str, str]:
    """Return decimal texts of a fixed width; the limit that nothing keeps is empty and sorts before all."""
    main, square, delta = ("" if number == NEVER else f"{number:0{WIDTH}d}" for number in numbers)
    return main, square, delta


def _account(row: tuple[str, ...]) -> AccountRow:
    with readable():
        numbers = [NEVER if text == "" else int(text) for text in row[2:8]]
        return AccountRow(row[0], row[1], Limit(*numbers[:3]), Total(*numbers[3:]), int(row[8]))
