"""Reports wherever they are: lists, arrays, frames, files, and tables of DuckDB and Spark, grouped there."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidParameter

READERS = {".parquet": "read_parquet", ".csv": "read_csv", ".json": "read_json", ".jsonl": "read_json"}
WHOLE = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"}
DENSE_BITS = (
    27  # groups that DuckDB may count in one array: four times as fast as its hash table at 5 million
)


@dataclass(frozen=True)
class Groups:
    """Different reports, and how often each was sent; reports are None where all are counted in order."""

    reports: Any
    counts: NDArray[np.int64]

    def __add__(self, more: "Groups") -> "Groups":
        """Return both together."""
        if self.reports is None:
            return Groups(None, self.counts + more.counts)
        return Groups(
            np.concatenate([self.reports, more.reports]), np.concatenate([self.counts, more.counts])
        )

    def merged(self) -> "Groups":
        """Return the same with each report once; reports are rows of places, in any order."""
        if self.reports is None:
            return self
        rows, back = np.unique(np.sort(self.reports, axis=1), axis=0, return_inverse=True)
        counts = np.bincount(back.reshape(-1), weights=self.counts, minlength=len(rows))
        return Groups(rows, counts.astype(np.int64))


def read_reports(source: Any, *, column: str = "report") -> Any:
    """Return the reports of a source: a list or an array of all, or groups of equal ones."""
    if isinstance(source, list | tuple | np.ndarray | Groups):
        return source
    if isinstance(source, str | Path):
        return _from_file(Path(source), column)
    if hasattr(source, "groupBy"):  # a DataFrame of Spark, classic or Connect
        return _from_spark(source, column)
    if hasattr(source, "fetchnumpy") and hasattr(source, "query"):  # a relation of DuckDB
        return _from_duckdb(source, column)
    return _from_frame(source, column)


def _from_frame(source: Any, column: str) -> Any:
    """A column of pandas, Polars or Arrow, or a series."""
    series = source
    if hasattr(source, "columns"):
        names = [getattr(name, "name", name) for name in getattr(source, "column_names", source.columns)]
        if column not in names:
            raise _missing(column)
        series = source[column]
    if str(getattr(series, "dtype", "")).lower().startswith(("int", "uint")):
        return series.to_numpy()
    for name in ("to_pylist", "to_list", "tolist"):
        if hasattr(series, name):
            return list(getattr(series, name)())
    raise InvalidParameter(
        "reports must be a list, an array, a frame, a file, or a table of DuckDB or Spark, got "
        f"{type(source).__name__}.",
        parameter="reports",
    )


def _from_file(path: Path, column: str) -> Groups:
    import duckdb

    reader = READERS.get(path.suffix)
    if reader is None or not path.is_file():
        raise InvalidParameter(
            f"reports must be a readable file ending in {', '.join(READERS)}, got {path}.",
            parameter="reports",
        )
    with duckdb.connect() as connection:
        connection.execute(f"SET perfect_ht_threshold = {DENSE_BITS}")
        shown = connection.execute("SELECT current_setting('enable_progress_bar')").fetchall()
        if shown != [(False,)]:
            connection.execute("SET enable_progress_bar = false")  # in a notebook it is off, and stays so
        try:
            return _from_duckdb(getattr(connection, reader)(str(path)), column)
        except duckdb.Error:  # whose message may quote the file
            raise InvalidParameter(
                f"reports must be a file that can be read as {path.suffix[1:]}, got {path}.",
                parameter="reports",
            ) from None


def _from_duckdb(relation: Any, column: str) -> Groups:
    if column not in relation.columns:
        raise _missing(column)
    name = '"' + column.replace('"', '""') + '"'
    # S608: the only part that is put in is the quoted name of a column that is there.
    grouped = relation.query(
        "reports",
        f"SELECT {name} AS report, count(*) AS many FROM reports GROUP BY {name}",  # noqa: S608
    )
    if str(grouped.types[0]) in WHOLE:
        found = grouped.fetchnumpy()
        reports, many = found["report"], found["many"]
        if np.ma.is_masked(reports):
            raise InvalidParameter("a report must not be missing.", parameter="reports")
        return Groups(np.asarray(reports), np.asarray(many, dtype=np.int64))
    rows = grouped.fetchall()
    return Groups([row[0] for row in rows], np.array([row[1] for row in rows], dtype=np.int64))


def _from_spark(frame: Any, column: str) -> Groups:
    if column not in frame.columns:
        raise _missing(column)
    grouped = frame.groupBy(column).count()
    try:
        import pyarrow as pa  # millions of groups come as columns where Arrow is there
    except ImportError:
        rows = grouped.collect()
        return Groups([row[0] for row in rows], np.array([row[1] for row in rows], dtype=np.int64))
    reports, many = grouped.toArrow().columns
    counts = many.to_numpy().astype(np.int64)
    return Groups(reports.to_numpy() if pa.types.is_integer(reports.type) else reports.to_pylist(), counts)


def _missing(column: str) -> InvalidParameter:
    return InvalidParameter(f"reports must have the column {column}.", parameter="column")
