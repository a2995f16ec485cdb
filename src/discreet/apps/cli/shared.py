"""Helpers that the commands share: printing, waiting, and listening on a port.

Tested by: tests/cli/test_ask.py, tests/cli/test_ledger.py, tests/cli/test_shared.py
"""

import json
import re
import shutil
import socket
import sys
import textwrap
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib import util
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from cyclopts import Parameter

from discreet.errors import DiscreetError, InvalidParameter

Flag: TypeAlias = Annotated[bool, Parameter(negative="")]
NEEDED = ("fastapi", "uvicorn", "jinja2", "markdown_it")


def report_error(error: DiscreetError, *, as_json: bool) -> None:
    """Print a sentence on standard error, or JSON on standard output."""
    if as_json:
        print(json.dumps(error.to_json()))
    else:
        print(f"error: {error.message}", file=sys.stderr)


def fitted(text: str) -> str:
    """Wrap lines to the width of the terminal; leave them as they are without one."""
    if not sys.stdout.isatty():
        return text
    width = shutil.get_terminal_size().columns
    return "\n".join(
        textwrap.fill(line, width, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
        for line in text.splitlines()
    )


@contextmanager
def waiting(text: str) -> Iterator[None]:
    """Show a spinner on a terminal while the block runs; print nothing elsewhere."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield


def check_installed(command: str) -> None:
    """Raise with the remedy if the server's packages are missing."""
    if any(util.find_spec(name) is None for name in NEEDED):
        raise InvalidParameter(
            f"{command} needs the server's packages. Install: pip install 'discreet[server]'."
        )


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket, so that clients may connect as soon as the address is printed."""
    with ExitStack() as stack:
        try:
            family, kind, _, _, where = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
            listening = stack.enter_context(socket.socket(family, kind))
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((where[0], port, *where[2:]))  # raises for a port number that is too large
            listening.listen(1024)
        except (OSError, OverflowError):
            raise InvalidParameter(
                f"port must be one that is free at {host}, got {port}.", parameter="port"
            ) from None
        stack.pop_all()  # keep it open: the caller closes it
        return listening


# Options that ask and explain share: how the data is opened, and the price of the question.

OPENING_BUDGET = {"epsilon": 1, "delta": 1e-6}
Several: TypeAlias = Annotated[tuple[str, ...], Parameter(negative="")]  # without --empty-NAME


@Parameter(name="*")
@dataclass(frozen=True)
class DataOptions:
    """How the data is opened."""

    unit: str | None = None
    "The column that identifies the person."
    each_row: Flag = False
    "Each row is a different person."
    bounds: Several = ()
    "A column's bounds, as debt=0:10000000 or opened=2020-01-01:2026-12-31; may be repeated."
    keys: Several = ()
    "A column's public labels, as city=Ottawa,Toronto; may be repeated."
    types: Several = ()
    "A column's type, as opened=date, or as 'opened=date 31/12/2024' where it is written so; may be repeated."
    encoding: str = "utf-8"
    "Of a CSV file: utf-8 or latin-1."
    limit: str | None = None
    "The most one person adds over all groups, in rows: a number, or auto to find it privately."
    max_groups: int | None = None
    "Without a limit: in how many groups one person may be; one unless stated."
    max_rows: int | None = None
    "Without a limit: how many rows one person may have in a group; one unless stated."
    budget: str | None = None
    "The data set's budget: 1, 1,1e-6 (epsilon,delta), rho=0.1 or mu=0.5; by default the ledger's own."
    ledger: str | None = None
    "The ledger's file or address; by default a file next to the data."
    engine: str | None = None
    "The engine: duckdb, or an address such as postgresql://host/bank; by default the policy's."


@Parameter(name="*")
@dataclass(frozen=True)
class PriceOptions:
    """The price of the question: exactly one of epsilon, rho and within."""

    epsilon: str | None = None
    "The price in epsilon."
    delta: str | None = None
    "The delta of the price; by default 0 with public keys, else 1/16 of the opening delta."
    rho: str | None = None
    "The price in rho (zero-concentrated)."
    within: str | None = None
    "Find the least price that keeps the error within this number."
    confidence: str = "0.95"
    "The confidence of the intervals."
    auto_bounds: Flag = False
    "Find bounds that are not declared privately, with a quarter of the price."
    split: Several = ()
    "A column's weight in the division of the price, as total=3; may be repeated."
    limit_of: Several = ()
    "The most that one person adds to a column, as n=11: one that was found before; may be repeated."

    def terms(self) -> dict[str, Any]:
        """Return the arguments of `ask`, as exact numbers."""
        names = ("epsilon", "delta", "rho", "within", "confidence")
        stated = {name: getattr(self, name) for name in names}
        terms: dict[str, Any] = {
            name: read_number(text, name=name) for name, text in stated.items() if text is not None
        }
        if self.auto_bounds:
            terms["bounds"] = "auto"
        if self.split:
            named = (read_named(each) for each in self.split)
            terms["split"] = {name: read_number(text, name="split") for name, text in named}
        if self.limit_of:
            named = (read_named(each) for each in self.limit_of)
            terms["limit"] = {name: read_number(text, name="limit") for name, text in named}
        return terms


def check_there(data: Path, engine: str | None) -> None:
    """Refuse a data file that is not there, before anything else is asked for."""
    import glob

    path = str(data).partition("#")[0]  # a table inside a file follows #
    if "://" not in (engine or "") and not glob.glob(path):
        raise InvalidParameter(f"data must be a file that exists, got {path!r}.", parameter="data")


def open_curator(data: Path, opened: DataOptions) -> tuple[Any, str | None]:
    """Return the curator of a policy or data file, and a note if a budget was assumed."""
    from discreet.asking.curator import Curator
    from discreet.asking.policy import default_ledger, each_row, stem

    if data.suffix == ".toml":
        return Curator.from_policy(data, ledger=opened.ledger, engine=opened.engine), None
    if (opened.unit is None) == (not opened.each_row):
        raise InvalidParameter(
            "a data file must be opened with exactly one of --unit COLUMN and --each-row.", parameter="unit"
        )
    engine = opened.engine or "duckdb"
    name = stem(str(data), engine)
    place = opened.ledger or default_ledger(name, data, engine)
    budget, note = _opening_budget(opened.budget, place, name)
    curator = Curator.open(
        data,
        name=name,
        unit=each_row if opened.each_row else opened.unit,
        **budget,
        bounds={name: _pair(ends) for name, ends in map(read_named, opened.bounds)},
        keys={name: labels.split(",") for name, labels in map(read_named, opened.keys)},
        types=dict(map(read_named, opened.types)),
        encoding=opened.encoding,
        limit=_limit(opened.limit),
        max_groups=opened.max_groups,
        max_rows=opened.max_rows,
        ledger=place,
        engine=engine,
    )
    return curator, note


def _opening_budget(stated: str | None, place: str | Path, name: str) -> tuple[dict[str, Any], str | None]:
    """Return the budget and filter to open with (stated, the ledger's own, or a small one), and a note."""
    from discreet.kernel.accounting import describe, read_rule
    from discreet.kernel.ledger import read_declaration

    if stated:
        return {"budget": _budget(stated)}, None
    known = read_declaration(place, name)
    if known is None:
        note = f"no --budget given: the data set is opened with epsilon 1, delta 1e-6; its ledger is {place}"
        return {"budget": OPENING_BUDGET}, note
    rule = read_rule(dict(known.rule))
    kept = {"budget": rule.budget, "filter": rule.name if rule.name == "advanced" else None}
    return kept, f"no --budget given: the ledger's own is used, {describe(rule.budget)}"


def read_named(option: str) -> tuple[str, str]:
    """Read an option of the form column=value."""
    name, equals, value = option.partition("=")
    if not (name and equals and value):
        raise InvalidParameter(f"an option must be column=value, got {option[:60]!r}.")
    return name, value


def _limit(text: str | None) -> Any:
    return text if text in (None, "auto") else read_number(str(text), name="limit")


def _pair(ends: str) -> tuple[Any, Any]:
    low, colon, high = ends.partition(":")
    if not colon:
        raise InvalidParameter(f"bounds must be low:high, got {ends[:60]!r}.", parameter="bounds")
    if re.fullmatch(r"\d{4}-\d\d-\d\d", low):
        return low, high  # days, which the policy reads
    return read_number(low, name="bounds"), read_number(high, name="bounds")


def _budget(text: str) -> dict[str, Any]:
    name, equals, value = text.partition("=")
    if equals:
        return {name: read_number(value, name="budget")}
    parts = [read_number(part, name="budget") for part in text.split(",")]
    return dict(zip(("epsilon", "delta"), parts, strict=False))


def read_number(text: str, *, name: str) -> Any:
    """Read a decimal number exactly as it was written.

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
