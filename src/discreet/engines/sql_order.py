"""The order's hash as SQL: md5 of the canonical text for conformance, DuckDB's own for speed."""

from sqlglot import exp

from discreet.engines.order import HASH_BITS, SEPARATOR
from discreet.engines.sql import call, cast, text, whole
from discreet.errors import InternalError
from discreet.tables import Type

Typed = tuple[exp.Expression, Type | None]

HASHES = ("fast", "md5")


def hash_of(hashing: str, salt: int, values: list[Typed]) -> exp.Expression:
    """The first 32 bits of the hash of salt and values, as an unsigned whole number.

    A type of None stands for a unit or a whole number of ours.
    """
    if hashing == "fast":
        hashed = call("hash", whole(salt, "HUGEINT"), *(value.copy() for value, _ in values))
        shift = whole(HASH_BITS, "UBIGINT")
        return exp.paren(exp.BitwiseRightShift(this=hashed, expression=shift), copy=False)
    if hashing != "md5":
        raise InternalError("the order's hash must be fast or md5")
    parts: list[exp.Expression] = [text(str(salt))]
    for value, kind in values:
        parts.extend((text(SEPARATOR), _canonical(value.copy(), kind)))
    digest = call("substr", call("md5", call("concat", *parts)), exp.Literal.number(1), exp.Literal.number(8))
    return cast(call("concat", text("0x"), digest), "UBIGINT")


def _canonical(value: exp.Expression, kind: Type | None) -> exp.Expression:
    if kind == "number":
        shown: exp.Expression = text("#")
    elif kind == "timestamp":
        shown = cast(call("epoch_us", value), "VARCHAR")
    else:
        shown = cast(value, "VARCHAR")
    known = exp.Not(this=exp.Is(this=value.copy(), expression=exp.null()))
    return exp.Case(ifs=[exp.If(this=known, true=shown)], default=text("-"))
