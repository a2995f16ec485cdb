"""The types of columns and parameters: their numbers in PostgreSQL, and values in text and binary form."""

import datetime
import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from discreet.apps.postgres.failures import Refused
from discreet.asking.policy import Type

EPOCH = datetime.datetime(2000, 1, 1)
SMALLEST, LARGEST = -(2**63), 2**63 - 1


@dataclass(frozen=True)
class PgType:
    """A type: its number, name and size; arrays also have the type of their elements."""

    oid: int
    name: str
    size: int
    element: "PgType | None" = None
    array: int = 0


BOOL, INT8, INT2, INT4 = (
    PgType(16, "bool", 1, array=1000),
    PgType(20, "int8", 8, array=1016),
    PgType(21, "int2", 2, array=1005),
    PgType(23, "int4", 4, array=1007),
)
TEXT, OID, FLOAT8 = (
    PgType(25, "text", -1, array=1009),
    PgType(26, "oid", 4, array=1028),
    PgType(701, "float8", 8, array=1022),
)
DATE, TIMESTAMP, NUMERIC = (
    PgType(1082, "date", 4, array=1182),
    PgType(1114, "timestamp", 8, array=1115),
    PgType(1700, "numeric", -1, array=1231),
)
OTHERS = (
    PgType(17, "bytea", -1, array=1001),
    PgType(18, "char", 1, array=1002),
    PgType(19, "name", 64, array=1003),
    PgType(24, "regproc", 4, array=1008),
    PgType(114, "json", -1, array=199),
    PgType(700, "float4", 4, array=1021),
    PgType(705, "unknown", -2),
    PgType(1042, "bpchar", -1, array=1014),
    PgType(1043, "varchar", -1, array=1015),
    PgType(1083, "time", 8, array=1183),
    PgType(1184, "timestamptz", 8, array=1185),
    PgType(1186, "interval", 16, array=1187),
    PgType(2205, "regclass", 4, array=2210),
    PgType(2206, "regtype", 4, array=2211),
    PgType(2249, "record", -1, array=2287),
    PgType(2278, "void", 4),
    PgType(2950, "uuid", 16, array=2951),
    PgType(3802, "jsonb", -1, array=3807),
)
SCALARS = (BOOL, INT8, INT2, INT4, TEXT, OID, FLOAT8, DATE, TIMESTAMP, NUMERIC, *OTHERS)
TYPES = {each.oid: each for each in SCALARS} | {
    each.array: PgType(each.array, f"_{each.name}", -1, element=each) for each in SCALARS if each.array
}
BY_NAME = {each.name: each for each in SCALARS}
OURS: dict[Type, PgType] = {
    "integer": INT8,
    "number": FLOAT8,
    "text": TEXT,
    "boolean": BOOL,
    "date": DATE,
    "timestamp": TIMESTAMP,
}


@dataclass(frozen=True)
class Column:
    """A column of a result."""

    name: str
    type: PgType


def write_value(value: Any, kind: PgType, code: int) -> bytes | None:
    """Return a value as the client wants it: in text (0) or binary (1) form; None for NULL.

    >>> write_value(7, INT8, 0), write_value(True, BOOL, 0), write_value(7, INT4, 1)
    (b'7', b't', b'\\x00\\x00\\x00\\x07')
    """
    if value is None:
        return None
    if kind.element is not None:
        return _write_array(value, kind.element, code)
    return _BINARY.get(kind.oid, _text_of)(value) if code else _text_of(value)


def _text_of(value: Any) -> bytes:
    if isinstance(value, bool):
        return b"t" if value else b"f"
    if isinstance(value, float):
        names = {math.inf: "Infinity", -math.inf: "-Infinity"}
        return (names.get(value) or ("NaN" if math.isnan(value) else repr(value))).encode()
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ").encode()
    if isinstance(value, int) and not SMALLEST <= value <= LARGEST:
        raise _out_of_range()
    return str(value).replace("\0", " ").encode(errors="replace")


def _packed(form: str) -> Callable[[Any], bytes]:
    def pack(value: Any) -> bytes:
        try:
            return struct.pack(form, value)
        except (struct.error, OverflowError, TypeError):
            raise _out_of_range() from None

    return pack


def _out_of_range() -> Refused:
    return Refused("22003", "A value of the answer does not fit PostgreSQL's bigint. REST shows it in full.")


