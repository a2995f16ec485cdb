"""What files would be refused for when the first question opens them: all of it at once, for the owner.

Tested by: tests/engines/test_file_check.py
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from discreet.asking.engines import open_engine
from discreet.asking.engines.duckdb.registration import TEXT_SUFFIXES, find_files
from discreet.asking.engines.duckdb.text_files import TextFiles, suffix_of
from discreet.asking.policy import Column, Policy, PublicTable, Table
from discreet.errors import DiscreetError, PolicyViolation

MOST_SHOWN = 5  # lines of one column, and of one file
MOST_ROUNDS = 100


@dataclass(frozen=True)
class Problem:
    """Something that the data must not have, and what to do about it."""

    table: str
    column: str
    said: str


def check_data(policy: Policy) -> Iterator[Problem]:
    """Yield every problem; once there is none, the first question opens the data without a complaint.

    What a text file breaks is found by reading it; the rest by opening the engine, and again without the
    column that it refused.
    """
    import duckdb

    left, broken = policy, False
    every: list[Table | PublicTable] = [*policy.tables, *policy.public]
    for table in every:
        paths = _text_files(table)
        if not paths:
            continue
        with duckdb.connect(":memory:") as connection:
            reader = _Reader(connection, table, paths)
            for problem in reader.problems():
                yield problem
                left = _without(left, problem)
            broken = broken or reader.broken
    if not broken:
        yield from _refused(left)


def _text_files(table: Table | PublicTable) -> list[str]:
    paths = find_files(table.source)[0] if table.source else []
    return paths if paths and all(suffix_of(each) in TEXT_SUFFIXES for each in paths) else []


class _Reader:
    def __init__(self, connection: Any, table: Table | PublicTable, paths: list[str]) -> None:
        self._connection, self._table, self._paths = connection, table, paths
        self.broken = True  # until every line was read

    def problems(self) -> Iterator[Problem]:
        """Yield what is wrong with the files of one table."""
        try:
            files = TextFiles(self._connection, self._table, self._paths)
        except PolicyViolation as error:
            names = ", ".join(Path(each).name for each in self._paths[:MOST_SHOWN])
            yield Problem(self._table.name, "", f"{names}: {error.message}")
            return
        try:
            files.copy()
            self.broken = False
        except Exception:  # noqa: BLE001  # its message quotes the data
            lines = list(files.find_bad_lines())
            said = "; ".join(lines[:MOST_SHOWN]) or "one of them is not"
            more = f"; and {len(lines) - MOST_SHOWN} lines more" if len(lines) > MOST_SHOWN else ""
            yield Problem(
                self._table.name,
                "",
                f"The file of table {self._table.name!r} must be {files.rule}: {said}{more}.",
            )
            if not files.copied:
                return
        for field in files.fields:
            for bad in files.find_bad_values(field, most=MOST_SHOWN):
                yield Problem(self._table.name, bad.column.name, files.say(bad))


def _refused(policy: Policy) -> Iterator[Problem]:
    for _ in range(MOST_ROUNDS):
        try:
            open_engine(policy.engine, policy, {}).close()
        except DiscreetError as error:
            problem = Problem(
                str(error.fields.get("table", "")), str(error.fields.get("column", "")), error.message
            )
            yield problem
            fewer = _without(policy, problem)
            if fewer == policy:
                return
            policy = fewer
        else:
            return


def _without(policy: Policy, problem: Problem) -> Policy:
    """Return the policy without what it says of a column; without a public table whose key is broken."""
    tables = tuple(replace(each, columns=_others(each, problem)) for each in policy.tables)
    public = tuple(
        replace(each, columns=_others(each, problem))
        for each in policy.public
        if each.name != problem.table or problem.column
    )
    return replace(policy, tables=tables, public=public)


def _others(table: Table | PublicTable, problem: Problem) -> tuple[Column, ...]:
    if table.name != problem.table:
        return table.columns
    return tuple(each for each in table.columns if each.name.lower() != problem.column.lower())
