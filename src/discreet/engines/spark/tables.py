"""How tables come into Spark: Parquet by path, the catalogue by name, frames of Spark, small data by hand.

CSV is read by the strict reader that all engines share, in this process, and handed over: Spark's own reader
mends what is not strict, and cuts what does not fit. Of what Spark reads by itself, times are read once: a
file may hold one that Spark cannot, and a question that met it would fail. Everything else is read by
conversions that cannot.
"""

import contextlib
import re
import uuid
from pathlib import Path
from typing import Any

from discreet.engines.registration import CSV_SUFFIXES, Registrar
from discreet.errors import DiscreetError, InvalidParameter, PolicyViolation
from discreet.tables import PublicTable, Table

CATALOGUE = "catalogue://"
TIMES = ("timestamp", "timestamp_ntz", "date")
CATALOGUE_NAME = re.compile(r"\w+(\.\w+){0,2}")


class SparkTables:
    """Brings one table after another into a session, under the names t0, t1, ..."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._global: list[str] = []

    def register(self, table: Table | PublicTable, source: object, name: str) -> dict[str, str]:
        """Make the table known under `name`; its columns and their stored types."""
        try:
            frame = self._frame(table, source)
            frame.createOrReplaceTempView(name)
            if source is None or isinstance(source, str | Path):
                _read_times(table, frame)
            return {field.name: field.dataType.simpleString() for field in frame.schema.fields}
        except DiscreetError:
            raise
        except Exception:  # noqa: BLE001  # Spark's words on a source may quote it
            raise InvalidParameter(
                f"source of table {table.name!r} must be Parquet that Spark can read, a CSV file, a table of "
                f"its catalogue, or a frame, got {_shown(source)}."
            ) from None

    def close(self) -> None:
        """Drop the names that other sessions could see."""
        for name in self._global:
            with contextlib.suppress(Exception):  # with a Spark that is gone, its names are
                self._session.catalog.dropGlobalTempView(name)

    def _frame(self, table: Table | PublicTable, source: object) -> Any:
        if source is None or isinstance(source, str | Path):
            return self._named(table, table.name if source is None else str(source))
        if type(source).__module__.startswith("pyspark."):
            return self._adopted(source)
        return self._session.createDataFrame(_as_arrow(source))

    def _named(self, table: Table | PublicTable, source: str) -> Any:
        name = source.removeprefix(CATALOGUE)  # in a policy file, anything else is a path
        suffix = Path(source.removesuffix(".gz")).suffix.lower()
        if suffix in CSV_SUFFIXES:
            return self._session.createDataFrame(_read_csv(table, source))
        if suffix == ".parquet" or "/" in name:
            return self._session.read.parquet(source)
        if not CATALOGUE_NAME.fullmatch(name):
            raise InvalidParameter(
                f"source of table {table.name!r} must be a path or a name like bank.accounts, got {source!r}."
            )
        return self._session.table(name)

    def _adopted(self, frame: Any) -> Any:
        """A frame of the owner's session, seen from ours under a name that nobody guesses."""
        name = f"discreet_{uuid.uuid4().hex}"
        frame.createGlobalTempView(name)
        self._global.append(name)
        return self._session.table(f"global_temp.{name}")


def _read_times(table: Table | PublicTable, frame: Any) -> None:
    """Refuse a table with a time that cannot be read, and name its column."""
    times = [field.name for field in frame.schema.fields if field.dataType.simpleString() in TIMES]
    if not times or _reads(frame, times):
        return
    bad = next((each for each in times if not _reads(frame, [each])), times[0])
    raise PolicyViolation(
        f"Column {bad!r} of table {table.name!r} must hold times that can be read. Write the file anew.",
        table=table.name,
        column=bad,
    )


def _reads(frame: Any, columns: list[str]) -> bool:
    named = [each.replace("`", "``") for each in columns]
    try:
        frame.selectExpr(*(f"max(xxhash64(`{each}`))" for each in named)).collect()
    except Exception:  # noqa: BLE001  # its words may quote the data
        return False
    return True


def rows_of(source: object) -> int | None:
    """How many rows a Parquet file has, if it can be read from here: its last bytes say so."""
    if not isinstance(source, str | Path) or Path(source).suffix != ".parquet" or not Path(source).is_file():
        return None
    import pyarrow.parquet

    with contextlib.suppress(pyarrow.ArrowException, OSError):  # Spark may be able to read it
        return int(pyarrow.parquet.read_metadata(source).num_rows)
    return None


def _as_arrow(held: Any) -> Any:
    """A frame in memory as Arrow: every PySpark reads that, but not every version of pandas."""
    kind = type(held).__module__.partition(".")[0]
    if kind == "polars":
        return held.to_arrow()
    if kind == "pandas":
        import pyarrow

        return pyarrow.Table.from_pandas(held, preserve_index=False)
    return held


def _read_csv(table: Table | PublicTable, source: str) -> Any:
    import duckdb

    with duckdb.connect(":memory:") as connection:
        Registrar(connection).register(table, source, "t")
        return connection.sql('FROM "t"').to_arrow_table()


def _shown(source: object) -> str:
    return repr(str(source)) if isinstance(source, str | Path) else type(source).__name__
