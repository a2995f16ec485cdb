"""Request bodies: questions and prices in JSON, read exactly and checked before anything else happens."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NoReturn

from discreet.apps.server.limits import Limits
from discreet.errors import InvalidParameter
from discreet.kernel.numerics import exact

TERMS = ("epsilon", "delta", "rho", "within", "confidence", "bounds", "split", "limit")
BOOK_TERMS = ("epsilon", "delta", "rho", "mu", "limit", "confidence", "aim", "table")
WATCH_TERMS = ("threshold", "epsilon", "delta", "count", "sensitivity")
LONGEST_TEXT = 500
MOST_TABLES, MOST_COLUMNS = 1_000, 12  # of a book, and of one of its tables
_NUMBER = re.compile(r"-?[0-9]{0,400}\.?[0-9]{1,400}([eE][+-]?[0-9]{1,9})?")


@dataclass(frozen=True, eq=False)
class AskRequest:
    """One question, or a list of them at one price, with the terms of `Curator.ask`.

    Requests are equal when they have the same plans: all terms count.
    """

    sql: str | tuple[str, ...]
    terms: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_list(self) -> bool:
        """Whether the body held a list of questions; the response is then a list of answers."""
        return isinstance(self.sql, tuple)

    @property
    def questions(self) -> list[Any]:
        """The questions, one or several."""
        return list(self.sql) if isinstance(self.sql, tuple) else [self.sql]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AskRequest) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[object, ...]:
        terms = tuple((name, _frozen(self.terms[name])) for name in TERMS if name in self.terms)
        return (tuple(self.questions), terms)


def read_ask(body: bytes, limits: Limits) -> AskRequest:
    """Read the body of ask or explain: `sql` (text or list), and any of TERMS.

    >>> read_ask(b'{"sql": "SELECT COUNT(*) FROM t", "epsilon": 0.1}', Limits()).terms
    {'epsilon': Decimal('0.1')}
    """
    facts = read_object(body, {"sql", *TERMS})
    if "sql" not in facts:
        raise InvalidParameter("a body must have sql, got none.", parameter="sql")
    terms = {name: _read_term(name, facts[name]) for name in TERMS if facts.get(name) is not None}
    return AskRequest(_read_sql(facts["sql"], limits), terms)


@dataclass(frozen=True)
class BookRequest:
    """The tables of a book, and the terms of `Curator.book`. Requests are equal when their bodies are."""

    body: bytes
    tables: Any = field(compare=False)
    terms: Mapping[str, Any] = field(compare=False)


def read_book(body: bytes, limits: Limits) -> BookRequest:
    """Read the body of a book: `tables`, a list of lists of columns, or of questions as text, and BOOK_TERMS.

    >>> read_book(b'{"tables": [["city"], []], "rho": 0.1}', Limits()).tables
    [('city',), ()]
    """
    facts = read_object(body, {"tables", "weights", *BOOK_TERMS})
    listed, weights = facts.get("tables"), facts.get("weights")
    if not isinstance(listed, list) or not 0 < len(listed) <= MOST_TABLES:
        raise InvalidParameter(f"tables must be a list of 1 to {MOST_TABLES:,}.", parameter="tables")
    tables = [_read_table(each, limits) for each in listed]
    terms = {name: _read_book_term(name, facts[name]) for name in BOOK_TERMS if facts.get(name) is not None}
    if weights is None:
        return BookRequest(body, tables, terms)
    if not isinstance(weights, list) or len(weights) != len(tables):
        raise InvalidParameter("weights must be a list of a number for each table.", parameter="weights")
    read = [read_number(each, name="weights") for each in weights]
    return BookRequest(body, dict(zip(tables, read, strict=True)), terms)


def _read_table(value: object, limits: Limits) -> str | tuple[str, ...]:
    if isinstance(value, str):
        return read_question(value, limits)
    if not isinstance(value, list) or len(value) > MOST_COLUMNS:
        raise InvalidParameter(
            f"a table must be a question, or a list of at most {MOST_COLUMNS} columns.", parameter="tables"
        )
    return tuple(read_question(each, limits) for each in value)


def _read_book_term(name: str, value: object) -> Any:
    if name in ("table", "aim"):
        return read_text({name: value}, name)
    return read_number(value, name=name)


def read_watch(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Read the terms of a watch: threshold and epsilon, optionally delta, count and sensitivity."""
    terms = {term: read_number(facts[term], name=term) for term in WATCH_TERMS if term in facts}
    for term in ("threshold", "epsilon"):
        if term not in terms:
            raise InvalidParameter(f"a watch must have {term}, got none.", parameter=term)
    return terms


