"""The columns of a file from its header or schema alone: no row is read."""

from pathlib import Path

from sqlglot import exp

from discreet.engines.duckdb_dialect import DuckDBDialect
from discreet.engines.registration import CSV_SUFFIXES, read_header
from discreet.engines.sql import call, text
from discreet.errors import InvalidParameter
from discreet.tables import Type


def describe_file(source: str | Path) -> dict[str, Type | None]:
    """Column -> type; text in CSV, None for what questions cannot be about."""
    path = Path(source)
    suffix = Path(str(path).removesuffix(".gz")).suffix.lower()
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
        described = connection.execute(f"DESCRIBE {select.sql(dialect='duckdb')}").fetchall()
    return {row[0]: DuckDBDialect().stored_type(row[1]) for row in described}
