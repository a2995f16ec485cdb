"""DuckDB's dialect."""

from sqlglot import exp

from discreet.asking.engines.rows import HASH_BITS
from discreet.asking.engines.sql import binary, call, cast, text, try_cast, whole
from discreet.asking.engines.sql.dialect import Built, TryCasting, Typed
from discreet.asking.policy import Type

INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
WIDE_INTEGERS = ("UBIGINT", "HUGEINT", "UHUGEINT")
TIMESTAMPS = ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS")
MOST_IN_HEAP = 1000  # above, min(x, n) is no better than numbering


class DuckDBDialect(TryCasting):
    """128-bit whole numbers, TRY_CAST, and arithmetic that never fails.

    >>> DuckDBDialect().stored_type("DECIMAL(10,2)"), DuckDBDialect().stored_type("STRUCT(a INTEGER)")
    ('number', None)
    """

    printer = "duckdb"
    integers = INTEGERS

    def materialized(self, *, wanted: bool) -> bool | None:
        """Return the mark either way: DuckDB would else decide by itself."""
        return wanted

    def stored_type(self, physical: str) -> Type | None:
        """Return the type that a column stored so has here; None for what questions cannot be about."""
        if physical in INTEGERS or physical in WIDE_INTEGERS or physical.endswith(",0)"):
            return "integer"
        if physical in ("FLOAT", "DOUBLE") or physical.startswith("DECIMAL("):
            return "number"
        if physical in ("VARCHAR", "UUID") or physical.startswith("ENUM("):
            return "text"
        if physical in TIMESTAMPS:
            return "timestamp"
        plain: dict[str, Type] = {"BOOLEAN": "boolean", "DATE": "date"}
        return plain.get(physical)

    def bytes_of(self, value: Built) -> Built:
        """Return how many bytes a text has."""
        return call("strlen", value)

    def nearest_whole(self, number: Built) -> Built:
        """Return the BIGINT nearest to a double, halves to even; NULL where there is none."""
        return try_cast(number, "BIGINT")

    def nth_smallest(self, number: Built, count: int) -> Built | None:
        """Return a heap of the smallest; None above the size where it pays."""
        if count > MOST_IN_HEAP:
            return None
        return call("list_extract", call("min", number, whole(count)), whole(count))

    def trim(self, sides: str, value: Built) -> Built:
        """Return the text without the spaces at its ends; both are TRIM here."""
        return super().trim("trim" if sides == "btrim" else sides, value)

    def fast_hash(self, salt: int, values: list[Typed]) -> Built:
        """Return the upper half of DuckDB's own 64-bit hash. Of many values it is an exclusive or: hashed
        again.
        """
        hashed = call("hash", call("hash", whole(salt, "HUGEINT"), *(value for value, _ in values)))
        return cast(binary(exp.BitwiseRightShift, hashed, whole(HASH_BITS, "UBIGINT")), "BIGINT")

    def md5_hash(self, canonical: Built) -> Built:
        """Return the first 32 bits of md5 of a text in UTF-8."""
        digest = call("substr", call("md5", canonical), exp.Literal.number(1), exp.Literal.number(8))
        return cast(call("concat", text("0x"), digest), "BIGINT")

    def microseconds(self, moment: Built) -> Built:
        """Return a timestamp as BIGINT: microseconds since 1970."""
        return call("epoch_us", moment)
