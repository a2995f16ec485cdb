"""The Engine protocol: a schema without data, and exact whole numbers for an exact plan."""

from typing import NoReturn, Protocol

from discreet.errors import EngineFailure
from discreet.planning import ExactPlan, ExactTable
from discreet.tables import Policy, Schema


class Engine(Protocol):
    """Runs exact plans. All engines give the same table for the same plan and data, bit for bit.

    An engine never sees a question, a price or a random number, and its own words never leave it: whatever
    goes wrong inside becomes one EngineFailure with a constant text.
    """

    @property
    def policy(self) -> Policy:
        """The policy with the columns of the data's schema."""

    def schema(self) -> Schema:
        """The columns of each table and their types; no data is read."""

    def run(self, plan: ExactPlan) -> ExactTable:
        """The exact table of a plan."""

    def reach(self) -> None:
        """Make sure that the data is in reach, and is what was opened: asked before each charge. No data is
        read."""

    def close(self) -> None:
        """Give back memory, connections and temporary files."""


def fail() -> NoReturn:
    """The one failure of an engine: a constant, whatever happened."""
    raise EngineFailure(
        "The engine could not run the plan. Nothing was released; the charge is kept."
    ) from None


def cannot_reach() -> NoReturn:
    """The one failure of an engine that is open and does not answer: nothing was charged yet."""
    raise EngineFailure("The engine could not be reached. Nothing was charged; ask again later.") from None


def cannot_open() -> NoReturn:
    """The one failure of opening an engine: nothing was charged yet."""
    raise EngineFailure(
        "The engine could not be opened. Check that it runs, its address, and what its role may read."
    ) from None
