"""discreet book: many tables of counts from one file, planned together and charged once."""

import json as json_module
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from discreet.apps.cli.ask import keep
from discreet.apps.cli.shared import Flag, fitted, waiting
from discreet.errors import InvalidParameter

_TERMS = {"table", "limit", "aim", "confidence"}
_PRICE = {"epsilon", "delta", "rho", "mu"}


def book(
    file: Path, *, explain: Flag = False, json: Flag = False, save: Path | None = None, tidy: Flag = False
) -> None:
    """Ask for a book of tables: one price, one receipt, and totals that are sums.

    Example: discreet book book.toml --save tables

    Parameters
    ----------
    file
        What the book is: `policy`, `price` and `tables`; docs/guide/books.md shows one.
    explain
        Print what it would do, its errors and its price. Nothing is charged.
    json
        Print JSON.
    save
        Write one CSV a table, pictures, a data dictionary and the receipt into this folder.
    tidy
        With --save, write the tables in whole numbers from 0 on too, into a folder inside.
    """
    from discreet.asking.answers import check_tidy
    from discreet.asking.curator import Curator

    policy, tables, terms = read_book_file(file)
    with Curator.from_policy(policy) as curator:
        if explain:
            plan = curator.explain_book(tables, **terms)
            print(json_module.dumps(plan.to_json()) if json else fitted(str(plan)))
            return
        if save and tidy:
            check_tidy(curator.explain_book(tables, **terms).noise.workload)
        with waiting("Budget charged; making the tables ..."):
            found = curator.book(tables, **terms)
        print(json_module.dumps(found.to_json()) if json else found)
    keep(SimpleNamespace(save=partial(found.save, tidy=tidy)), save, None)


def read_book_file(file: Path) -> tuple[Path, Any, dict[str, Any]]:
    """Return the policy's path, the tables, and the price and other terms that a file states."""
    try:
        facts = tomllib.loads(file.read_text(encoding="utf-8"), parse_float=Decimal)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        raise InvalidParameter(
            f"a book must be a TOML file that can be read, got {str(file)[:200]!r}.", parameter="file"
        ) from None
    unknown = sorted(set(facts) - {"policy", "price", "tables", *_TERMS})
    if unknown:
        raise InvalidParameter(
            f"a book must have policy, price, tables, and {', '.join(sorted(_TERMS))} at most, got "
            f"{unknown[0][:60]!r}.",
            parameter="file",
        )
    policy, price, tables = facts.get("policy"), facts.get("price"), facts.get("tables")
    if not isinstance(policy, str):
        raise InvalidParameter('policy must name a file: policy = "people.toml".', parameter="policy")
    if not isinstance(price, Mapping) or not set(price) <= _PRICE:
        raise InvalidParameter(
            "price must be as { rho = 0.5 }: epsilon, delta, rho or mu.", parameter="price"
        )
    if not isinstance(tables, list):
        raise InvalidParameter(
            'tables must be a list: tables = ["city", ["city", "age"]].', parameter="tables"
        )
    terms = {name: facts[name] for name in _TERMS if name in facts}
    return file.parent / policy, _tables(tables), {**price, **terms}


def _tables(listed: list[Any]) -> Any:
    """Return the tables, each with its weight where one is stated: { by = ["city"], weight = 2 }."""
    if not any(isinstance(each, Mapping) for each in listed):
        return listed
    found = {}
    for each in listed:
        asked, weight = (each.get("by"), each.get("weight", 1)) if isinstance(each, Mapping) else (each, 1)
        if isinstance(each, Mapping) and (asked is None or not set(each) <= {"by", "weight"}):
            raise InvalidParameter('a table must be as { by = ["city"], weight = 2 }.', parameter="tables")
        found[tuple(asked) if isinstance(asked, list) else asked] = weight
    return found
