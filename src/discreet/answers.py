"""Answer: a released table with its intervals and a receipt. All of it is post-processing of what was
released.
"""

import datetime
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from discreet.numerics import Interval, Real, exact_fraction, short_down, short_up
from discreet.planning import Plan, SetPlan
from discreet.queries import Call, Expression, Literal, Slot, evaluate, walk
from discreet.tables import Value

if TYPE_CHECKING:
    import pandas
    import pyarrow

Row: TypeAlias = Mapping[str, Value]
Groups: TypeAlias = tuple[tuple[Value, ...], ...]
Numbers: TypeAlias = tuple[tuple[int, ...], ...]

_NUMBERS = ("epsilon", "delta", "rho", "mu")


@dataclass(frozen=True)
class Receipt:
    """What was done and what it cost; nothing of the data. Readable and shareable."""

    facts: Mapping[str, Any]

    @classmethod
    def of(cls, plan: Plan, *, charge: int, remaining: object) -> "Receipt":
        """The receipt of a plan that was charged and run."""
        facts = {
            "format": 1,
            "discreet": metadata.version("discreet"),
            "charge": charge,
            "dataset": plan.policy.id,
            "version": plan.policy.version,
            "policy": plan.policy.digest,
            "question": plan.text,
            "plan": plan.sentences(),
            "price": _numbers(plan.price, short_up),
            "loss": plan.loss.to_json(),
            "remaining": _numbers(remaining, short_down),
        }
        return cls(facts)

    def in_words(self, fact: str) -> str:
        """The price, or what remains, in words: epsilon 0.5, delta 1e-06."""
        return ", ".join(f"{name} {self.facts[fact][name]}" for name in _NUMBERS if name in self.facts[fact])

    def to_json(self) -> dict[str, Any]:
        """The facts, for programs."""
        return dict(self.facts)

    def __str__(self) -> str:
        spent, left = self.in_words("price"), self.in_words("remaining")
        lines = [
            f"Receipt {self.facts['charge']} for data set {self.facts['dataset']!r}, "
            f"version {self.facts['version']!r}",
            *self.facts["plan"],
            f"Charged: {spent}. Remaining: {left}.",
        ]
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class Answer:
    """The rows of a SELECT, each value with an interval that holds the noise-free bounded answer.

    The intervals say what the noise may have done. What clamping and bounding changed is no noise, and no
    interval can tell it without the data; the receipt names the bounds.
    """

    plan: Plan
    released: tuple[tuple[Groups, Numbers], ...]
    receipt: Receipt

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """A mapping from column to value for each row, in the question's order."""
        return tuple(row for row, _ in self._table)

    @cached_property
    def intervals(self) -> tuple[Mapping[str, Interval | None], ...]:
        """A mapping from column to interval for each row; None for keys, and for choices."""
        return tuple(intervals for _, intervals in self._table)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns of the SELECT."""
        return tuple(name for name, _ in self.plan.question.columns)

    @cached_property
    def _table(self) -> list[tuple[Row, Mapping[str, Interval | None]]]:
        return self._at(self.plan.confidence)

    def _at(self, confidence: Fraction) -> list[tuple[Row, Mapping[str, Interval | None]]]:
        """The rows, and their intervals at this confidence."""
        question = self.plan.question
        kept = [
            line for line in self._lines() if question.having is None or line.value(question.having) is True
        ]
        for term in reversed(question.order):
            kept.sort(key=lambda line, term=term: _rank(line.value(term.expression)), reverse=term.descending)  # type: ignore[misc]
        return [
            (
                {name: line.value(expression) for name, expression in question.columns},
                {name: line.interval(expression, confidence) for name, expression in question.columns},
            )
            for line in kept[: question.limit]
        ]

    def _lines(self) -> list["_Line"]:
        width = len(self.plan.question.keys)
        return [
            _Line(each, width, group, numbers)
            for each, (groups, found) in zip(self.plan.sets, self.released, strict=True)
            for group, numbers in zip(groups, found, strict=True)
        ]

    def non_negative(self) -> "Adjusted":
        """The same answer with counts of at least 0: post-processing, free; what was released is kept as
        `raw`. Each count comes no further from the truth, but totals of many small ones are biased upwards.
        """
        return Adjusted(self.plan, self.released, self.receipt, raw=self)

    def records(self, *, confidence: Real | None = None) -> list[dict[str, Value]]:
        """The rows as plain dictionaries; with a confidence, `<column>_lower` and `<column>_upper` beside
        them.
        """
        if confidence is None:
            return [dict(row) for row in self.rows]
        level = exact_fraction(confidence, name="confidence")
        return [_with_ends(row, intervals) for row, intervals in self._at(level)]

    def to_pandas(self, *, confidence: Real | None = None) -> "pandas.DataFrame":
        """The table as a pandas frame; with a confidence, interval ends beside the values."""
        import pandas

        return pandas.DataFrame(self.records(confidence=confidence))

    def to_arrow(self, *, confidence: Real | None = None) -> "pyarrow.Table":
        """The table as an Arrow table; with a confidence, interval ends beside the values."""
        import pyarrow

        return pyarrow.Table.from_pylist(self.records(confidence=confidence))

    def to_json(self) -> dict[str, Any]:
        """Rows, intervals and receipt, for programs."""
        return {
            "columns": list(self.columns),
            "rows": [{name: _plain(value) for name, value in row.items()} for row in self.rows],
            "intervals": [
                {name: None if each is None else [each.lower, each.upper] for name, each in row.items()}
                for row in self.intervals
            ],
            "confidence": float(self.plan.confidence),
            "receipt": self.receipt.to_json(),
        }

    def __str__(self) -> str:
        return "\n".join([_as_text(self), "", f"± at {float(self.plan.confidence):.0%} confidence"])

    def to_csv(self) -> str:
        """The table as CSV, interval ends beside the values."""
        records = self.records(confidence=self.plan.confidence)
        names = list(records[0]) if records else list(self.columns)
        lines: list[list[Value]] = [[*names], *([row[name] for name in names] for row in records)]
        return "".join(",".join(_csv(value) for value in line) + "\n" for line in lines)

    def save(self, folder: str | Path) -> None:
        """Write the table, its receipt and a data dictionary into a folder."""
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        (target / "answer.csv").write_text(self.to_csv(), encoding="utf-8")
        (target / "receipt.json").write_text(
            json.dumps(self.receipt.to_json(), indent=2) + "\n", encoding="utf-8"
        )
        (target / "receipt.txt").write_text(f"{self.receipt}\n", encoding="utf-8")
        (target / "dictionary.md").write_text(self._dictionary(), encoding="utf-8")

    def _dictionary(self) -> str:
        confidence = f"{float(self.plan.confidence):.0%}"
        lines = [f"# Columns of the answer to\n\n    {self.plan.text}\n"]
        for name, expression in self.plan.question.columns:
            noisy = any(
                isinstance(each, Slot) and each.index >= len(self.plan.question.keys)
                for each in _slots(expression)
            )
            what = f"noisy; the bounded truth is in {name}_lower to {name}_upper with {confidence} confidence"
            lines.append(f"- `{name}` ({expression.type}): {what if noisy else 'a group label'}")
        return "\n".join(lines) + "\n"


@dataclass(frozen=True, eq=False)
class Adjusted(Answer):
    """An answer whose counts were raised to 0 where the noise took them below; labelled as such."""

    raw: Answer

    label = "counts below 0 were raised to 0; the released values are kept"

    def _at(self, confidence: Fraction) -> list[tuple[Row, Mapping[str, Interval | None]]]:
        counts = self.plan.counts
        return [
            (
                {name: _raise(value) if name in counts else value for name, value in row.items()},
                {name: _raise_ends(each) if name in counts else each for name, each in intervals.items()},
            )
            for row, intervals in self.raw._at(confidence)
        ]

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "post_processing": self.label}

    def __str__(self) -> str:
        return f"{super().__str__()}; {self.label}"

    def save(self, folder: str | Path) -> None:
        """As any answer, with the released values beside it in raw.csv."""
        super().save(folder)
        (Path(folder) / "raw.csv").write_text(self.raw.to_csv(), encoding="utf-8")

    def _dictionary(self) -> str:
        return f"{super()._dictionary()}\nPost-processing: {self.label} in raw.csv.\n"


def _raise(value: Value) -> Value:
    assert isinstance(value, int)
    return max(0, value)


def _raise_ends(interval: Interval | None) -> Interval | None:
    return None if interval is None else Interval(max(0.0, interval.lower), max(0.0, interval.upper))


def store(answers: Sequence[Answer]) -> bytes:
    """What the ledger keeps of answers that were charged together: released numbers and receipts."""
    stored = [
        {
            "sets": [
                {
                    "groups": [[_tagged(value) for value in group] for group in groups],
                    "numbers": [list(row) for row in numbers],
                }
                for groups, numbers in answer.released
            ],
            "receipt": answer.receipt.to_json(),
        }
        for answer in answers
    ]
    return json.dumps({"format": 1, "answers": stored}, sort_keys=True).encode()


def restore(plans: Sequence[Plan], stored: bytes) -> tuple[Answer, ...]:
    """The answers that `store` wrote, read by the plans of the same questions."""
    return tuple(
        Answer(plan, tuple(map(_read_set, facts["sets"])), Receipt(facts["receipt"]))
        for plan, facts in zip(plans, json.loads(stored)["answers"], strict=True)
    )


def _read_set(facts: Mapping[str, Any]) -> tuple[Groups, Numbers]:
    groups = tuple(tuple(_untagged(value) for value in group) for group in facts["groups"])
    return groups, tuple(tuple(row) for row in facts["numbers"])


@dataclass(frozen=True)
class _Line:
    """One group: its keys and released numbers, and the expressions over them."""

    plan: SetPlan
    width: int  # how many keys the question has
    group: tuple[Value, ...]
    numbers: tuple[int, ...]

    def value(self, expression: Expression) -> Value:
        return evaluate(expression, self._lookup)

    def _lookup(self, slot: Expression) -> Value:
        assert isinstance(slot, Slot)
        if slot.index >= self.width:
            return self.plan.readings[slot.index - self.width].value(self.numbers)
        return self.group[self.plan.keys.index(slot.index)] if slot.index in self.plan.keys else None

    def interval(self, expression: Expression, confidence: Fraction) -> Interval | None:
        """Interval arithmetic over the released parts, which all hold together with this confidence."""
        used = {each.index for each in _slots(expression) if each.index >= self.width}
        if not used:
            return None
        level = 1 - (1 - confidence) / len(used)
        return _interval(expression, lambda slot: self._slot_interval(slot, level))

    def _slot_interval(self, slot: Slot, confidence: Fraction) -> Interval | None:
        if slot.index >= self.width:
            return self.plan.readings[slot.index - self.width].interval(self.numbers, confidence)
        return None


def _slots(expression: Expression) -> list[Slot]:
    return [each for each in walk(expression) if isinstance(each, Slot)]


def _interval(node: Expression, find: Callable[[Slot], Interval | None]) -> Interval | None:
    """Where an expression may lie: sums, differences, products and quotients; None for anything else."""
    if isinstance(node, Literal) and isinstance(node.value, int | float):
        return Interval(float(node.value), float(node.value))
    if isinstance(node, Slot):
        return find(node)
    if not isinstance(node, Call) or node.function not in _CORNERS:
        return None
    parts = [_interval(each, find) for each in node.arguments]
    if any(part is None for part in parts):
        return None
    return _CORNERS[node.function](*parts)


def _corners(operation: Callable[[float, float], float]) -> Callable[[Interval, Interval], Interval]:
    def combine(left: Interval, right: Interval) -> Interval:
        found = [operation(a, b) for a in left for b in right]
        return Interval(min(found), max(found))

    return combine


def _quotient(left: Interval, right: Interval) -> Interval | None:
    return None if 0 in right else _corners(lambda a, b: a / b)(left, right)


_CORNERS: dict[str, Callable[..., Interval | None]] = {
    "add": _corners(lambda a, b: a + b),
    "subtract": _corners(lambda a, b: a - b),
    "multiply": _corners(lambda a, b: a * b),
    "divide": _quotient,
    "to_number": lambda part: part,
}


def _rank(value: Value) -> tuple[bool, Any]:
    return (value is None, 0 if value is None else value)


def _with_ends(row: Row, intervals: Mapping[str, Interval | None]) -> dict[str, Value]:
    ends: dict[str, Value] = dict(row)
    for name, interval in intervals.items():
        if interval is not None:
            ends[f"{name}_lower"], ends[f"{name}_upper"] = interval
    return ends


def _as_text(answer: Answer) -> str:
    """The table in plain text, an error beside every noisy value."""
    lines = [list(answer.columns)]
    for row, intervals in zip(answer.rows, answer.intervals, strict=True):
        lines.append([_cell(row[name], intervals[name]) for name in answer.columns])
    return align(lines)


def align(lines: Sequence[Sequence[str]]) -> str:
    """Cells in plain columns.

    >>> print(align([["city", "n"], ["Ottawa", "5"]]))
    city    n
    Ottawa  5
    """
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def _cell(value: Value, interval: Interval | None) -> str:
    shown = show_value(value, interval)
    return shown if interval is None else f"{shown} ± {show_error(interval)}"


def show_error(interval: Interval) -> str:
    """Half an interval's width, to two digits."""
    return f"{float(f'{interval.width / 2:.2g}'):,g}"


