"""Plans that were made before: frozen, and decided by policy and ask alone, so that equal asks share them."""

import threading
from collections import OrderedDict

from discreet.curator import Curator
from discreet.planning import Plan
from discreet.server.request_bodies import AskRequest

MOST = 512


class Plans:
    """The plans of the latest asks."""

    def __init__(self, curator: Curator) -> None:
        self._curator, self._lock = curator, threading.Lock()
        self._known: OrderedDict[tuple[object, ...], tuple[Plan, ...]] = OrderedDict()

    def of(self, ask: AskRequest) -> tuple[Plan, ...]:
        """The plans of an ask, found or made."""
        with self._lock:
            if (known := self._known.get(ask.identity)) is not None:
                self._known.move_to_end(ask.identity)
                return known
        plans = self._curator.explain(ask.questions, **ask.terms)
        with self._lock:
            self._known[ask.identity] = plans
            while len(self._known) > MOST:
                self._known.popitem(last=False)
        return plans
