"""The tools as the Model Context Protocol offers them, with the official SDK.

Tested by: tests/mcp/test_mcp.py.
"""

from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

import discreet
from discreet.apps.mcp.tools import Tools
from discreet.errors import DiscreetError

INSTRUCTIONS = (
    "Private questions about people: every answer is noisy, and spends a budget that nobody can refill. "
    "Describe a data set first, explain a question (free), then ask it with the smallest price whose error "
    "will do. The same question at the same price is free again: do not repeat it in other words. Report "
    "each number with its interval. If a price waits for the owner's approval, say so and stop."
)

Dataset = Annotated[str, Field(description="The data set's name, from list_datasets.", max_length=200)]
Sql = Annotated[str, Field(description="One SELECT of aggregates, such as COUNT, SUM, AVG by group.")]
Epsilon = Annotated[
    float | str | None, Field(description="The price: a small number such as 0.1. Give one of three prices.")
]
Within = Annotated[
    float | str | None, Field(description="Or the largest error to accept, and its least price is found.")
]
Rho = Annotated[float | str | None, Field(description="Or the price in rho, where the budget is in rho.")]
Delta = Annotated[float | str | None, Field(description="At most this delta; leave it out at first.")]


def make_server(tools: Tools) -> MCPServer[Any]:
    """Return a server of these tools. What they raise reaches the assistant as a sentence."""
    server: MCPServer[Any] = MCPServer(
        "discreet",
        title="Private questions",
        instructions=INSTRUCTIONS,
        version=discreet.__version__,
        log_level="WARNING",
    )
    free = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    paid = ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=False)

    @server.tool(annotations=free, structured_output=False)
    def list_datasets() -> str:
        """List the data sets that this token may ask, with their tables."""
        return _said(tools.list_datasets)

    @server.tool(annotations=free, structured_output=False)
    def describe(dataset: Dataset) -> str:
        """Describe tables, columns, bounds, public keys, limits, and what is left of the budget."""
        return _said(tools.describe, dataset)

    @server.tool(annotations=free, structured_output=False)
    def explain(  # noqa: PLR0917  arguments have names in the protocol
        dataset: Dataset,
        sql: Sql,
        epsilon: Epsilon = None,
        within: Within = None,
        rho: Rho = None,
        delta: Delta = None,
    ) -> str:
        """Return the price and the expected error of a question. Free: nothing is read or charged."""
        price = _price(epsilon, within, rho, delta)
        return _said(tools.explain, dataset, sql, price)

    @server.tool(annotations=paid, structured_output=False)
    def ask(  # noqa: PLR0917  arguments have names in the protocol
        dataset: Dataset,
        sql: Sql,
        epsilon: Epsilon = None,
        within: Within = None,
        rho: Rho = None,
        delta: Delta = None,
    ) -> str:
        """Ask a private question. This spends the budget for good, up to the token's cap of the day."""
        price = _price(epsilon, within, rho, delta)
        return _said(tools.ask, dataset, sql, price)

    @server.tool(annotations=free, structured_output=False)
    def history(dataset: Dataset) -> str:
        """List what this token's user was charged."""
        return _said(tools.history, dataset)

    @server.tool(annotations=free, structured_output=False)
    def receipt(dataset: Dataset, charge: Annotated[int, Field(ge=0, lt=10**18)]) -> str:
        """Return the receipt of a charge: what was done, with which noise, at what price."""
        return _said(tools.receipt, dataset, charge)

    return server


def _price(*given: float | str | None) -> dict[str, Any]:
    price: dict[str, Any] = {}
    for name, value in zip(("epsilon", "within", "rho", "delta"), given, strict=True):
        if isinstance(value, str):
            try:
                price[name] = Decimal(value)
            except InvalidOperation:
                raise ToolError(f"{name} must be a number, got {value[:40]!r}.") from None
        else:
            price[name] = value
    return price


def _said(call: Callable[..., str], *arguments: Any) -> str:
    try:
        return call(*arguments)
    except DiscreetError as error:
        raise ToolError(f"{error.code}: {error.message}") from None