def _write_numeric(value: Any) -> bytes:
    """Return a number in PostgreSQL's decimal form: groups of four digits, and where the point is."""
    sign, digits, exponent = Decimal(str(value)).as_tuple()
    if not isinstance(exponent, int):
        return struct.pack("!hhHh", 0, 0, 0xC000, 0)
    scale = max(0, -exponent)
    whole = "".join(map(str, digits)) + "0" * max(0, exponent)
    whole = whole.rjust(scale + 1, "0")
    before, after = whole[: len(whole) - scale], whole[len(whole) - scale :]
    before = before.rjust(-(-len(before) // 4) * 4, "0")
    after = after.ljust(-(-len(after) // 4) * 4, "0")
    groups = [int((before + after)[place : place + 4]) for place in range(0, len(before + after), 4)]
    head = struct.pack("!hhHh", len(groups), len(before) // 4 - 1, 0x4000 * sign, scale)
    return head + struct.pack(f"!{len(groups)}h", *groups)


def _write_array(values: Any, element: PgType, code: int) -> bytes:
    cells = [write_value(value, element, code) for value in values]
    if not code:
        return b"{" + b",".join(b"NULL" if cell is None else _quoted(cell) for cell in cells) + b"}"
    head = struct.pack("!iiI", 1 if cells else 0, int(None in cells), element.oid)
    if not cells:
        return head
    body = [b"\xff\xff\xff\xff" if cell is None else struct.pack("!i", len(cell)) + cell for cell in cells]
    return head + struct.pack("!ii", len(cells), 1) + b"".join(body)


def _quoted(cell: bytes) -> bytes:
    if cell and not any(each in b'{}",\\ \t\n' for each in cell) and cell.lower() != b"null":
        return cell
    return b'"' + cell.replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'


_BINARY: dict[int, Callable[[Any], bytes]] = {
    BOOL.oid: lambda value: b"\x01" if value else b"\x00",
    INT8.oid: _packed("!q"),
    INT4.oid: _packed("!i"),
    INT2.oid: _packed("!h"),
    OID.oid: _packed("!I"),
    FLOAT8.oid: _packed("!d"),
    NUMERIC.oid: _write_numeric,
    DATE.oid: lambda value: struct.pack("!i", (value - EPOCH.date()).days),
    TIMESTAMP.oid: lambda value: struct.pack("!q", (value - EPOCH) // datetime.timedelta(microseconds=1)),
}


# --- parameters -------------------------------------------------------------------------------------------


def read_parameter(raw: bytes | None, kind: PgType, code: int) -> Any:
    """Return the value of a parameter; raise if it is not one of its type."""
    if raw is None:
        return None
    try:
        return _READ_BINARY[kind.oid](raw) if code else _read_text(raw.decode(), kind)
    except KeyError:
        raise Refused("0A000", f"Parameters of type {kind.name} are not supported.") from None
    except (ValueError, ArithmeticError, struct.error):
        raise Refused("22P02", f"A parameter must be a valid {kind.name}.") from None


def _read_text(written: str, kind: PgType) -> Any:
    if "\0" in written:
        raise ValueError
    if kind.oid == BOOL.oid:
        return {"t": True, "true": True, "1": True, "f": False, "false": False, "0": False}[written.lower()]
    if kind.name in ("int8", "int4", "int2", "oid"):
        return int(written)
    if kind.name in ("float8", "float4", "numeric"):
        return _finite(Decimal(written))
    if kind.oid == DATE.oid:
        return datetime.date.fromisoformat(written)
    if kind.name in ("timestamp", "timestamptz"):
        return _without_zone(datetime.datetime.fromisoformat(written))
    return written


def _without_zone(value: datetime.datetime) -> datetime.datetime:
    return value if value.tzinfo is None else value.astimezone(datetime.UTC).replace(tzinfo=None)


def _finite(value: Decimal) -> Decimal:
    if not value.is_finite() or abs(value.adjusted()) > 400:
        raise ValueError
    return value


def _read_numeric(raw: bytes) -> Decimal:
    count, weight, sign, scale = struct.unpack("!hhHh", raw[:8])
    if sign not in (0, 0x4000) or not 0 <= count <= 100 or abs(weight) > 100 or not 0 <= scale <= 400:
        raise ValueError
    groups = struct.unpack(f"!{count}h", raw[8:])
    whole = sum(group * 10_000 ** (count - 1 - place) for place, group in enumerate(groups))
    value = Decimal(whole).scaleb(4 * (weight + 1 - count))
    return _finite(-value if sign else value)


def _unpacked(form: str) -> Callable[[bytes], Any]:
    return lambda raw: struct.unpack(form, raw)[0]


def _read_date(raw: bytes) -> datetime.date:
    return EPOCH.date() + datetime.timedelta(days=struct.unpack("!i", raw)[0])


def _read_timestamp(raw: bytes) -> datetime.datetime:
    return EPOCH + datetime.timedelta(microseconds=struct.unpack("!q", raw)[0])


_READ_BINARY: dict[int, Callable[[bytes], Any]] = {
    BOOL.oid: lambda raw: struct.unpack("!?", raw)[0],
    INT8.oid: _unpacked("!q"),
    INT4.oid: _unpacked("!i"),
    INT2.oid: _unpacked("!h"),
    OID.oid: _unpacked("!I"),
    FLOAT8.oid: lambda raw: _finite(Decimal(repr(struct.unpack("!d", raw)[0]))),
    700: lambda raw: _finite(Decimal(repr(struct.unpack("!f", raw)[0]))),
    NUMERIC.oid: _read_numeric,
    DATE.oid: _read_date,
    TIMESTAMP.oid: _read_timestamp,
    1184: _read_timestamp,
    **{BY_NAME[name].oid: bytes.decode for name in ("text", "varchar", "bpchar", "name", "unknown")},
}


def as_sql(value: Any) -> str:
    """Return a value as it is written in a question.

    >>> as_sql("it's"), as_sql(-3), as_sql(None), as_sql(datetime.date(2026, 11, 18))
    ("'it''s'", '-3', 'NULL', "DATE '2026-11-18'")
    """
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, datetime.datetime):
        return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
    if isinstance(value, datetime.date):
        return f"DATE '{value.isoformat()}'"
    if isinstance(value, Decimal):
        return f"{value:f}"
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"
