"""discreet policy: write a policy's skeleton from a file's header, and check what a policy lacks."""

import contextlib
import json as json_module
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from cyclopts import App

from discreet.apps.cli.shared import Flag, fitted, waiting
from discreet.asking.engines.duckdb.registration import describe_file, find_files, labels_of
from discreet.asking.policy import (
    Column,
    Policy,
    PublicTable,
    Table,
    Through,
    Type,
    UnitColumn,
    from_policy,
    write_text,
)
from discreet.errors import InvalidParameter, PolicyViolation

app = App(name="policy", help="Write the skeleton of a policy, or check one.")

MOST_LABELS = 50  # of a public table's column, that a policy's author is offered to paste

HEAD = """\
# The policy of {name}: who is protected, what is promised of the data, and what may be spent.
# Written from the names of the columns alone; no row was read. Promise only what you know without looking.

[dataset]
id = {id}            # the data set's name for ever: its budget is kept under it
version = "1"        # change it when the data changes
relation = "add/remove"
# population = 100000   # roughly how many people, if public: errors of averages are then said in advance
budget = {{ epsilon = 1, delta = 1e-6 }}   # or {{ rho = 0.1 }}, {{ mu = 0.5 }}

[tables.{name}]
source = {source}
unit = {unit}           # the column that names the person; or each_row = true where each row is one
limit = "auto"       # the most rows that one person adds to an answer: found privately, or a number

[tables.{name}.columns]
"""
HINTS: dict[Type, str] = {
    "integer": "bounds = [0, 100] for sums and averages, and for GROUP BY",
    "number": "bounds = [0, 1000] for sums, averages and quantiles",
    "text": 'keys = ["a", "b"] for GROUP BY without delta; numbers: type = "number", bounds = [0, 100]; '
    'dates: type = "date", or "date 31/12/2024" if written so',
    "boolean": "nothing more is needed",
    "date": 'bounds = ["2020-01-01", "2026-12-31"] for GROUP BY its days, months or years',
    "timestamp": "nothing more is offered",
}


@app.command
def init(data: Path, *, unit: str = "?", output: Path | None = None, encoding: str = "utf-8") -> None:
    """Write a commented skeleton of a policy from the header or schema of a file; no row is read.

    Example: discreet policy init accounts.csv --unit person --output accounts.toml

    Parameters
    ----------
    data
        A CSV, JSON-lines or Parquet file, or a folder of Parquet files.
    unit
        The column that identifies the person.
    output
        The file to write, which must not exist; standard output without it.
    encoding
        Of a CSV file: utf-8 or latin-1.
    """
    skeleton = write_skeleton(data, unit, encoding)
    if output is None:
        print(skeleton, end="")
        return
    if output.exists():
        raise InvalidParameter(f"output must be a new file, got {str(output)!r}, which exists.")
    output.write_text(skeleton, encoding="utf-8")
    left = "the unit and the promises" if unit == "?" else "the promises"
    print(f"wrote {output}: fill in {left}, then run: discreet policy check {output} --data")


@app.command
def check(policy: Path, *, data: Flag = False, json: Flag = False) -> None:
    """Check what a policy lacks, and which questions are refused because of it; --data reads the rows too.

    Example: discreet policy check accounts.toml --data

    Parameters
    ----------
    policy
        The policy's TOML file.
    data
        Read all rows too, and name every file, line and column that the first question would be refused for.
        For the owner: nothing is charged, no value is shown.
    json
        Print JSON.
    """
    read = from_policy(policy)
    problems = list(_find_problems(read)) if data else []
    findings = list(find_gaps(read)) if not problems else []
    if json:
        found = {"problems": problems} if data else {}
        print(json_module.dumps({"digest": read.digest, "findings": findings, **found}))
    else:
        _show(read, findings, problems)
        if data and not problems:
            print("The data opens as the policy says.")
    if problems:
        sys.exit(PolicyViolation.exit_code)


def _find_problems(policy: Policy) -> Iterator[dict[str, str]]:
    from discreet.asking.engines.file_check import check_data

    with waiting("Reading the data ..."):
        yield from (asdict(each) for each in check_data(policy))


def _show(read: Policy, findings: list[dict[str, str]], problems: list[dict[str, str]]) -> None:
    private = f"{len(read.tables)} private table{'s' * (len(read.tables) > 1)}"
    print(f"{read.id}, version {read.version}: {private}, {len(read.public)} public.")
    for finding in findings:
        where = f"{finding['table']}.{finding['column']}" if finding["column"] else finding["table"]
        print(fitted(f"  {where}: {finding['missing']} -> {finding['questions']}"))
    several = f"{len(findings)} thing{'s' * (len(findings) > 1)} to consider."
    if not problems:
        print(several if findings else "Nothing is missing.")
        return
    for problem in problems:
        print(fitted(f"  {problem['said']}"))
    print(f"The first question would be refused: {len(problems)} to mend.")


