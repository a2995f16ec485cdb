"""Open watches: each belongs to one person and to this process; lost with it, and charged all the same."""

import asyncio
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from discreet.release import Watch
from discreet.server.limits import Limits
from discreet.server.people import Person
from discreet.server.refusals import busy, not_found


@dataclass
class Session:
    """A watch, whose it is, and when it was last asked. Its questions come one at a time."""

    person: Person
    watch: Watch
    used: float
    ended: bool = False  # set when the last answer is given, which is later than when it is known
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


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
        if sum(each.person == person for each in self._sessions.values()) >= self._limits.watches:
            raise busy()

    def add(self, person: Person, watch: Watch) -> str:
        """Keep a watch; its name is as hard to guess as a token."""
        name = secrets.token_urlsafe(16)
        self._sessions[name] = Session(person, watch, self._clock())
        return name

    def find(self, person: Person, name: str) -> Session:
        """This person's watch of this name."""
        session = self._sessions.get(name)
        if session is None or session.person != person:
            raise not_found()
        session.used = self._clock()
        return session

    def drop(self, name: str) -> None:
        """Close a watch: what it may have counted is nobody's to see."""
        self._sessions.pop(name, None)
