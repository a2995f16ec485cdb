"""discreet budget: how the accounts of a ledger stand."""

import json as json_module
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from discreet.errors import InvalidParameter


def budget(
    ledger: str,
    *,
    dataset: str | None = None,
    json: Annotated[bool, Parameter(negative="")] = False,
    plot: Path | None = None,
) -> None:
    """Show each account's budget, what was spent since collection, and what remains.

    Example: discreet budget bank.ledger --plot spending.html

    Parameters
    ----------
    ledger
        The ledger's file or address, or the data or policy file that it belongs to.
    dataset
        Show this data set alone; needed by --plot where the ledger holds several.
    json
        Print JSON, with exact numbers.
    plot
        Draw the spending over time against the limit, into this file.
    """
    from discreet.policy_ledger import open_ledger_file

    with open_ledger_file(ledger) as opened:
        chosen = [row for row in opened.balances() if dataset in (None, row.account.partition("/")[0])]
        name = opened.the_dataset(dataset) if dataset or plot or len(opened.datasets) == 1 else None
        failures = {each: opened.failures(each) for each in opened.datasets if dataset in (None, each)}
        if plot is not None:
            _draw(opened, name, plot)
    if json:
        whole = next((row.to_json() for row in chosen if row.account == name), {})
        accounts = [row.to_json() for row in chosen]
        print(json_module.dumps({"dataset": name, **whole, "accounts": accounts, "failures": failures}))
    else:
        _show(chosen)
        for each, counted in failures.items():
            for analyst, number in counted.items():
                print(f"{number} of {analyst}'s questions to data set '{each}' failed, and count.")


# What the costs in a history measure, and the budget in that measure.
_MEASURES: dict[str, Any] = {
    "PureDP": lambda budget: ("ε", budget.epsilon),
    "ApproxDP": lambda budget: ("ε", budget.epsilon),
    "ZCDP": lambda budget: ("ρ", budget.rho),
    "GDP": lambda budget: ("μ²", budget.mu**2),
    "RenyiDP": lambda budget: ("ε", budget.epsilon),
}


def _show(balances: list[Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    from discreet.accounting import describe

    table = Table("account", "rule", "budget", "spent", "remaining")
    for balance in balances:
        parts = (balance.budget, balance.spent, balance.remaining)
        table.add_row(balance.account, balance.rule, *(describe(part) for part in parts))
    Console().print(table)


def _draw(opened: Any, dataset: str | None, path: Path) -> None:
    from fractions import Fraction

    from discreet.pictures import budget_over_time

    charges = [
        (record.time, Fraction(record.cost)) for record in opened.history(dataset) if record.kind == "charge"
    ]
    if not charges:
        raise InvalidParameter(f"data set '{dataset}' must have a charge to be drawn, and it has none.")
    balance = opened.balance(dataset)
    unit, limit = _MEASURES[type(balance.budget).__name__](balance.budget)
    budget_over_time(charges, limit=limit, unit=unit).save(path)
