"""Drafts of policies: what an owner fills in beside the names of a file's columns, written as TOML.

Types are guessed from names alone, to be changed; no row is read for them.

Tested by: tests/tables/test_policy_form.py
"""

import contextlib
import csv
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, TypeAlias

from discreet.asking.policy.column import Type, check_type
from discreet.errors import InvalidParameter

Literal: TypeAlias = str | int | bool | Decimal | Sequence["Literal"] | Mapping[str, "Literal"]

LONGEST_NUMBER = 40  # letters of a number that is typed
PLAIN = re.compile(r"[A-Za-z0-9_-]+")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_PERSON = re.compile(r"(?i)(.*_)?(person|patient|user|client|customer|member|subject|student)(_?id)?|id")
_BY_NAME: tuple[tuple[str, Type], ...] = (
    ("date|day|birthday|born|admitted|discharged", "date"),
    ("time|timestamp|at", "timestamp"),
    ("is|has", "boolean"),
    ("age|year|years|count|number|days|stay|visits|children|quantity|hours", "integer"),
    ("cost|price|income|salary|wage|debt|amount|weight|height|rate|balance|score", "number"),
)


def guess_unit(names: Sequence[str]) -> str:
    """Return the column that by its name may identify a person; empty where none does.

    >>> guess_unit(["day", "patient_id", "cost"]), guess_unit(["day", "cost"])
    ('patient_id', '')
    """
    return next((name for name in names if _PERSON.fullmatch(name)), "")


def guess_type(name: str) -> Type:
    """Return the type that a column may have by its name.

    >>> guess_type("age"), guess_type("admitted_day"), guess_type("city")
    ('integer', 'date', 'text')
    """
    for words, kind in _BY_NAME:
        if re.fullmatch(rf"(?i)(.*_)?({words})(_.*)?", name):
            return kind
    return "text"


@dataclass(frozen=True, kw_only=True)
class ColumnDraft:
    """What is promised of a column, as an owner types it."""

    name: str
    type: str = "text"
    low: str = ""
    high: str = ""
    keys: str = ""  # separated by commas; one with a comma in quotation marks

    def facts(self) -> dict[str, Literal]:
        """Return the column's settings as a policy has them."""
        kind = check_type(self.type, name=f"type of column {self.name!r}")
        found: dict[str, Literal] = {"type": kind}
        if bool(self.low.strip()) != bool(self.high.strip()):
            raise InvalidParameter(f"bounds of column {self.name!r} must have two ends, got one.")
        if self.low.strip():
            found["bounds"] = [self._read(end, kind) for end in (self.low, self.high)]
        listed = re.sub(r"[\r\n]+", ",", self.keys)  # a list may be pasted line by line
        labels = [each.strip() for each in next(csv.reader([listed], skipinitialspace=True), [])]
        if any(labels):
            found["keys"] = [self._read(label, kind) for label in labels if label]
        return found

    def _read(self, text: str, kind: Type) -> Literal:
        text = text.strip()
        if kind in ("integer", "number"):
            return read_decimal(text, f"each bound and label of column {self.name!r}")
        if kind == "boolean":
            if text.casefold() not in ("true", "false"):
                raise InvalidParameter(f"each label of column {self.name!r} must be true or false.")
            return text.casefold() == "true"
        return text


def read_decimal(text: str, name: str) -> Decimal:
    """Return a number exactly as it is typed, or raise."""
    try:
        number = Decimal(text.replace(",", "") if len(text) <= LONGEST_NUMBER else "")
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite() or abs(number.adjusted()) > LONGEST_NUMBER:
        raise InvalidParameter(f"{name} must be a number, such as 100 or 0.5, got something else.")
    return number


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A policy of one table, as an owner types it; what is left empty is left out."""

    id: str
    source: str
    table: str
    unit: str  # the column that names the person; empty where each row is one
    columns: tuple[ColumnDraft, ...]
    epsilon: str
    delta: str = ""
    version: str = "1"
    population: str = ""
    limit: str = "auto"
    per_analyst: str = ""  # epsilon; delta is that of the whole
    approve_above: str = ""
    ledger: str = ""

    def to_toml(self) -> str:
        """Return the policy's text; `from_toml` checks what it says."""
        if not NAME.fullmatch(self.id):
            raise InvalidParameter("id must be letters, digits, - and _, at most 64.", parameter="id")
        parts = [
            "# Written on the page where an owner opens a data set. No row was read for it.\n",
            _section(("dataset",), self._dataset()),
        ]
        if self.approve_above.strip():
            above = {"approve_above": self._budget(self.approve_above, "approve_above")}
            parts.append(_section(("server",), above))
        if self.ledger:
            parts.append(_section(("ledger",), {"place": self.ledger}))
        parts.append(_section(("tables", self.table), self._table()))
        said = {each.name: each.facts() for each in self.columns if each.name != self.unit}
        parts.append(_section(("tables", self.table, "columns"), said))
        return "\n".join(parts)

    def _dataset(self) -> dict[str, Literal]:
        found: dict[str, Literal] = {"id": self.id, "version": self.version.strip() or "1"}
        if self.population.strip():
            found["population"] = read_decimal(self.population.strip(), "population")
        found["budget"] = self._budget(self.epsilon, "epsilon")
        if self.per_analyst.strip():
            found["per_analyst"] = self._budget(self.per_analyst, "per_analyst")
        return found

    def _budget(self, epsilon: str, name: str) -> dict[str, Literal]:
        found: dict[str, Literal] = {"epsilon": read_decimal(epsilon.strip(), name)}
        if self.delta.strip():
            found["delta"] = read_decimal(self.delta.strip(), "delta")
        return found

    def _table(self) -> dict[str, Literal]:
        found: dict[str, Literal] = {"source": self.source}
        if not self.unit:
            return {**found, "each_row": True}
        limit: Literal = self.limit.strip() or "auto"
        if limit != "auto":
            limit = read_decimal(self.limit.strip(), "limit")
        return {**found, "unit": self.unit, "limit": limit}


