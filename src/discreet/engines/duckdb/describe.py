"""The columns of a file from its header or schema alone: no row is read."""

from pathlib import Path

from sqlglot import exp

from discreet.engines.duckdb.dialect import DuckDBDialect
from discreet.engines.duckdb.registration import CSV_SUFFIXES, read_header
from discreet.engines.sql import call, text
from discreet.engines.sql.engine import check_unit, refuse_absent
from discreet.errors import InvalidParameter, PolicyViolation
from discreet.tables import Column, Policy, PublicTable, Table, Type


def describe_policy(policy: Policy) -> Policy:
    """Return the policy with the columns of its files; what is declared must be among them."""
    every: list[Table | PublicTable] = [*policy.tables, *policy.public]
    found = {table.name: _columns(table) for table in every}
    schema = {
        table: {name: kind for name, kind in columns.items() if kind is not None}
        for table, columns in found.items()
    }
    described = policy.with_schema(schema)
    for table in every:
        stored = {name.lower() for name in found[table.name]}
        for column in table.columns:
            if column.name.lower() not in stored:
                refuse_absent(column.name, table.name)
    for private in described.tables:
        check_unit(private)
    return described


def _columns(table: Table | PublicTable) -> dict[str, Type | None]:
    found = describe_file(table.source or "")
    if _suffix(table.source or "") not in CSV_SUFFIXES:
        return found
    return {name: (table.column(name) or Column(name=name)).type for name in found}  # parsed as declared


def describe_file(source: str | Path) -> dict[str, Type | None]:
    """Return column -> type; text in CSV, None for what questions cannot be about."""
    path, suffix = Path(source), _suffix(source)
    if not path.is_file() or suffix not in (*CSV_SUFFIXES, ".parquet"):
        raise InvalidParameter(
            f"a data file must be an existing .csv, .tsv or .parquet, got {str(source)!r}."
        )
    if suffix in CSV_SUFFIXES:
        return dict.fromkeys(read_header(str(path), CSV_SUFFIXES[suffix]), "text")
    import duckdb

    inside = exp.Table(this=call("read_parquet", text(str(path))))
    select = exp.Select().select(exp.Star()).from_(inside)
    with duckdb.connect(":memory:") as connection:
        try:
            described = connection.execute(f"DESCRIBE {select.sql(dialect='duckdb')}").fetchall()
        except duckdb.Error:
            raise PolicyViolation(f"{str(source)!r} must be a Parquet file that can be read.") from None
    return {row[0]: DuckDBDialect().stored_type(row[1]) for row in described}


def _suffix(source: str | Path) -> str:
    return Path(str(source).removesuffix(".gz")).suffix.lower()
