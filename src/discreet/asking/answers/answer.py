"""Answer: a released table with its intervals and a receipt. All of it is post-processing of what was
released.
"""

import datetime
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from discreet.asking.answers.line import Line, slots
from discreet.asking.answers.receipt import FREE, Receipt
from discreet.asking.answers.wording import align, as_csv, cell
from discreet.asking.planning import Plan
from discreet.asking.policy import Value
from discreet.kernel.numerics import Interval, Real, exact_confidence

if TYPE_CHECKING:
    import pandas
    import pyarrow


Row: TypeAlias = Mapping[str, Value]
Groups: TypeAlias = tuple[tuple[Value, ...], ...]
Numbers: TypeAlias = tuple[tuple[int, ...], ...]


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
    def notes(self) -> tuple[str, ...]:
        """What limits left out of the numbers, a line each."""
        said = [self.plan.note()]
        for each, (_, numbers) in zip(self.plan.sets, self.released, strict=True):
            said += [one.note(row) for row in numbers[:1] for one in each.estimators]
        return tuple(dict.fromkeys(note for note in said if note is not None))

    @property
    def charged(self) -> bool:
        """Whether it was charged for now; False where it was stored before and came from the ledger, free."""
        return self.receipt.charged

    @cached_property
    def _table(self) -> list[tuple[Row, Mapping[str, Interval | None]]]:
        return self._at(self.plan.confidence)

    def _at(self, confidence: Fraction) -> list[tuple[Row, Mapping[str, Interval | None]]]:
        """Return the rows, and their intervals at this confidence."""
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

    def _lines(self) -> list[Line]:
        width = len(self.plan.question.keys)
        return [
            Line(each, width, group, numbers, numbers)
            for each, (groups, found) in zip(self.plan.sets, self.released, strict=True)
            for group, numbers in zip(groups, found, strict=True)
        ]

    def non_negative(self) -> "NonNegative":
        """Return the same answer with counts of at least 0: post-processing, free; what was released is kept
        as `raw`. Each count comes no further from the truth, but totals of many small ones are biased
        upwards.
        """
        return NonNegative(self.plan, self.released, self.receipt, raw=self)

    def adding_up(self) -> "AddingUp":
        """Return the same answer with totals that are the sums of their parts, for ROLLUP and GROUPING SETS
        over public keys: post-processing, free; what was released is kept as `raw`. Refused where the true
        totals need not be sums: rows without a label shown, or units whose rows are limited.
        """
        from discreet.asking.answers.adding_up import add_up

        return AddingUp(self.plan, add_up(self.plan.sets, self.released), self.receipt, raw=self)

    def records(self, *, confidence: Real | None = None) -> list[dict[str, Value]]:
        """Return the rows as plain dictionaries; with a confidence, `<column>_lower` and `<column>_upper`
        next to them.
        """
        if confidence is None:
            return [dict(row) for row in self.rows]
        level = exact_confidence(confidence)
        return [_with_ends(row, intervals) for row, intervals in self._at(level)]

    def to_pandas(self, *, confidence: Real | None = None) -> "pandas.DataFrame":
        """Return the table as a pandas frame; with a confidence, interval ends next to the values."""
        import pandas

        return pandas.DataFrame(self.records(confidence=confidence))

    def to_arrow(self, *, confidence: Real | None = None) -> "pyarrow.Table":
        """Return the table as an Arrow table; with a confidence, interval ends next to the values."""
        import pyarrow

        return pyarrow.Table.from_pylist(self.records(confidence=confidence))

    def to_json(self) -> dict[str, Any]:
        """Return rows, intervals and receipt, for programs."""
        return {
            "columns": list(self.columns),
            "rows": [{name: _plain(value) for name, value in row.items()} for row in self.rows],
            "intervals": [
                {name: None if each is None else [_plain(end) for end in each] for name, each in row.items()}
                for row in self.intervals
            ],
            "confidence": float(self.plan.confidence),
            "notes": list(self.notes),
            "charged": self.charged,
            "receipt": self.receipt.to_json(),
        }

    def __str__(self) -> str:
        lines = [list(self.columns)]
        for row, intervals in zip(self.rows, self.intervals, strict=True):
            lines.append([cell(row[name], intervals[name]) for name in self.columns])
        noisy = any(each is not None for row in self.intervals for each in row.values())
        caption = (
            f"± at {float(self.plan.confidence):.0%} confidence"
            if noisy
            else "chosen by noise: see the receipt"
        )
        caption = caption if self.charged else f"{caption} · {FREE}"
        return "\n".join([align(lines), "", *self.notes, caption])

    def to_csv(self) -> str:
        """Return the table as CSV, interval ends next to the values."""
        records = self.records(confidence=self.plan.confidence)
        names = list(records[0]) if records else list(self.columns)
        lines: list[list[Value]] = [[*names], *([row[name] for name in names] for row in records)]
        return "".join(",".join(as_csv(value) for value in line) + "\n" for line in lines)

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
            noisy = any(each.index >= len(self.plan.question.keys) for each in slots(expression))
            what = f"noisy; the bounded truth is in {name}_lower to {name}_upper with {confidence} confidence"
            lines.append(f"- `{name}` ({expression.type}): {what if noisy else 'a group label'}")
        return "\n".join(lines) + "\n"


def _with_ends(row: Row, intervals: Mapping[str, Interval | None]) -> dict[str, Value]:
    ends: dict[str, Value] = dict(row)
    for name, interval in intervals.items():
        if interval is not None:
            ends[f"{name}_lower"], ends[f"{name}_upper"] = interval
    return ends


def _plain(value: Value) -> Any:
    """Return a value that JSON has: dates as text, and nothing where a number is beyond all doubles."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value.isoformat() if isinstance(value, datetime.date) else value


def _rank(value: Value) -> tuple[bool, Any]:
    return (value is None, 0 if value is None else value)


@dataclass(frozen=True, eq=False)
class Adjusted(Answer):
    """An answer that was changed without looking at the data again; it says so everywhere."""

    raw: Answer

    label: ClassVar[str]

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "post_processing": self.label}

    def __str__(self) -> str:
        return f"{super().__str__()}; {self.label}"

    def save(self, folder: str | Path) -> None:
        """Save as any answer, with the released values next to it in raw.csv."""
        super().save(folder)
        (Path(folder) / "raw.csv").write_text(self.raw.to_csv(), encoding="utf-8")

    def _dictionary(self) -> str:
        return f"{super()._dictionary()}\nPost-processing: {self.label} in raw.csv.\n"


@dataclass(frozen=True, eq=False)
class NonNegative(Adjusted):
    """An answer whose counts were raised to 0 where the noise took them below."""

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


@dataclass(frozen=True, eq=False)
class AddingUp(Adjusted):
    """An answer whose totals are the sums of their parts. Intervals stay those of the released values."""

    label = "counts and sums were adjusted so that totals add up; the released values are kept"

    def _lines(self) -> list[Line]:
        measured = self.raw._lines()
        return [
            replace(line, measured=each.measured)
            for line, each in zip(super()._lines(), measured, strict=True)
        ]


def _raise(value: Value) -> Value:
    assert isinstance(value, int)
    return max(0, value)


def _raise_ends(interval: Interval | None) -> Interval | None:
    return None if interval is None else Interval(max(0.0, interval.lower), max(0.0, interval.upper))