def write_skeleton(data: Path, unit: str = "?", encoding: str = "utf-8") -> str:
    """Return the text of a policy for a file, with its columns as comments."""
    name = data.name.split(".")[0]
    table = name if name.replace("_", "").replace("-", "").isalnum() and name.isascii() else write_text(name)
    head = HEAD if encoding == "utf-8" else HEAD.replace("\nunit", f'\nencoding = "{encoding}"\nunit')
    columns = describe_file(data, encoding)
    if unit != "?" and unit.lower() not in {column.lower() for column in columns}:
        known = ", ".join(list(columns)[:12])
        raise InvalidParameter(f"unit must be a column of the file, got {unit!r}. There are: {known}.")
    lines = [
        head.format(name=table, id=write_text(name), source=write_text(data.name), unit=write_text(unit))
    ]
    for column, kind in columns.items():
        if kind is None:
            lines.append(f"# {write_text(column)}: of a type that questions cannot be about\n")
        else:
            lines.append(f'# {write_text(column)} = {{ type = "{kind}" }}   # {HINTS[kind]}\n')
    return "".join(lines)


def find_gaps(policy: Policy) -> Iterator[dict[str, str]]:
    """Yield what is missing, and the questions that are refused because of it."""
    if policy.population is None:
        yield _gap(
            "", "", "no population", "an average's error in advance, and within= for AVG, cannot be said"
        )
    for table in policy.tables:
        columns = _with_schema(table)
        if columns is None:
            yield _gap(table.name, "", "the source is not there", "explain works, ask does not")
        yield from _unit_gaps(table, columns)
        yield from _table_gaps(table)
        for column in columns or table.columns:
            if not (isinstance(table.unit, UnitColumn) and column.name == table.unit.column):
                yield from _column_gaps(table.name, column)
    for public in policy.public:
        yield from _public_gaps(public)


def _public_gaps(table: PublicTable) -> Iterator[dict[str, str]]:
    """Find labels that anyone may read, and that questions pay for all the same."""
    known = {column.name.lower(): column for column in table.columns}
    names = [*known]
    if table.source is not None and find_files(table.source)[0]:
        names = list(describe_file(table.source, table.encoding))
    for name in names:
        stated = known.get(name.lower())
        if stated is None or (stated.type == "text" and stated.keys is None):
            costs = "GROUP BY it after a join costs delta and hides rare labels"
            yield _gap(table.name, name, "no keys", costs + _remedy(table, name))


def _remedy(table: PublicTable, name: str) -> str:
    """Return the line that makes the labels of a public table public keys; nothing where they are many."""
    labels: list[str] = []
    with contextlib.suppress(InvalidParameter, PolicyViolation):  # no file, or none that can be read
        labels = labels_of(table, name, most=MOST_LABELS)
    if not labels:
        return ""
    keys = ", ".join(map(write_text, labels))
    said = f'{write_text(name)} = {{ type = "text", keys = [{keys}] }}'
    return f". They are public: write {said} under [public.{write_text(table.name)}.columns]"


def _gap(table: str, column: str, missing: str, questions: str) -> dict[str, str]:
    return {"table": table or "data set", "column": column, "missing": missing, "questions": questions}


def _with_schema(table: Table) -> tuple[Column, ...] | None:
    """Return the policy's columns and the file's others; None without a file."""
    if table.source is None or not find_files(table.source)[0]:
        return None
    known = {column.name.lower() for column in table.columns}
    found = describe_file(table.source, table.encoding).items()
    others = (Column(name=name, type=kind) for name, kind in found if kind and name.lower() not in known)
    return (*table.columns, *others)


def _unit_gaps(table: Table, columns: tuple[Column, ...] | None) -> Iterator[dict[str, str]]:
    """Check that the unit is a column of the file, if there is one."""
    named = table.unit.column if isinstance(table.unit, UnitColumn) else None
    if named is None or columns is None or named.lower() in {each.name.lower() for each in columns}:
        return
    yield _gap(table.name, "", f"unit {named!r} is no column of the data", "every question is refused")


def _table_gaps(table: Table) -> Iterator[dict[str, str]]:
    single = table.limit is None and (table.max_groups, table.max_rows) == (1, 1)
    if isinstance(table.unit, UnitColumn | Through) and single:
        yield _gap(
            table.name,
            "",
            "max_groups and max_rows are 1",
            'a person with several rows counts with one of them; write limit = "auto" to have a limit found',
        )


def _column_gaps(table: str, column: Column) -> Iterator[dict[str, str]]:
    if column.type in ("integer", "number") and column.bounds is None and column.keys is None:
        yield _gap(
            table, column.name, "no bounds", "SUM, AVG, VARIANCE, STDDEV, MEDIAN, MIN and MAX are refused"
        )
    if column.type == "text" and column.keys is None:
        yield _gap(
            table, column.name, "no keys", "GROUP BY costs delta and hides rare labels; MODE is refused"
        )
