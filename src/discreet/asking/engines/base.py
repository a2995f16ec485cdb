"""The Engine protocol: a schema without data, and exact whole numbers for an exact plan."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, NoReturn, Protocol

from discreet.asking.planning import ExactPlan, ExactTable
from discreet.asking.policy import Policy, PublicTable, Schema, Table, Through
from discreet.errors import EngineFailure, PolicyViolation


class Engine(Protocol):
    """Runs exact plans. All engines give the same table for the same plan and data, bit for bit.

    An engine never sees a question, a price or a random number, and its own messages never leave it: whatever
    goes wrong inside becomes one EngineFailure with a constant text.
    """

    @property
    def policy(self) -> Policy:
        """The policy with the columns of the data's schema."""

    def schema(self) -> Schema:
        """Return the columns of each table and their types; no data is read."""

    def run(self, plan: ExactPlan) -> ExactTable:
        """Return the exact table of a plan."""

    def question(self) -> AbstractContextManager[Callable[[ExactPlan], ExactTable]]:
        """Lend a `run` for the plans of one question: what several of them need may be computed once, and is
        gone with the question."""

    def reach(self) -> None:
        """Make sure that the data is in reach, and is what was opened: asked before each charge. No data is
        read."""

    def files(self) -> tuple[object, ...]:
        """Return the files that were read, each with what tells it from another in its place."""

    def check_files(self) -> None:
        """Refuse files that were changed since, though this engine may have copied them: others read them."""

    def close(self) -> None:
        """Give back memory, connections and temporary files."""


class RegisteredEngine(Engine, Protocol):
    """An engine that the registry can open."""

    def __init__(
        self, policy: Policy, sources: Mapping[str, object] | None = None, *, timeout_s: float | None = None
    ) -> None:
        """Open the data of a policy; a plan that takes longer than `timeout_s` fails."""

    @classmethod
    def options_for(cls, engine: object, name: str) -> Mapping[str, Any] | None:
        """Return what `__init__` needs to open the engine that a user named; None if it is another's.

        `name` is this engine's name in the registry.
        """


def fail() -> NoReturn:
    """Raise the one failure of an engine: a constant, whatever happened."""
    raise EngineFailure(
        "The engine could not run the plan. Nothing was released; the charge is kept."
    ) from None


def cannot_reach() -> NoReturn:
    """Raise the one failure of an engine that is open and does not answer: nothing was charged yet."""
    raise EngineFailure("The engine could not be reached. Nothing was charged; ask again later.") from None


def cannot_open() -> NoReturn:
    """Raise the one failure of opening an engine: nothing was charged yet."""
    raise EngineFailure(
        "The engine could not be opened. Check that it runs, its address, and what its role may read."
    ) from None


def joined_keys(policy: Policy) -> Iterator[tuple[Table | PublicTable, tuple[str, ...]]]:
    """Yield the keys that joins rely on: of public tables, and of the tables that foreign keys lead to."""
    for public in policy.public:
        yield public, (public.key,)
    for table in policy.tables:
        if isinstance(table.unit, Through):
            parent = policy.table(table.unit.table)
            assert parent is not None
            yield parent, tuple(other for _, other in table.unit.on)


def refuse_twice(table: Table | PublicTable, keys: tuple[str, ...]) -> NoReturn:
    """Refuse two rows that share a key (missing keys aside); the owner sees it when the data is opened."""
    raise PolicyViolation(
        f"The key {', '.join(keys)} of {table.name!r} must differ in every row, got one twice.",
        table=table.name,
    )
