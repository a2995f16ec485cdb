"""Small curators over a ledger: the honest one, and one for each planted fault.

A service answers a question in steps (`ask` yields between them), so that a test can interleave and crash
them anywhere. The world outside remembers every draw of noise from the data and every byte that left.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

from discreet.errors import BudgetExceeded, InvalidParameter, LedgerConflict
from discreet.kernel.ledger import FileAnchor, Ledger, Ration, Request
from discreet.kernel.ledger.anchor import ChainGuard
from discreet.kernel.ledger.postgres import PostgresStore
from discreet.kernel.losses import ApproxDP
from servers.postgres import PostgresServer

BUDGET = ApproxDP(1, 1e-6)
RATION = Ration(least_price=Fraction(1, 10**18))


@dataclass(frozen=True)
class Question:
    """What is asked, for how much, and under which key."""

    text: str
    epsilon: Fraction
    delta: Fraction
    key: str
    analyst: str = "bob"


@dataclass
class World:
    """Everything that the data ever gave away."""

    draws: list[Question] = field(default_factory=list)
    released: dict[Question, set[bytes]] = field(default_factory=dict)
    shares: dict[str, Fraction] = field(default_factory=dict)  # the epsilon that is reserved for each holder
    charges: list[tuple[Question, bool]] = field(default_factory=list)  # and whether it was a holder's
    data_errors: bool = False

    def charge(self, question: Question) -> None:
        self.charges.append((question, question.analyst in self.shares))

    def charged(self, holder: str | None = None) -> Fraction:
        """What a holder was charged since it is one; without a name, all that was charged to no share."""
        whose = (each for each, held in self.charges if (each.analyst if held else None) == holder)
        return sum((question.epsilon for question in whose), Fraction(0))

    def draw(self, question: Question) -> bytes:
        self.draws.append(question)
        return b"draw %d" % len(self.draws)

    def release(self, question: Question, answer: bytes) -> None:
        self.released.setdefault(question, set()).add(answer)


class Honest:
    """The real ledger, in a file, with an anchor elsewhere; two processes use it."""

    def __init__(self, folder: Path) -> None:
        self._place, self._backup = self._make_place(folder), None
        self._anchor = FileAnchor(folder / "anchor")
        self._ledgers = [self._open(), self._open()]

    def _make_place(self, folder: Path) -> str:
        return str(folder / "bank.ledger")

    def _open(self) -> Ledger:
        return Ledger.open(self._place, dataset="bank", budget=BUDGET, anchors=[self._anchor], ration=RATION)

    def _save(self) -> object:
        """All that the store holds."""
        return Path(self._place).read_bytes()

    def _put_back(self, saved: Any) -> None:
        Path(self._place).write_bytes(saved)

    def ask(self, world: World, question: Question, process: int) -> Iterator[None]:
        ledger = self._ledgers[process]
        charge = ledger.charge(self._request(question))
        if charge.answer is not None:
            yield
            world.release(question, charge.answer)
            return
        world.charge(question)
        yield
        answer = world.draw(question)
        yield
        if world.data_errors:
            ledger.abandon(charge)
            return
        ledger.answer(charge, answer)
        yield
        world.release(question, answer)

    def _request(self, question: Question) -> Request:
        price = ApproxDP(question.epsilon, question.delta)
        return Request(loss=price, question=question.text, key=question.key, analyst=question.analyst)

    def reserve(self, world: World, analyst: str, epsilon: Fraction) -> None:
        self._ledgers[0].reserve(analyst, ApproxDP(epsilon, BUDGET.delta / 4), reason="a share")
        world.shares[analyst] = epsilon

    def left(self, analyst: str) -> Fraction:
        return self._ledgers[0].remaining_for(analyst).epsilon

    def crash(self, process: int) -> None:
        """End one process: the kernel drops its locks and files; then it starts again."""
        self._ledgers[process]._store.close()
        self._ledgers[process] = self._open()

    def failures(self, analyst: str) -> int:
        return self._ledgers[0].failures(analyst)

    def release_failures(self) -> None:
        with suppress(InvalidParameter):  # there was none
            self._ledgers[0].release_failures(reason="looked")

    def spent(self) -> tuple[Fraction, Fraction]:
        self._ledgers[0].verify()
        spent = self._ledgers[0].spent
        return spent.epsilon, spent.delta

    def stored(self, question: Question) -> bytes | None:
        return self._ledgers[0].find_answer(self._request(question))

    def copy(self) -> None:
        self._backup = self._save()

    def restore(self) -> None:
        """Put the copy back: refused if the ledger went on since; then the newest state returns."""
        if self._backup is None:
            return
        for ledger in self._ledgers:
            ledger.close()
        newest = self._save()
        self._put_back(self._backup)
        try:
            self._open().close()
        except LedgerConflict:
            self._put_back(newest)
        self._ledgers = [self._open(), self._open()]

    def close(self) -> None:
        for ledger in self._ledgers:
            ledger.close()


class HonestOnServer(Honest):
    """The same in PostgreSQL; a backup is the rows of all tables."""

    server: ClassVar[PostgresServer]
    empty: ClassVar[Any] = None  # the rows of a ledger that nothing has happened to
    TABLES = ("head", "entries", "datasets", "accounts", "charges", "failures", "keys")

    def _make_place(self, folder: Path) -> str:
        server = self.server
        place = f"postgresql:///postgres?host={server.folder}&port={server.port}&user=postgres&schema=machine"
        if self.empty is None:
            PostgresStore(place, guard=ChainGuard(), patience=30, create=True).close()
            type(self).empty = self._save()
        self._put_back(self.empty)
        return place

    def _save(self) -> object:
        with self.server.connect() as connection:
            return {
                table: connection.execute(f"SELECT * FROM machine.{table}").fetchall()
                for table in self.TABLES
            }

    def _put_back(self, saved: Any) -> None:
        with self.server.connect() as connection, connection.transaction():
            for table, rows in saved.items():
                connection.execute(f"DELETE FROM machine.{table}")
                for row in rows:
                    values = ", ".join(["%s"] * len(row))
                    connection.execute(f"INSERT INTO machine.{table} VALUES ({values})", row)


class Naive:
    """A durable account in plain words, right as it stands: what the planted faults are built on."""

    def __init__(self, folder: Path) -> None:
        self.epsilon = self.delta = Fraction(0)
        self.keys: set[str] = set()
        self.answers: dict[tuple[str, str, Fraction, Fraction], bytes] = {}
        self.shares: dict[str, Fraction] = {}  # what is left of each

    def check(self, question: Question) -> None:
        if self.epsilon + question.epsilon > BUDGET.epsilon or self.delta + question.delta > BUDGET.delta:
            raise BudgetExceeded("spent")

    def take(self, question: Question) -> None:
        self.check(question)
        if question.epsilon > self.left(question.analyst):
            raise BudgetExceeded("reserved")
        self.epsilon += question.epsilon
        self.delta += question.delta
        if question.analyst in self.shares:
            self.shares[question.analyst] -= question.epsilon

    def reserve(self, world: World, analyst: str, epsilon: Fraction) -> None:
        """Once for each: the plain model knows no changed shares."""
        if analyst in self.shares or epsilon > self.left(analyst):
            raise BudgetExceeded("reserved")
        self.shares[analyst] = world.shares[analyst] = epsilon

    def left(self, analyst: str) -> Fraction:
        if analyst in self.shares:
            return self.shares[analyst]
        return BUDGET.epsilon - self.epsilon - sum(self.shares.values(), Fraction(0))

    def store(self, question: Question, answer: bytes) -> None:
        self.answers.setdefault(self._name(question), answer)

    def stored(self, question: Question) -> bytes | None:
        return self.answers.get(self._name(question))

    def _name(self, question: Question) -> tuple[str, str, Fraction, Fraction]:
        return question.analyst, question.text, question.epsilon, question.delta

    def ask(self, world: World, question: Question, process: int) -> Iterator[None]:
        if (known := self.stored(question)) is not None:
            world.release(question, known)
            return
        if question.key in self.keys:
            raise LedgerConflict("running, or abandoned")
        self.keys.add(question.key)
        yield from self.answer(world, question)

    def answer(self, world: World, question: Question) -> Iterator[None]:
        """Charged first, stored before it leaves."""
        self.take(question)
        world.charge(question)
        yield
        answer = world.draw(question)
        self.store(question, answer)
        yield
        world.release(question, answer)

    def spent(self) -> tuple[Fraction, Fraction]:
        return self.epsilon, self.delta

    def failures(self, analyst: str) -> int:
        return 0

    def release_failures(self) -> None: ...
    def crash(self, process: int) -> None: ...
    def copy(self) -> None: ...
    def restore(self) -> None: ...
    def close(self) -> None: ...


class ChecksThenActs(Naive):
    def answer(self, world: World, question: Question) -> Iterator[None]:
        self.check(question)
        yield
        self.epsilon += question.epsilon
        self.delta += question.delta
        self.store(question, world.draw(question))
        world.release(question, self.stored(question))


class ChargesAfterExecuting(Naive):
    def answer(self, world: World, question: Question) -> Iterator[None]:
        answer = world.draw(question)
        yield
        self.take(question)
        self.store(question, answer)
        world.release(question, answer)


class RefundsOnError(Naive):
    def answer(self, world: World, question: Question) -> Iterator[None]:
        self.take(question)
        answer = world.draw(question)
        yield
        if world.data_errors:
            self.epsilon -= question.epsilon
            self.delta -= question.delta
            return
        self.store(question, answer)
        world.release(question, answer)


class TwoTransactions(Naive):
    def answer(self, world: World, question: Question) -> Iterator[None]:
        self.check(question)
        self.epsilon += question.epsilon
        yield
        self.delta += question.delta
        self.store(question, world.draw(question))
        world.release(question, self.stored(question))


class FloatSums(Naive):
    def take(self, question: Question) -> None:
        total = float(self.epsilon) + float(question.epsilon)
        deltas = float(self.delta) + float(question.delta)
        if total > 1.0 or deltas > 1e-6:
            raise BudgetExceeded("spent")
        self.epsilon, self.delta = Fraction(total), Fraction(deltas)


class DrainsShares(Naive):
    """Looks at the data set's account alone: what is reserved is anyone's."""

    def take(self, question: Question) -> None:
        self.check(question)
        self.epsilon += question.epsilon
        self.delta += question.delta


class SendsBeforeStoring(Naive):
    def answer(self, world: World, question: Question) -> Iterator[None]:
        self.take(question)
        answer = world.draw(question)
        world.release(question, answer)
        yield
        self.store(question, answer)


FAULTS = (
    ChecksThenActs,
    ChargesAfterExecuting,
    RefundsOnError,
    TwoTransactions,
    FloatSums,
    DrainsShares,
    SendsBeforeStoring,
)
