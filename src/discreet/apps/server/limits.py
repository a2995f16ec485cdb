"""Limits of the server: sizes, rates, and how many requests at once."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The limits of one process. They are public and do not depend on the data."""

    body_bytes: int = 64 * 1024
    body_s: float = 15  # how long a body may take to arrive
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
    """A token bucket for each name, refilled at a steady rate, holding two seconds' worth."""

    def __init__(
        self, per_s: float, *, most_names: int = 10_000, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._per_s, self._depth, self._most, self._clock = per_s, max(1.0, 2 * per_s), most_names, clock
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
