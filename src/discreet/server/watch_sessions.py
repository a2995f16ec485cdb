"""Open watches: each belongs to one person and to this process; lost with it, and charged all the same."""

import asyncio
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from discreet.errors import LedgerConflict
from discreet.release import Watch
from discreet.server.limits import Limits
from discreet.server.people import Person
from discreet.server.refusals import busy, not_found

MOST_ROUNDS = 200  # that a session remembers for its person to see


@dataclass(frozen=True)
class Round:
    """One question of a watch, and what the watch said."""

    question: str
    above: bool

    def to_json(self) -> dict[str, Any]:
        return {"sql": self.question, "above": self.above}


@dataclass
class Session:
    """A watch, whose it is, and when it was last asked. Its questions come one at a time."""

    person: Person
    watch: Watch
    terms: Mapping[str, Any]
    key: str | None
    used: float
    ended: bool = False  # set when the last answer is given, which is later than when it is known
    rounds: list[Round] = field(default_factory=list)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def note(self, question: str, *, above: bool) -> None:
        """Remember an answer that was given."""
        self.rounds.append(Round(question, above))
        del self.rounds[:-MOST_ROUNDS]
        self.ended = self.watch.finished

    def to_json(self) -> dict[str, Any]:
        """What its person may see of it: what they said, and what they were told."""
        return {
            "terms": {name: str(value) for name, value in self.terms.items()},
            "finished": self.ended,
            "rounds": [each.to_json() for each in self.rounds],
        }


class Watches:
    """The watches of one data set. What another opened, what ended and what never was look the same."""

    def __init__(self, limits: Limits, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits, self._clock = limits, clock
        self._sessions: dict[str, Session] = {}

    def check_room(self, person: Person) -> None:
        """Refuse one more than a person may have open, before it is charged."""
        oldest = self._clock() - self._limits.watch_idle_s
        self._sessions = {
            name: each for name, each in self._sessions.items() if each.used > oldest and not each.ended
        }
        if len(self.of(person)) >= self._limits.watches:
            raise busy()

    def opened(self, person: Person, terms: Mapping[str, Any], key: str | None) -> str | None:
        """The watch that this person's key opened before; a key stands for one request."""
        for name, each in self.of(person).items():
            if key is not None and each.key == key:
                if each.terms != terms:
                    raise LedgerConflict(
                        "an idempotency key must stand for one request, and this one stands for another."
                    )
                return name
        return None

    def add(self, person: Person, watch: Watch, terms: Mapping[str, Any], key: str | None) -> str:
        """Keep a watch; its name is as hard to guess as a token."""
        name = secrets.token_urlsafe(16)
        self._sessions[name] = Session(person, watch, dict(terms), key, self._clock())
        return name

    def find(self, person: Person, name: str) -> Session:
        """This person's watch of this name."""
        session = self._sessions.get(name)
        if session is None or session.person != person:
            raise not_found()
        session.used = self._clock()
        return session

    def of(self, person: Person) -> dict[str, Session]:
        """This person's watches by name, oldest first."""
        return {name: each for name, each in self._sessions.items() if each.person == person}

    def drop(self, name: str) -> None:
        """Close a watch: what it may have counted is nobody's to see."""
        self._sessions.pop(name, None)
