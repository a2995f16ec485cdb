"""discreet history: everything that happened to a data set."""

import json as json_module
from typing import Annotated, Any

from cyclopts import Parameter


def history(
    ledger: str,
    *,
    dataset: str | None = None,
    analyst: str | None = None,
    json: Annotated[bool, Parameter(negative="")] = False,
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
    from discreet.policy_ledger import open_ledger_file

    with open_ledger_file(ledger) as opened:
        records = opened.history(opened.the_dataset(dataset), analyst)
    if json:
        print(json_module.dumps([record.to_json() for record in records], ensure_ascii=False))
    else:
        _show(records)


def _show(records: tuple[Any, ...]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    several = len({record.analyst for record in records if record.analyst}) > 1
    table = Table(box=SIMPLE_HEAD)
    for name in ("entry", "time (UTC)", "what", "cost", "total", *(["analyst"] if several else [])):
        table.add_column(name, no_wrap=True)
    table.add_column("question or reason", ratio=1, overflow="fold")
    for record in records:
        cost = _short(record.cost) + (f", {_short(record.delta)}" if record.delta not in (None, "0") else "")
        row = [
            str(record.sequence),
            record.time[5:16].replace("T", " "),
            record.state or record.kind,
            cost,
            _short(record.total),
            *([record.analyst or ""] if several else []),
            ": ".join(filter(None, (record.share, record.question or record.reason))),
        ]
        table.add_row(*map(escape, row))
    Console().print(table)


def _short(number: str | None) -> str:
    return "" if number is None else f"{float(number):.6g}"