def read_object(body: bytes, known: set[str]) -> dict[str, Any]:
    """Read a JSON object with known names only, its numbers exactly as written."""
    try:
        found = json.loads(
            body.decode("utf-8"),
            parse_float=Decimal,
            parse_constant=_refuse_constant,
            object_pairs_hook=_read_pairs,
        )
    except (ValueError, ArithmeticError, RecursionError):
        raise InvalidParameter("a body must be a JSON object in UTF-8, each name once.") from None
    if not isinstance(found, dict):
        raise InvalidParameter(f"a body must be a JSON object, got {_kind(found)}.")
    for name in found:
        if name not in known:
            raise InvalidParameter(
                f"a body must have only {', '.join(sorted(known))}, got another name.", parameter="body"
            )
    return found


def read_text(facts: Mapping[str, Any], name: str) -> str:
    """Read a required text."""
    value = facts.get(name)
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_TEXT or not value.isprintable():
        raise InvalidParameter(f"{name} must be 1 to {LONGEST_TEXT} printable characters.", parameter=name)
    return value


def read_question(value: object, limits: Limits) -> str:
    """Read the text of one question."""
    if not isinstance(value, str) or not value.strip():
        raise InvalidParameter(f"sql must be text, got {_kind(value)}.", parameter="sql")
    if len(value) > limits.question_characters:
        raise InvalidParameter(
            f"sql must have at most {limits.question_characters} characters.", parameter="sql"
        )
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise InvalidParameter("sql must be valid Unicode text without NUL characters.")
    return value


def read_number(value: object, *, name: str) -> Any:
    """Read a number as it was written, and refuse every other kind of value."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise InvalidParameter(f"{name} must be a number, got {_kind(value)}.", parameter=name)
    exact(value, name=name)
    return value


def form_numbers(form: Mapping[str, str], names: Iterable[str]) -> dict[str, int | Decimal]:
    """Read the numbers of a form exactly as they were written; leave out empty fields."""
    written = {name: form.get(name, "").strip() for name in names}
    for name, text in written.items():
        if text and not _NUMBER.fullmatch(text):
            raise InvalidParameter(f"{name} must be a number, got something else.", parameter=name)
    return {name: int(text) if text.isdigit() else Decimal(text) for name, text in written.items() if text}


def _read_term(name: str, value: object) -> Any:
    if name == "bounds":
        if value != "auto":
            raise InvalidParameter('bounds must be "auto" or absent.', parameter="bounds")
        return value
    if name in ("split", "limit") and not isinstance(value, dict):
        raise InvalidParameter(f"{name} must be an object, got {_kind(value)}.", parameter=name)
    if isinstance(value, dict) and name in ("within", "split", "limit"):
        if not value:
            raise InvalidParameter(f"{name} must name at least one column, got none.", parameter=name)
        return {column: read_number(each, name=name) for column, each in value.items()}
    return read_number(value, name=name)


def _read_sql(value: object, limits: Limits) -> str | tuple[str, ...]:
    texts: list[Any] = value if isinstance(value, list) else [value]
    if not 0 < len(texts) <= limits.questions_in_a_list:
        raise InvalidParameter(
            f"sql must be a question, or 1 to {limits.questions_in_a_list} of them.", parameter="sql"
        )
    read = tuple(read_question(text, limits) for text in texts)
    return read if isinstance(value, list) else read[0]


def _read_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


def _refuse_constant(_: str) -> NoReturn:
    raise ValueError


def _frozen(value: Any) -> object:
    return tuple(sorted(value.items())) if isinstance(value, dict) else value


def _kind(value: object) -> str:
    kinds = ((bool, "a truth value"), (str, "a text"), (list, "a list"), (dict, "an object"))
    named = next((name for kind, name in kinds if isinstance(value, kind)), "a number")
    return "null" if value is None else named
