"""discreet history: everything that happened to a data set."""

import json as json_module
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter


def history(
    ledger: Path,
    *,
    dataset: str | None = None,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Show every charge and every entry of the owner, in order.

    Example: discreet history bank.ledger --dataset bank

    Parameters
    ----------
    ledger
        The ledger's file.
    dataset
        The data set; needed where the ledger holds several.
    json
        Print JSON, with exact numbers.
    """
    from discreet.ledger import LedgerFile

    with LedgerFile(ledger) as opened:
        records = opened.history(opened.the_dataset(dataset))
    if json:
        print(json_module.dumps([record.to_json() for record in records], ensure_ascii=False))
    else:
        _show(records)


def _show(records: tuple[Any, ...]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table()
    for name in ("entry", "time", "what", "cost", "total", "analyst"):
        table.add_column(name, no_wrap=True)
    table.add_column("question or reason")
    for record in records:
        what = record.state or record.kind
        cost = _short(record.cost) + (f", {_short(record.delta)}" if record.delta not in (None, "0") else "")
        words = record.question or record.reason or ""
        row = (str(record.sequence), record.time[:16], what, cost, _short(record.total), record.analyst or "")
        table.add_row(*(escape(part) for part in (*row, words)))
    Console().print(table)


def _short(number: str | None) -> str:
    return "" if number is None else f"{float(number):.6g}"