def show_value(value: Value, interval: Interval | None = None) -> str:
    """A value as people read it; a number to the digits that its interval leaves meaning to.

    >>> show_value(1234567), show_value(0.5), show_value(None), show_value(16283.77, Interval(7000, 25000))
    ('1,234,567', '0.5', '–', '16,280')
    """
    if value is None:
        return "–"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    if interval is None or not 0 < interval.width < math.inf or not math.isfinite(value):
        return f"{value:,.6g}"
    digits = 2 - math.floor(math.log10(interval.width / 2))
    return f"{round(value, digits):,.{max(0, digits)}f}"


def _csv(value: object) -> str:
    text = "" if value is None else str(value)
    # A label may begin like a spreadsheet formula: it must not run as one.
    if isinstance(value, str) and text[:1] in ("=", "+", "-", "@", "\t", "\r"):
        text = "'" + text
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in ',"\n\r') else text


def _numbers(notion: object, short: Callable[[Fraction], str]) -> dict[str, str]:
    """A notion's numbers, short and on the safe side, by name."""
    return {name: short(getattr(notion, name)) for name in _NUMBERS if hasattr(notion, name)}


def _plain(value: Value) -> Any:
    return value.isoformat() if isinstance(value, datetime.date) else value


def _tagged(value: Value) -> Any:
    if isinstance(value, datetime.datetime):
        return {"timestamp": value.isoformat()}
    return {"date": value.isoformat()} if isinstance(value, datetime.date) else value


def _untagged(value: Any) -> Value:
    if not isinstance(value, dict):
        return value  # type: ignore[no-any-return]
    if "timestamp" in value:
        return datetime.datetime.fromisoformat(value["timestamp"])
    return datetime.date.fromisoformat(value["date"])