def _section(names: tuple[str, ...], settings: Mapping[str, Literal]) -> str:
    lines = [f"{_key(name)} = {write_literal(value)}\n" for name, value in settings.items()]
    return f"[{'.'.join(map(_key, names))}]\n{''.join(lines)}"


def _key(name: str) -> str:
    return name if PLAIN.fullmatch(name) else write_text(name)


def write_text(text: str) -> str:
    """Return a text as TOML writes it.

    >>> write_text('the "old" town')
    '"the \\\\"old\\\\" town"'
    """
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def write_literal(value: Literal) -> str:
    """Return a value as TOML writes it.

    >>> write_literal({"bounds": [Decimal("0"), Decimal("1e3")], "keys": ["a"]})
    '{ bounds = [0, 1000], keys = ["a"] }'
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return write_text(value)
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_key(name)} = {write_literal(each)}' for name, each in value.items())} }}"
    if isinstance(value, Sequence):
        return f"[{', '.join(map(write_literal, value))}]"
    if isinstance(value, Decimal) and value != value.to_integral_value():
        return f"{value:f}"
    return str(int(value))


def change_setting(text: str, section: tuple[str, ...], name: str, value: Literal | None) -> str:
    """Return a policy's text with one setting changed, added or (None) taken out, and its comments kept.

    Only a setting on a line of its own is changed; the result is read again, and must differ in it alone.
    """
    line = None if value is None else f"{name} = {write_literal(value)}"
    lines = text.removesuffix("\n").split("\n")  # other marks that Python splits at may stand in a label
    heads = [n for n, each in enumerate(lines) if _heading(each) is not None]
    at = next((n for n in heads if _heading(lines[n]) == section), None)
    if at is None:
        lines += [] if line is None else ["", f"[{'.'.join(map(_key, section))}]", line]
    else:
        end = next((n for n in heads if n > at), len(lines))
        old = next((n for n in range(at + 1, end) if re.match(rf"\s*{re.escape(name)}\s*=", lines[n])), None)
        if old is not None:
            lines[old : old + 1] = [] if line is None else [line + _comment(lines[old])]
        elif line is not None:
            lines.insert(at + 1, line)
    changed = "\n".join(lines) + "\n"
    if not _says(changed, _changed(text, section, name, value)):
        raise InvalidParameter(
            f"{name} of [{'.'.join(section)}] must stand on a line of its own in the policy file to be "
            "changed here. Change it in the file."
        )
    return changed


def _heading(line: str) -> tuple[str, ...] | None:
    """Return the names of the table that a line begins, or None."""
    try:
        inside: Any = tomllib.loads(line) if line.lstrip().startswith("[") else {}
    except tomllib.TOMLDecodeError:
        return None
    found = []
    while isinstance(inside, dict) and inside:
        ((name, inside),) = inside.items()
        found.append(name)
    return tuple(found) or None


def _comment(line: str) -> str:
    """Return the comment behind a setting: from the first # without which the line says the same."""
    for found in re.finditer(r"\s*#", line):
        with contextlib.suppress(tomllib.TOMLDecodeError):
            if tomllib.loads(line[: found.start()]) == tomllib.loads(line):
                return line[found.start() :]
    return ""


def _changed(text: str, section: tuple[str, ...], name: str, value: Literal | None) -> dict[str, Any]:
    """Return what a policy shall say with one setting changed."""
    document = inside = tomllib.loads(text)
    for part in section:
        inside = inside.setdefault(part, {})
    inside.pop(name, None)
    if value is not None:
        inside[name] = tomllib.loads(f"it = {write_literal(value)}")["it"]
    return document


def _says(text: str, document: dict[str, Any]) -> bool:
    try:
        return tomllib.loads(text) == document
    except tomllib.TOMLDecodeError:
        return False
