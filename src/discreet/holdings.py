"""What a curator holds: one engine and one ledger, opened when first needed, shared by all who ask."""

import contextlib
import threading
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from discreet.engines import Engine, describe_policy, open_engine
from discreet.errors import EngineFailure, InvalidParameter
from discreet.ledger import Ledger
from discreet.policy_ledger import open_ledger
from discreet.tables import Policy


class Holdings:
    """The engine and the ledger of a policy's data set. Opening is safe from several threads."""

    def __init__(
        self,
        policy: Policy,
        *,
        ledger: str | Path,
        engine: object,
        frames: Mapping[str, object],
        other_people: str | None,
    ) -> None:
        self.declared = policy
        self._path, self._kind, self._frames = ledger, engine, frames
        self._other_people = other_people
        self.timeout_s: float | None = None  # of one pass over the data; read when the engine is opened
        self._lock = threading.RLock()
        self._engine: Engine | None = None
        self._ledger: Ledger | None = None

    def engine(self) -> Engine:
        """The engine, with the data's schema read and its promises checked."""
        with self._lock:
            if self._engine is None:
                self._engine = open_engine(self._kind, self.declared, self._frames, timeout_s=self.timeout_s)
            return self._engine

    def reach(self) -> Engine:
        """The engine, once it answers: an outage that is found here costs nothing and counts as nothing."""
        engine = self.engine()
        engine.reach()
        return engine

    def opening(self) -> Callable[[], Engine]:
        """What opens the same engine in another process: it can be pickled, and holds no data.

        Frames and sessions live in one process alone, so data sets of these have none.
        """
        if self._frames or not isinstance(self._kind, str):
            raise InvalidParameter(
                "data that other processes read must be named by a policy (files, or an engine's address), "
                "got frames or a session. Write a policy: discreet policy init.",
                parameter="engine",
            )
        return partial(open_engine, self._kind, self.declared, {}, timeout_s=self.timeout_s)

    @property
    def known(self) -> Policy:
        """The policy with the data's own columns; as declared, where the data is out of reach.

        Of files only headers and schemas are read, unless the engine is open anyway.
        """
        if self._engine is None and self._kind == "duckdb" and not self._frames:
            with contextlib.suppress(InvalidParameter):  # several files, or of another kind: the engine knows
                return describe_policy(self.declared)
        try:
            return self.engine().policy
        except (InvalidParameter, EngineFailure):
            return self.declared

    def ledger(self) -> Ledger:
        """The ledger, which keeps its own budget and refuses to be opened with another."""
        with self._lock:
            if self._ledger is None:
                known, people = self._described(), self._other_people
                self._ledger = open_ledger(self.declared, self._path, known=known, other_people=people)
            return self._ledger

    def _described(self) -> Policy | None:
        """The policy with the data's own columns, where they cost little: no server is called for them."""
        if self._engine is not None:
            return self._engine.policy
        is_here = self._kind in ("duckdb", "memory")
        known = self.known if is_here else self.declared
        return None if known is self.declared else known

    def close(self) -> None:
        """Give back files and connections; the next question opens them again."""
        with self._lock:
            for part in (self._engine, self._ledger):
                if part is not None:
                    part.close()
            self._engine = self._ledger = None
