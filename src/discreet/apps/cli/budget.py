"""discreet budget and history: the accounts of a ledger, and everything that happened to a data set.

Tested by: tests/cli/test_ledger.py
"""

import json as json_module
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.apps.cli.shared import Flag
from discreet.errors import InvalidParameter
from discreet.kernel.numerics import short_up


def budget(
    ledger: str,
    *,
    dataset: str | None = None,
    json: Flag = False,
    plot: Path | None = None,
) -> None:
    """Show each account's budget, what has been spent so far, and what remains.

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
    from discreet.asking.resources import open_ledger_file

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


def _show(balances: list[Any]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    from discreet.kernel.accounting import describe

    table = Table("account", "rule", "budget", "spent", "remaining", box=SIMPLE_HEAD)
    for balance in balances:
        parts = (balance.budget, balance.spent, balance.remaining)
        table.add_row(balance.account, balance.rule, *(describe(part) for part in parts))
    Console().print(table)


def _draw(opened: Any, dataset: str | None, path: Path) -> None:
    from fractions import Fraction

    from discreet.apps.pictures import budget_over_time

    charges = [
        (record.time, Fraction(record.cost)) for record in opened.history(dataset) if record.kind == "charge"
    ]
    if not charges:
        raise InvalidParameter(f"data set '{dataset}' must have at least one charge to be drawn, got none.")
    limit = opened.balance(dataset).budget
    budget_over_time(charges, limit=limit.amount, unit=limit.symbol).save(path)


def history(
    ledger: str,
    *,
    dataset: str | None = None,
    analyst: str | None = None,
    json: Flag = False,
) -> None:
    """Show every charge and every entry of the owner, in order.

    Example: discreet history bank.ledger --dataset bank

    Parameters
    ----------
    ledger
        The ledger's file or address, or the data or policy file that it belongs to.
    dataset
        The data set; needed where the ledger holds several.
    analyst
        Show the charges of this analyst alone, and their own sum.
    json
        Print JSON, with exact numbers.
    """
    from discreet.asking.resources import open_ledger_file

    with open_ledger_file(ledger) as opened:
        records = opened.history(opened.the_dataset(dataset), analyst)
    if json:
        print(json_module.dumps([record.to_json() for record in records], ensure_ascii=False))
    else:
        _show_history(records)


def _show_history(records: tuple[Any, ...]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    several = len({record.analyst for record in records if record.analyst}) > 1
    table = Table(box=SIMPLE_HEAD)
    for name in ("entry", "time (UTC)", "what", "cost", "total"):
        table.add_column(name, no_wrap=True)
    table.add_column("who: question or reason" if several else "question or reason", ratio=1, overflow="fold")
    for record in records:
        cost = _short(record.cost) + (f", {_short(record.delta)}" if record.delta not in (None, "0") else "")
        who = record.analyst if several else None  # in a column of its own, the question would have no room
        row = [
            str(record.sequence),
            record.time[5:16].replace("T", " "),
            record.state or record.kind,
            cost,
            _short(record.total),
            ": ".join(filter(None, (who, record.share, record.question or record.reason))),
        ]
        table.add_row(*map(escape, row))
    Console().print(table)


def _short(number: str | None) -> str:
    """Return what was spent in six digits, rounded up."""
    return "" if number is None else short_up(Fraction(number))
