"""Statements: one text into the statements in it, each by what it does. Nothing is run here.

What asks for data is left as text: `discreet.asking.queries` reads it as it reads every question.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

from sqlglot.dialects.postgres import Postgres
from sqlglot.errors import SqlglotError

from discreet.apps.postgres.failures import Refused
from discreet.apps.postgres.formats import BOOL, DATE, FLOAT8, INT8, NUMERIC, TEXT, TIMESTAMP, PgType

Kind: TypeAlias = Literal[
    "empty", "begin", "commit", "rollback", "savepoint", "rollback_to", "release",
    "set", "reset", "show", "done", "explain", "copy", "query",
]  # fmt: skip
MOST_CHARACTERS = 20_000
MOST_TOKENS = 5_000
MOST_NESTED = 50
MOST_STATEMENTS = 16

_SIMPLE: dict[str, tuple[Kind, str]] = {
    "BEGIN": ("begin", "BEGIN"),
    "START": ("begin", "START TRANSACTION"),
    "COMMIT": ("commit", "COMMIT"),
    "END": ("commit", "COMMIT"),
    "ROLLBACK": ("rollback", "ROLLBACK"),
    "ABORT": ("rollback", "ROLLBACK"),
    "SAVEPOINT": ("savepoint", "SAVEPOINT"),
    "RELEASE": ("release", "RELEASE"),
    "SET": ("set", "SET"),
    "RESET": ("reset", "RESET"),
    "SHOW": ("show", "SHOW"),
    "DEALLOCATE": ("done", "DEALLOCATE"),
    "UNLISTEN": ("done", "UNLISTEN"),
    "CLOSE": ("done", "CLOSE CURSOR"),
    "EXPLAIN": ("explain", "EXPLAIN"),
    "COPY": ("copy", "COPY"),
    "DISCARD": ("reset", "DISCARD ALL"),
}
_QUERIES = ("SELECT", "WITH", "FROM", "VALUES", "TABLE", "(")
_CURSORS = ("DECLARE", "FETCH", "MOVE")
_WRITES = (
    "INSERT", "UPDATE", "DELETE", "MERGE", "TRUNCATE", "CREATE", "ALTER", "DROP", "GRANT", "REVOKE",
    "COMMENT", "REINDEX", "VACUUM", "ANALYZE", "CLUSTER", "REFRESH", "LOCK", "CALL", "DO", "NOTIFY",
    "IMPORT", "SECURITY",
)  # fmt: skip


@dataclass(frozen=True)
class Token:
    """A name or sign of a statement, with its place in the text."""

    text: str
    start: int
    end: int
    quoted: bool

    @property
    def upper(self) -> str:
        """The text as keywords are compared; of a quoted text nothing."""
        return "" if self.quoted else self.text.upper()


@dataclass(frozen=True)
class Statement:
    """One statement: what it does, its text, and its tokens with places in that text."""

    kind: Kind
    text: str
    tag: str
    tokens: tuple[Token, ...] = field(repr=False, default=())

    @property
    def parameters(self) -> int:
        """How many parameters it has: the largest n of all $n."""
        return max((number for number, _, _ in _parameters(self.tokens)), default=0)

    @property
    def asks(self) -> bool:
        """Whether it may ask for data, so that it must come alone."""
        return self.kind in ("query", "copy", "explain")

    def bind(self, literals: Sequence[str]) -> "Statement":
        """Return the statement with its parameters put in place."""
        parts: list[str] = []
        place = 0
        for number, start, end in _parameters(self.tokens):
            parts.extend((self.text[place:start], " ", literals[number - 1], " "))
            place = end
        return read_statement("".join([*parts, self.text[place:]])) if parts else self


def read_statements(text: str) -> list[Statement]:
    """Return the statements of a text; raise for what is never allowed.

    >>> [each.kind for each in read_statements("BEGIN; SELECT 1 -- ; no more")]
    ['begin', 'query']
    """
    if len(text) > MOST_CHARACTERS:
        raise Refused("54000", f"A statement must have at most {MOST_CHARACTERS} characters.")
    parts: list[list[Token]] = [[]]
    for token in _tokens(text):
        if token.text == ";" and not token.quoted:
            parts.append([])
        else:
            parts[-1].append(token)
    found = [_read(text, part) for part in parts if part]
    if len(found) > MOST_STATEMENTS:
        raise Refused("54000", f"At most {MOST_STATEMENTS} statements may be sent at once.")
    return found


def read_statement(text: str) -> Statement:
    """Return the one statement of a text."""
    found = read_statements(text)
    if len(found) > 1:
        raise Refused("42601", "A prepared statement must be one statement.")
    return found[0] if found else Statement("empty", "", "")


class _Tokenizer(Postgres.Tokenizer):
    """Splits every statement into tokens, also those that the parser would keep as one text."""

    COMMANDS: ClassVar[set[Any]] = set()


def _tokens(text: str) -> list[Token]:
    try:
        tokens = _Tokenizer(dialect="postgres").tokenize(text)
    except (SqlglotError, RecursionError):
        raise Refused("42601", "A quote or a comment is not closed.") from None
    if len(tokens) > MOST_TOKENS:
        raise Refused("54000", f"A statement must have at most {MOST_TOKENS} names and signs.")
    depth = 0
    for each in tokens:
        depth += (each.text in ("(", "[")) - (each.text in (")", "]"))
        if depth > MOST_NESTED:
            raise Refused("54001", f"A statement must nest at most {MOST_NESTED} deep.")
    quoted = ("STRING", "IDENTIFIER", "HEREDOC_STRING", "BYTE_STRING", "NATIONAL_STRING", "UNICODE_STRING")
    return [Token(each.text, each.start, each.end + 1, each.token_type.name in quoted) for each in tokens]


def _read(whole: str, tokens: list[Token]) -> Statement:
    start, end = tokens[0].start, tokens[-1].end
    text = whole[start:end]
    moved = tuple(Token(each.text, each.start - start, each.end - start, each.quoted) for each in tokens)
    first = moved[0].upper
    if first in _QUERIES:
        return Statement("query", text, "SELECT", moved)
    if first in _CURSORS:
        raise Refused(
            "0A000", "Cursors are not supported: an answer is read as a whole. Ask without DECLARE."
        )
    if first in _WRITES:
        raise Refused("25006", f"{first} is not allowed: private data can be asked about, not changed.")
    if first not in _SIMPLE:
        raise Refused("42601", "A statement must be a question, or one of those that the guide lists.")
    kind, tag = _SIMPLE[first]
    upper = [each.upper for each in moved]
    if kind == "rollback" and "TO" in upper:
        kind = "rollback_to"
    if kind in ("commit", "rollback") and "PREPARED" in upper:
        raise Refused("0A000", "Prepared transactions are not supported.")
    return Statement(kind, text, tag, moved)


def _parameters(tokens: Sequence[Token]) -> list[tuple[int, int, int]]:
    """Return the number and the place of each $n."""
    return [
        (int(number.text), sign.start, number.end)
        for sign, number in itertools.pairwise(tokens)
        if sign.upper == "$" and number.text.isdigit() and len(number.text) <= 4 and sign.end == number.start
    ]


def read_copy(statement: Statement) -> Statement:
    """Return the question of COPY (question) TO STDOUT (FORMAT binary); refuse every other COPY."""
    tokens = statement.tokens
    depth, end = 0, 0
    for place, token in enumerate(tokens[1:], 1):
        depth += (token.upper == "(") - (token.upper == ")")
        if depth == 0:
            end = place
            break
    rest = [each.text.upper() for each in tokens[end + 1 :] if each.text not in ("(", ")", "WITH")]
    if end < 2 or rest != ["TO", "STDOUT", "FORMAT", "BINARY"]:
        raise Refused(
            "0A000", "The only COPY is COPY (question) TO STDOUT (FORMAT binary). Ask with SELECT instead."
        )
    return read_statement(statement.text[tokens[1].end : tokens[end].start])


def read_explain(statement: Statement) -> tuple[Statement, bool]:
    """Return what is to be explained, and whether as JSON; refuse ANALYZE, which would run it."""
    tokens = list(statement.tokens[1:])
    options: list[Token] = []
    if tokens and tokens[0].upper == "(":
        end = next((place for place, each in enumerate(tokens) if each.upper == ")"), len(tokens) - 1)
        first = tokens[1].upper if len(tokens) > 1 else ""
        if first not in ("SELECT", "WITH", "("):
            options, tokens = tokens[1:end], tokens[end + 1 :]
    while tokens and tokens[0].upper in ("ANALYZE", "ANALYSE", "VERBOSE"):
        options.append(tokens.pop(0))
    names = [each.upper or each.text.upper() for each in options]
    if any(name in ("ANALYZE", "ANALYSE") for name in names):
        raise Refused("0A000", "EXPLAIN ANALYZE would run the question. EXPLAIN shows its price, free.")
    if not tokens:
        raise Refused("42601", "EXPLAIN must be followed by a question.")
    return read_statement(statement.text[tokens[0].start :]), "JSON" in names


def parameter_types(
    statement: Statement, declared: Sequence[int], columns: Mapping[str, PgType], types: Mapping[int, PgType]
) -> list[PgType]:
    """Return the type of each parameter: as the client says, or that of a column it is compared with."""
    count = max(statement.parameters, len(declared))
    if count > 100:
        raise Refused("54000", "A statement may have at most 100 parameters.")
    found = []
    for number in range(1, count + 1):
        oid = declared[number - 1] if number <= len(declared) else 0
        if oid and oid not in types:
            raise Refused("0A000", "A parameter is of a type that is not supported.")
        found.append(types[oid] if oid else _inferred(statement.tokens, number, columns))
    return found


_CASTS = {
    "INT": INT8, "INTEGER": INT8, "BIGINT": INT8, "SMALLINT": INT8, "INT4": INT8, "INT8": INT8,
    "FLOAT": FLOAT8, "DOUBLE": FLOAT8, "REAL": FLOAT8, "FLOAT8": FLOAT8,
    "NUMERIC": NUMERIC, "DECIMAL": NUMERIC,
    "DATE": DATE, "TIMESTAMP": TIMESTAMP, "BOOLEAN": BOOL, "BOOL": BOOL,
}  # fmt: skip
_NEAR = 4  # tokens on each side in which a column is looked for: name, operator, parentheses


def _inferred(tokens: Sequence[Token], number: int, columns: Mapping[str, PgType]) -> PgType:
    places = [
        place
        for place, (sign, digits) in enumerate(itertools.pairwise(tokens))
        if sign.upper == "$" and digits.text == str(number) and sign.end == digits.start
    ]
    for place in places:
        after, before = tokens[place + 2 : place + 2 + _NEAR], tokens[max(0, place - _NEAR) : place][::-1]
        if after and after[0].text == "::":
            return _CASTS.get(after[1].upper, TEXT) if len(after) > 1 else TEXT
        if before and before[0].upper in ("LIMIT", "OFFSET"):
            return INT8
        if len(tokens) > place + 3 and after and after[0].upper == "AS":  # CAST($1 AS type)
            return _CASTS.get(after[1].upper, TEXT)
        for token in _until_and(before, after):
            if token.text.lower() in columns:
                return columns[token.text.lower()]
    return TEXT


def _until_and(*sides: Sequence[Token]) -> list[Token]:
    found = []
    for side in sides:
        for token in side:
            if token.upper in ("AND", "OR", "WHERE", "SELECT", "GROUP", "THEN", "ELSE"):
                break
            found.append(token)
    return found
