"""The resources of a curator: one engine and one ledger, opened when first needed, shared by all analysts.

Tested by: tests/test_policy_ledger.py
"""

import contextlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from discreet.asking.engines import Engine, describe_policy, open_engine
from discreet.asking.planning import as_notion, budget_of
from discreet.asking.policy import Commands, LedgerPlace, Policy, Table, ledger_of_policy, sibling_path
from discreet.errors import EngineFailure, InvalidParameter, PolicyViolation
from discreet.kernel.accounting import Budget
from discreet.kernel.ledger import (
    Anchor,
    CommandAnchor,
    Declaration,
    FileAnchor,
    Ledger,
    LedgerFile,
    read_declaration,
)
from discreet.kernel.numerics import short_down


class Resources:
    """The engine and the ledger of a policy's data set. Opening is safe from several threads."""

    _is_shared = False  # whether other processes read the same files

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
        if self._is_shared:
            engine.check_files()
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
        with self._lock:
            self._is_shared, files = True, None if self._engine is None else self._engine.files()
        return partial(_open_same, self._kind, self.declared, files, timeout_s=self.timeout_s)

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

    def describe(self) -> str:
        """Return what is left of the budget, once the ledger is open, and the engine; nothing is opened."""
        engine = self._kind if isinstance(self._kind, str) else type(self._kind).__name__
        left = {} if self._ledger is None else self._ledger.remaining.numbers()
        said = [
            f"{name} {short_down(left[name])} of {short_down(whole)} left"
            if name in left
            else f"{name} {short_down(whole)}"
            for name, whole in reversed(self.declared.budget)
        ]
        return f"{', '.join(said)}, {engine.partition(':')[0]}"

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


def _open_same(
    kind: object, policy: Policy, files: tuple[object, ...] | None, *, timeout_s: float | None
) -> Engine:
    """Open an engine on the files that another one read; refuse others in their place, more or fewer."""
    engine = open_engine(kind, policy, {}, timeout_s=timeout_s)
    if files is not None and engine.files() != files:
        engine.close()
        raise PolicyViolation("The data must stay as it was opened, and its files have changed.")
    return engine


# The ledger of a policy: what the owner declares there is what the ledger keeps.

DATA = (".csv", ".tsv", ".parquet", ".json", ".toml")  # what no ledger is called


def open_ledger(
    policy: Policy, place: str | Path, *, known: Policy | None = None, other_people: str | None = None
) -> Ledger:
    """Open or make the ledger of a policy's data set; what it knows of the data set must agree.

    `known` is the policy with the data's own columns, where they are in reach.
    """
    elsewhere, schema = kept_elsewhere(policy.ledger), _schema(known)
    return Ledger.open(place, **_declared(policy), schema=schema, other_people=other_people, **elsewhere)


def _schema(known: Policy | None) -> list[str]:
    """Return the columns of each private table, by which a copy under another name is known; no name of a
    file.
    """
    tables = () if known is None else known.tables
    return [json.dumps(sorted(column.name.lower() for column in table.columns)) for table in tables]


def check_known(policy: Policy, place: str | Path) -> None:
    """Refuse a policy that contradicts a ledger on disk, which is only read."""
    known = read_declaration(place, policy.id)
    if known is not None:
        Declaration.of(**_declared(policy), schema="").check_same(known)


def _declared(policy: Policy) -> dict[str, Any]:
    return {
        "dataset": policy.id,
        "budget": budget_of(policy),
        "filter": policy.filter,
        "relation": policy.relation,
        "unit": "; ".join(f"{table.name}: {table.unit}" for table in policy.tables),
        "limits": {each.name: _limits_of(each) for each in policy.tables},
        "version": policy.version,
        "per_analyst": _part(policy, policy.per_analyst),
        "per_question": _part(policy, policy.per_question),
        "answers": "shared" if policy.share_answers else "own",
        "ration": policy.ration,
    }


def _limits_of(table: Table) -> str:
    stated = f"{table.max_groups} groups, {table.max_rows} rows"
    return stated if table.limit is None else f"{stated}, limit {table.limit}"


def kept_elsewhere(ledger: LedgerPlace) -> dict[str, Any]:
    """Return the anchors and the key that a policy names, as `Ledger.open` takes them."""
    return {"anchors": _anchors(ledger.anchor), "key": ledger.key_file and read_key(ledger.key_file)}


def read_key(path: str | Path) -> bytes:
    """Return the key in a file, byte for byte."""
    try:
        return Path(path).read_bytes()
    except OSError:
        raise InvalidParameter("key_file must be a file that can be read.", parameter="key_file") from None


def _anchors(anchor: str | Commands | None) -> tuple[Anchor, ...]:
    if anchor is None:
        return ()
    if isinstance(anchor, Commands):
        return (CommandAnchor(publish=anchor.publish, latest=anchor.latest),)
    return (FileAnchor(anchor),)


def _part(policy: Policy, budget: Any) -> Budget | None:
    return None if budget is None else as_notion(budget, policy.relation)


def find_ledger(path: str | Path) -> LedgerPlace:
    """Return the ledger that a path names: itself, the one next to a data file, or the one that a policy
    states.
    """
    if "://" in str(path) or Path(path).suffix not in DATA:
        return LedgerPlace(place=str(path))
    if Path(path).suffix == ".toml":
        return ledger_of_policy(path)
    return LedgerPlace(place=str(sibling_path(path)))


def open_ledger_file(
    path: str | Path, *, anchors: Sequence[Anchor] = (), key: bytes | None = None
) -> LedgerFile:
    """Open the ledger that a path names (`find_ledger`), with the anchor and key that its policy states."""
    ledger = find_ledger(path)
    stated = kept_elsewhere(ledger)
    return LedgerFile(
        str(ledger.place), anchors=(*stated["anchors"], *anchors), key=stated["key"] if key is None else key
    )
