"""The order's hash as SQL: md5 of the canonical text for conformance, the engine's own for speed."""

from sqlglot import exp

from discreet.engines.order import SEPARATOR
from discreet.engines.sql import call, cast, is_known, text, when
from discreet.engines.sql.dialect import Dialect, Typed
from discreet.errors import InternalError
from discreet.tables import Type

HASHES = ("fast", "md5")


def hash_of(dialect: Dialect, hashing: str, salt: int, values: list[Typed]) -> exp.Expression:
    """The first 32 bits of the hash of salt and values, as a whole number >= 0 (BIGINT)."""
    copied = [(value.copy(), kind) for value, kind in values]
    if hashing == "fast":
        return dialect.fast_hash(salt, copied)
    if hashing != "md5":
        raise InternalError("the order's hash must be fast or md5")
    parts: list[exp.Expression] = [text(str(salt))]
    for value, kind in copied:
        parts.extend((text(SEPARATOR), _canonical(dialect, value, kind)))
    return dialect.md5_hash(call("concat", *parts))


def _canonical(dialect: Dialect, value: exp.Expression, kind: Type | None) -> exp.Expression:
    if kind == "number":
        shown: exp.Expression = text("#")
    elif kind == "timestamp":
        shown = cast(dialect.microseconds(value), "VARCHAR")
    else:
        shown = dialect.to_text(value, kind)
    return when((is_known(value.copy()), shown), otherwise=text("-"))
