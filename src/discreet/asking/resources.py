"""The resources of a curator: one engine and one ledger, opened when first needed, shared by all analysts."""

import contextlib
import threading
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from discreet.asking.engines import Engine, describe_policy, open_engine
from discreet.asking.policy import Policy
from discreet.asking.policy_ledger import open_ledger
from discreet.errors import EngineFailure, InvalidParameter
from discreet.kernel.ledger import Ledger


class Resources:
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
        """Return the engine, with the data's schema read and checked against the policy."""
        with self._lock:
            if self._engine is None:
                self._engine = open_engine(self._kind, self.declared, self._frames, timeout_s=self.timeout_s)
            return self._engine

    def reach(self) -> Engine:
        """Return the engine once it responds. An outage found here is neither charged nor counted."""
        engine = self.engine()
        engine.reach()
        return engine

    def opening(self) -> Callable[[], Engine]:
        """Return a function that opens the same engine in another process. It can be pickled, without data.

        Frames and sessions exist in one process only, so data sets of these are refused.
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
        """The policy with the data's own columns, or as declared if the data cannot be reached.

        Only headers and schemas of files are read, unless the engine is open anyway.
        """
        if self._engine is None and self._kind == "duckdb" and not self._frames:
            with contextlib.suppress(InvalidParameter):  # several files, or another kind: ask the engine
                return describe_policy(self.declared)
        try:
            return self.engine().policy
        except (InvalidParameter, EngineFailure):
            return self.declared

    def ledger(self) -> Ledger:
        """Return the ledger, which records its budget and refuses to be opened with another."""
        with self._lock:
            if self._ledger is None:
                known, people = self._described(), self._other_people
                self._ledger = open_ledger(self.declared, self._path, known=known, other_people=people)
            return self._ledger

    def _described(self) -> Policy | None:
        """Return the policy with the data's own columns if no server has to be called for them."""
        if self._engine is not None:
            return self._engine.policy
        is_here = self._kind in ("duckdb", "memory")
        known = self.known if is_here else self.declared
        return None if known is self.declared else known

    def open(self) -> None:
        """Open engine and ledger now, so that problems are reported before the first question."""
        self.engine()
        self.ledger()

    def close(self) -> None:
        """Close files and connections; the next question opens them again."""
        with self._lock:
            for part in (self._engine, self._ledger):
                if part is not None:
                    part.close()
            self._engine = self._ledger = None
