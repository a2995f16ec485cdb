"""Who is signed in: a random name in the visitor's cookie, everything else kept here."""

import hashlib
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

LASTS_S = 8 * 3600.0
MOST = 10_000
MOST_OF_A_TOKEN = 20  # so that nobody who signs in again and again ends the sessions of others


@dataclass(frozen=True)
class Session:
    """A signed-in visitor. The token is kept, so that revoking it ends the session at once."""

    token: str
    csrf: str
    ends: float

    def __repr__(self) -> str:
        return "<Session>"  # neither the token nor the word that protects forms reaches a log


class Sessions:
    """The sessions of one process, by the digest of the cookie's random name: reading them opens none."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._open: OrderedDict[str, Session] = OrderedDict()

    def open(self, token: str) -> str:
        """A new session: its name, for the cookie and for nowhere else.

        >>> sessions = Sessions()
        >>> sessions.find(sessions.open("dp_token")).token
        'dp_token'
        """
        name = secrets.token_urlsafe(32)
        with self._lock:
            self._open[_digest(name)] = Session(token, secrets.token_urlsafe(32), self._clock() + LASTS_S)
            own = [digest for digest, each in self._open.items() if each.token == token]
            for digest in own[:-MOST_OF_A_TOKEN]:
                del self._open[digest]
            while len(self._open) > MOST:
                self._open.popitem(last=False)
        return name

    def find(self, name: str) -> Session | None:
        """The session of this name, while it lasts."""
        with self._lock:
            found = self._open.get(_digest(name))
            if found is not None and self._clock() >= found.ends:
                del self._open[_digest(name)]
                return None
            return found

    def close(self, name: str) -> None:
        """End a session; its name opens nothing any more."""
        with self._lock:
            self._open.pop(_digest(name), None)


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
