"""Limits of the server: sizes, rates, and how many requests at once."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction

from discreet.apps.server.http_errors import busy
from discreet.apps.server.people import Person
from discreet.apps.server.records import Records, make_tables
from discreet.asking.policy import Budget
from discreet.errors import BudgetExceeded
from discreet.kernel.numerics import short_down


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The limits of one process. They are public and do not depend on the data."""

    body_bytes: int = 64 * 1024
    body_s: float = 15  # how long a body may take to arrive
    upload_bytes: int = 2 * 1024**3  # of a file of data that an owner sends
    question_characters: int = 20_000
    questions_in_a_list: int = 32
    token_per_s: float = 200
    address_per_s: float = 400
    waiting: int = 256  # questions that wait to be planned
    watches: int = 16  # open watches of one user
    watch_idle_s: float = 3600
    planners: int = 2
    runners: int = 8  # charged questions before their deadline, each with a process of its own
    connections: int = 200  # over the PostgreSQL protocol
    connections_of_an_address: int = 100
    stop_s: float = 30  # how long a stopping server waits for running questions


class Rate:
    """A token bucket for each name, refilled at a steady rate; it holds two seconds' worth, or `holds`."""

    def __init__(
        self,
        per_s: float,
        *,
        holds: float | None = None,
        most_names: int = 10_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._per_s, self._depth = per_s, max(1.0, 2 * per_s) if holds is None else holds
        self._most, self._clock = most_names, clock
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def allows(self, name: str) -> bool:
        """Take one from the bucket of this name, and return whether there was one.

        >>> now = [0.0]
        >>> rate = Rate(1, clock=lambda: now[0])
        >>> [rate.allows("x") for _ in range(3)]
        [True, True, False]
        >>> now[0] = 1.0
        >>> rate.allows("x")
        True
        """
        now = self._clock()
        with self._lock:
            level, since = self._buckets.pop(name, (self._depth, now))
            level = min(self._depth, level + (now - since) * self._per_s)
            allowed = level >= 1
            self._buckets[name] = (level - 1 if allowed else level, now)
            while len(self._buckets) > self._most:
                self._buckets.popitem(last=False)
        return allowed


# What one token may spend in a day, over all connections: tools repeat, prefetch and reconnect at will.
#
# It is counted here and not in the ledger, because it limits tokens and not the privacy loss: the ledger's
# budgets hold without it.

_TABLES = (
    "CREATE TABLE IF NOT EXISTS daily (token TEXT NOT NULL, dataset TEXT NOT NULL, day TEXT NOT NULL,"
    " measure TEXT NOT NULL, spent TEXT NOT NULL, PRIMARY KEY (token, dataset, day, measure))",
)
_WHICH = "token = ? AND dataset = ? AND day = ? AND measure = ?"
_ATTEMPTS = 100
MEASURES = ("epsilon", "delta", "rho", "mu")


class Daily:
    """The amounts that tokens spent today, exact; several processes may share them."""

    def __init__(self, records: Records) -> None:
        self._records = records
        make_tables(records, _TABLES)

    def take(self, person: Person, dataset: str, price: object, cap: Budget) -> str:
        """Count a price before it is charged, and return its day; raise if it does not fit the day's cap."""
        day, allowed = datetime.now(UTC).strftime("%Y-%m-%d"), dict(cap)
        taken: list[str] = []
        for measure in MEASURES:
            amount = Fraction(getattr(price, measure, 0))
            if not amount:
                continue
            if not self._add(
                (person.token, dataset, day, measure), amount, allowed.get(measure, Fraction(0))
            ):
                for earlier in taken:
                    self._add((person.token, dataset, day, earlier), -Fraction(getattr(price, earlier)), None)
                most = ", ".join(f"{name} {short_down(number)}" for name, number in cap)
                raise BudgetExceeded(
                    f"a token may spend at most {most} of this data set in a day (UTC), and this would be "
                    "more. Ask again tomorrow, or at a smaller price; what was answered before is free."
                )
            taken.append(measure)
        return day

    def untake(self, person: Person, dataset: str, price: object, day: str) -> None:
        """Take back a price that was not charged after all."""
        for measure in MEASURES:
            if amount := Fraction(getattr(price, measure, 0)):
                self._add((person.token, dataset, day, measure), -amount, None)

    def _add(self, place: tuple[str, ...], amount: Fraction, most: Fraction | None) -> bool:
        """Add to what was spent by compare-and-set; return False if it would exceed the most."""
        for _ in range(_ATTEMPTS):
            found = self._records.rows(f"SELECT spent FROM daily WHERE {_WHICH}", *place)  # noqa: S608  a constant
            before = Fraction(found[0][0]) if found else Fraction(0)
            if most is not None and before + amount > most:
                return False
            after = str(max(Fraction(0), before + amount))
            if found:
                changed = f"UPDATE daily SET spent = ? WHERE {_WHICH} AND spent = ?"  # noqa: S608  a constant
                if self._records.change(changed, after, *place, found[0][0]):
                    return True
            elif self._records.change("INSERT INTO daily VALUES (?, ?, ?, ?, ?)", *place, after):
                return True
        raise busy()
