"""Opening data from the command line: a policy file, or a data file with its unit and promises in options."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from discreet.errors import InvalidParameter

OPENING_BUDGET = {"epsilon": 1, "delta": 1e-6}


@Parameter(name="*")
@dataclass(frozen=True)
class Opened:
    """How the data is opened."""

    unit: str | None = None
    "The column that names the person."
    each_row: Annotated[bool, Parameter(negative="")] = False
    "Each row is a person of its own."
    bounds: tuple[str, ...] = ()
    "A column's bounds, as debt=0:10000000; may be repeated."
    keys: tuple[str, ...] = ()
    "A column's public labels, as city=Ottawa,Toronto; may be repeated."
    types: tuple[str, ...] = ()
    "A column's type, as opened=date; may be repeated."
    max_groups: int = 1
    "In how many groups one person may be."
    max_rows: int = 1
    "How many rows one person may have in a group."
    budget: str | None = None
    "The data set's budget: 1, 1,1e-6 (epsilon,delta), rho=0.1 or mu=0.5; the ledger's own unless given."
    ledger: str | None = None
    "The ledger's file, or its address; beside the data unless given."
    engine: str | None = None
    "What runs the plan: duckdb, or an address such as postgresql://host/bank; else what the policy says."


def open_curator(data: Path, opened: Opened) -> tuple[Any, str | None]:
    """The curator of a policy or data file, and a note where a budget was assumed."""
    from discreet.curator import Curator
    from discreet.tables import each_row

    if data.suffix == ".toml":
        return Curator.from_policy(data, ledger=opened.ledger, engine=opened.engine), None
    if (opened.unit is None) == (not opened.each_row):
        raise InvalidParameter(
            "a data file must be opened with exactly one of --unit COLUMN and --each-row.", parameter="unit"
        )
    budget, note = _opening_budget(data, opened)
    curator = Curator.open(
        data,
        unit=each_row if opened.each_row else opened.unit,
        **budget,
        bounds={name: _pair(ends) for name, ends in map(read_named, opened.bounds)},
        keys={name: labels.split(",") for name, labels in map(read_named, opened.keys)},
        types=dict(map(read_named, opened.types)),
        max_groups=opened.max_groups,
        max_rows=opened.max_rows,
        ledger=opened.ledger,
        engine=opened.engine or "duckdb",
    )
    return curator, note


def _opening_budget(data: Path, opened: Opened) -> tuple[dict[str, Any], str | None]:
    """The budget and filter to open with: as told, else the ledger's own, else small; and what is assumed."""
    from discreet.accounting import describe, read_rule
    from discreet.ledger import read_declaration
    from discreet.tables import default_ledger, stem

    if opened.budget:
        return {"budget": _budget(opened.budget)}, None
    engine = opened.engine or "duckdb"
    name = stem(str(data), engine)
    known = read_declaration(opened.ledger or default_ledger(name, data, engine), name)
    if known is None:
        note = "no --budget given: the data set is opened with epsilon 1, delta 1e-6"
        return {"budget": OPENING_BUDGET}, note
    rule = read_rule(dict(known.rule))
    kept = {"budget": rule.budget, "filter": rule.name if rule.name == "advanced" else None}
    return kept, f"no --budget given: the ledger's own is used, {describe(rule.budget)}"


def read_named(option: str) -> tuple[str, str]:
    """A column and what is said of it: column=value."""
    name, equals, value = option.partition("=")
    if not (name and equals and value):
        raise InvalidParameter(f"an option must read column=value, got {option[:60]!r}.")
    return name, value


def _pair(ends: str) -> tuple[Any, Any]:
    low, colon, high = ends.partition(":")
    if not colon:
        raise InvalidParameter(f"bounds must read low:high, got {ends[:60]!r}.", parameter="bounds")
    return read_number(low, name="bounds"), read_number(high, name="bounds")


def _budget(text: str) -> dict[str, Any]:
    name, equals, value = text.partition("=")
    if equals:
        return {name: read_number(value, name="budget")}
    parts = [read_number(part, name="budget") for part in text.split(",")]
    return dict(zip(("epsilon", "delta"), parts, strict=False))


def read_number(text: str, *, name: str) -> Any:
    """A decimal number as it was written: exactly.

    >>> read_number("0.1", name="epsilon")
    Decimal('0.1')
    """
    from decimal import Decimal, InvalidOperation

    plain = text.isascii() and "_" not in text
    try:
        number = Decimal(text) if plain else None
    except InvalidOperation:
        number = None
    if number is None or not number.is_finite():
        raise InvalidParameter(f"{name} must be a decimal number, got {text[:60]!r}.", parameter=name)
    return int(number) if number == number.to_integral_value() and abs(number) < 10**15 else number
