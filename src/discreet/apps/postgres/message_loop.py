"""One client's messages after authentication: simple and extended queries, portals, errors.

An error in the extended protocol skips everything up to the next Sync. What a portal gave is kept in it, so
that executing it again, or the rest of it, reads nothing and charges nothing.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from discreet.apps.postgres import wire
from discreet.apps.postgres.client_session import Result, Session
from discreet.apps.postgres.failures import Fatal, Refused, error_message, notice
from discreet.apps.postgres.formats import TYPES, Column, PgType, as_sql, read_parameter, write_value
from discreet.apps.postgres.statements import Statement, parameter_types, read_statement, read_statements
from discreet.apps.postgres.wire import Fields, ProtocolError, Stream
from discreet.errors import Unauthenticated

MOST_STATEMENTS, MOST_PORTALS, MOST_SUSPENDED = 1000, 100, 8
MOST_CHARACTERS = 2_000_000  # of all prepared statements of a connection


@dataclass
class Prepared:
    """A prepared statement: the types of its parameters, and the columns that the client was told."""

    statement: Statement
    types: Sequence[PgType]
    told: tuple[Column, ...] | None = None


@dataclass
class Portal:
    """A bound statement. Once it ran it holds its result, and how many of its rows were sent."""

    statement: Statement
    formats: Sequence[int]
    result: Result | None = None
    sent: int = 0

    def codes(self, columns: Sequence[Column]) -> list[int]:
        """Return the format of each column: all in text, all in one format, or each in its own."""
        if len(self.formats) <= 1:
            return [self.formats[0] if self.formats else 0] * len(columns)
        if len(self.formats) != len(columns):
            raise Refused("08P01", "A bind message must have a format for each column.")
        return list(self.formats)


class Connection:
    """The loop over messages."""

    def __init__(self, stream: Stream, session: Session) -> None:
        self._stream, self._session = stream, session
        self._prepared: dict[str, Prepared] = {}
        self._portals: dict[str, Portal] = {}
        self._reported = session.settings.reported()
        self._skipping = False

    async def serve(self) -> None:
        """Answer messages until the client leaves."""
        handlers = {b"P": self._parse, b"B": self._bind, b"D": self._describe, b"E": self._execute,
                    b"C": self._close, b"H": self._flush}  # fmt: skip
        while True:
            kind, payload = await self._stream.message()
            if kind == b"X":
                return
            if kind == b"S":
                await self._sync()
            elif kind == b"Q":
                self._skipping = False
                await self._query(payload)
            elif kind in handlers and not self._skipping:
                await self._guard(handlers[kind](Fields(payload)))
            elif kind in b"pF":
                raise ProtocolError

    async def _guard(self, step: "object") -> None:
        try:
            await step  # type: ignore[misc]
        except (ProtocolError, wire.Gone, Fatal):
            raise
        except Exception as error:  # noqa: BLE001  a text that is ours, whatever failed
            self._skipping = True
            await self._fail(error)

    async def _fail(self, error: Exception) -> None:
        refused = self._session.note_failure(error)
        if isinstance(error, Unauthenticated):
            raise Fatal(refused.state, refused.message)
        await self._stream.send(error_message(refused))

    # --- simple queries ------------------------------------------------------------------------------------

    async def _query(self, payload: bytes) -> None:
        fields = Fields(payload)
        text = fields.text()
        fields.end()
        self._portals.pop("", None)
        self._prepared.pop("", None)
        try:
            await self._session.admit()
            found = read_statements(text)
            if len(found) > 1 and any(each.asks for each in found):
                found = await self._free_alone(found)
            if not found:
                await self._stream.send(wire.EMPTY_QUERY)
            for statement in found:
                portal = Portal(statement, ())
                result = await self._session.run(statement)
                if result.columns is not None and not result.is_copy:
                    await self._stream.send(_describe(result.columns, portal.codes(result.columns)))
                await self._send_rows(portal, result, 0)
        except (ProtocolError, wire.Gone, Fatal):
            raise
        except Exception as error:  # noqa: BLE001  a text that is ours, whatever failed
            await self._fail(error)
        self._end_portals()
        await self._ready()

    async def _free_alone(self, found: list[Statement]) -> list[Statement]:
        """Return several statements if none asks for data; refuse them otherwise, before any is run."""
        for statement in found:
            if statement.asks and not await self._session.is_free(statement):
                raise Refused(
                    "42601",
                    "A question must be sent alone, and this one came with other statements. Send them "
                    "one by one.",
                )
        return found

    # --- extended queries ----------------------------------------------------------------------------------

    async def _parse(self, fields: Fields) -> None:
        name, text = fields.text(), fields.text()
        declared = [fields.oid() for _ in range(fields.int16())]
        fields.end()
        await self._session.admit()
        if name and name in self._prepared:
            raise Refused("42P05", "There is a prepared statement of this name already.")
        used = sum(len(each.statement.text) for each in self._prepared.values())
        if len(self._prepared) >= MOST_STATEMENTS or used + len(text) > MOST_CHARACTERS:
            raise Refused("54000", f"At most {MOST_STATEMENTS} prepared statements may be kept. Close some.")
        statement = read_statement(text)
        types = parameter_types(statement, declared, self._session.column_types, TYPES)
        self._prepared[name] = Prepared(statement, types)
        await self._stream.send(wire.PARSE_COMPLETE)

    async def _bind(self, fields: Fields) -> None:
        name, source = fields.text(), fields.text()
        codes = [fields.int16() for _ in range(fields.int16())]
        raw = [fields.cell() for _ in range(fields.int16())]
        formats = [fields.int16() for _ in range(fields.int16())]
        fields.end()
        prepared = self._find(source)
        if len(raw) != len(prepared.types) or len(codes) not in (0, 1, len(raw)):
            raise Refused("08P01", f"The statement has {len(prepared.types)} parameters.")
        if any(code not in (0, 1) for code in (*codes, *formats)):
            raise Refused("08P01", "A format must be 0 (text) or 1 (binary).")
        every = codes if len(codes) == len(raw) else [codes[0] if codes else 0] * len(raw)
        values = [as_sql(read_parameter(*each)) for each in zip(raw, prepared.types, every, strict=True)]
        if name and name in self._portals:
            raise Refused("42P03", "There is a portal of this name already.")
        if len(self._portals) >= MOST_PORTALS:
            raise Refused("54000", f"At most {MOST_PORTALS} portals may be open. Close some.")
        statement = prepared.statement.bind(values)
        if prepared.told is not None and await self._session.describe(statement) != prepared.told:
            raise Refused("0A000", "cached plan must not change result type", routine="RevalidateCachedQuery")
        self._portals[name] = Portal(statement, formats)
        await self._stream.send(wire.BIND_COMPLETE)

    async def _describe(self, fields: Fields) -> None:
        kind, name = fields.take(1), fields.text()
        fields.end()
        if kind == b"S":
            prepared = self._find(name)
            samples = [as_sql(_sample(each)) for each in prepared.types]
            columns = await self._session.describe(prepared.statement.bind(samples))
            prepared.told = columns
            head, codes = wire.parameter_description([each.oid for each in prepared.types]), None
        elif kind == b"P":
            portal = self._find_portal(name)
            found = portal.result
            columns = await self._session.describe(portal.statement) if found is None else found.columns
            head, codes = b"", None if columns is None else portal.codes(columns)
        else:
            raise ProtocolError
        shown = wire.NO_DATA if columns is None else _describe(columns, codes or [0] * len(columns))
        await self._stream.send(head, shown)

    async def _execute(self, fields: Fields) -> None:
        name, most = fields.text(), fields.int32()
        fields.end()
        portal = self._find_portal(name)
        if portal.statement.kind == "empty":
            await self._stream.send(wire.EMPTY_QUERY)
            return
        if portal.result is None:
            if (
                sum(bool(each.result and each.result.rows) for each in self._portals.values())
                >= MOST_SUSPENDED
            ):
                raise Refused("54000", f"At most {MOST_SUSPENDED} portals may be suspended. Close some.")
            await self._session.admit()
            portal.result = await self._session.run(portal.statement)
        await self._send_rows(portal, portal.result, max(0, most))

    async def _close(self, fields: Fields) -> None:
        kind, name = fields.take(1), fields.text()
        fields.end()
        if kind not in (b"S", b"P"):
            raise ProtocolError
        (self._prepared if kind == b"S" else self._portals).pop(name, None)
        await self._stream.send(wire.CLOSE_COMPLETE)

    async def _flush(self, fields: Fields) -> None:
        fields.end()
        await self._stream.flush()

    async def _sync(self) -> None:
        self._skipping = False
        if self._session.settings.status == "I":
            self._end_portals()
        await self._ready()

    # --- sending -------------------------------------------------------------------------------------------

    async def _send_rows(self, portal: Portal, result: Result, most: int) -> None:
        """Send rows, at most so many; the rest waits in the portal."""
        if result.is_copy:
            await self._send_copy(result)
            return
        if portal.sent == 0 and result.notices:
            await self._stream.send(*map(notice, result.notices))
        end = min(len(result.rows), portal.sent + most) if most else len(result.rows)
        sent, begun = end - portal.sent, portal.sent
        await self._stream.send_all(self._messages(portal, result, begun, end))
        portal.sent = end
        if most and end < len(result.rows):
            await self._stream.send(wire.SUSPENDED)
            return
        portal.result, portal.sent = replace(result, rows=(), notices=()), 0  # nothing is left to send
        tag = f"SELECT {sent}" if result.tag.startswith("SELECT") else result.tag
        await self._stream.send(wire.complete(tag))

    def _messages(self, portal: Portal, result: Result, begun: int, end: int) -> Iterator[bytes]:
        columns = result.columns or ()
        codes = portal.codes(columns)
        for row in result.rows[begun:end]:
            yield wire.data_row(_cells(row, columns, codes))

    async def _send_copy(self, result: Result) -> None:
        columns = result.columns or ()
        codes = [1] * len(columns)
        rows = (wire.data_row(_cells(row, columns, codes))[5:] for row in result.rows)
        await self._stream.send(*map(notice, result.notices), wire.copy_out(len(columns)))
        await self._stream.send_all(  # the header comes with the first row, as drivers expect
            wire.message(b"d", (b"" if place else wire.COPY_HEADER) + row)
            for place, row in enumerate(itertools.chain(rows, [wire.COPY_TRAILER]))
        )
        await self._stream.send(wire.COPY_DONE, wire.complete(result.tag))

    async def _ready(self) -> None:
        reported = self._session.settings.reported()
        changed = [(name, value) for name, value in reported.items() if self._reported[name] != value]
        self._reported = reported
        status = wire.ready(self._session.settings.status)
        await self._stream.send(*(wire.parameter_status(*each) for each in changed), status)

    def _end_portals(self) -> None:
        if self._session.settings.status == "I":
            self._portals.clear()

    def _find(self, name: str) -> Prepared:
        if name not in self._prepared:
            raise Refused("26000", "There is no such prepared statement.")
        return self._prepared[name]

    def _find_portal(self, name: str) -> Portal:
        if name not in self._portals:
            raise Refused("34000", "There is no such portal.")
        return self._portals[name]


def _cells(row: Sequence[object], columns: Sequence[Column], codes: Sequence[int]) -> list[bytes | None]:
    return [
        write_value(value, column.type, code) for value, column, code in zip(row, columns, codes, strict=True)
    ]


def _describe(columns: Sequence[Column], codes: Sequence[int]) -> bytes:
    return wire.row_description(
        [(each.name, each.type.oid, each.type.size, code) for each, code in zip(columns, codes, strict=True)]
    )


def _sample(kind: PgType) -> object:
    """Return a value of a type, to plan a statement before its values are known."""
    samples = {"bool": b"t", "date": b"2000-01-01", "timestamp": b"2000-01-01", "timestamptz": b"2000-01-01"}
    return "{}" if kind.element else read_parameter(samples.get(kind.name, b"1"), kind, 0)
