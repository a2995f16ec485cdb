"""Open watches: each belongs to one user and this process. They end with it, and stay charged."""

import asyncio
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from discreet.apps.server.http_errors import busy, not_found
from discreet.apps.server.limits import Limits
from discreet.apps.server.people import Person, now
from discreet.asking.watching import Watch
from discreet.errors import LedgerConflict

MOST_ROUNDS = 200  # that a session keeps for its user


@dataclass
class WatchSession:
    """A watch, its user, and when it was last used. Its questions run one at a time."""

    person: Person
    watch: Watch
    terms: Mapping[str, Any]
    key: str | None
    used: float
    ended: bool = False  # set when the last answer is sent, which is later than when it is known
    rounds: list[dict[str, Any]] = field(default_factory=list)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def add_round(self, question: str, *, above: bool) -> None:
        """Keep an answer that was sent."""
        self.rounds.append({"sql": question, "above": above, "time": now()})
        del self.rounds[:-MOST_ROUNDS]
        self.ended = self.watch.finished

    def to_json(self) -> dict[str, Any]:
        """Return what its user may see: the terms, and the questions with their answers."""
        terms = {name: str(value) for name, value in self.terms.items()}
        return {"terms": terms, "finished": self.ended, "rounds": list(self.rounds)}


class WatchSessions:
    """The watches of one data set. Another user's watch looks like one that ended or never existed."""

    def __init__(self, limits: Limits, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits, self._clock = limits, clock
        self._sessions: dict[str, WatchSession] = {}

    def check_room(self, person: Person) -> None:
        """Raise if this user has as many open watches as allowed, before another is charged."""
        oldest = self._clock() - self._limits.watch_idle_s
        self._sessions = {
            name: each for name, each in self._sessions.items() if each.used > oldest and not each.ended
        }
        if len(self.of(person)) >= self._limits.watches:
            raise busy()

    def opened(self, person: Person, terms: Mapping[str, Any], key: str | None) -> str | None:
        """Return the watch that this user opened with the same idempotency key, if any."""
        for name, each in self.of(person).items():
            if key is not None and each.key == key:
                if each.terms != terms:
                    raise LedgerConflict(
                        "an idempotency key must be used for one request, and this one was used for another."
                    )
                return name
        return None

    def add(self, person: Person, watch: Watch, terms: Mapping[str, Any], key: str | None) -> str:
        """Keep a watch and return its name, which is as hard to guess as a token."""
        name = secrets.token_urlsafe(16)
        self._sessions[name] = WatchSession(person, watch, dict(terms), key, self._clock())
        return name

    def find(self, person: Person, name: str) -> WatchSession:
        """Return this user's watch of this name, or raise."""
        session = self._sessions.get(name)
        if session is None or session.person != person:
            raise not_found()
        session.used = self._clock()
        return session

    @property
    def any_open(self) -> bool:
        """Whether a watch that was used of late has an answer left."""
        oldest = self._clock() - self._limits.watch_idle_s
        return any(each.used > oldest and not each.ended for each in self._sessions.values())

    def of(self, person: Person) -> dict[str, WatchSession]:
        """Return this user's watches by name, oldest first."""
        return {name: each for name, each in self._sessions.items() if each.person == person}

    def end_all(self) -> None:
        """Close all watches."""
        self._sessions.clear()

    def drop(self, name: str) -> None:
        """Close a watch: no one may see what it counted."""
        self._sessions.pop(name, None)
