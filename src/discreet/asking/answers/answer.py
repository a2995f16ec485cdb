"""Answer: a released table with its intervals and a receipt. All of it is post-processing of what was
released.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, overload

from discreet.asking.after import FAILED, Cell, Columns, Failed, Selected, Table, as_cell
from discreet.asking.answers.chart import Drawable, as_html
from discreet.asking.answers.receipt import FREE, Receipt
from discreet.asking.answers.shown import Shown, with_ends
from discreet.asking.answers.wording import Line, align, cell, show_value, slots
from discreet.asking.planning import Plan
from discreet.asking.policy import Type, Value
from discreet.kernel.numerics import Interval, Real, exact_confidence

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


HIDDEN = "keys were found in the data: groups of few people are not shown"

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
    def types(self) -> Mapping[str, Type]:
        """The columns of the SELECT, each with its type."""
        return dict(self._inner if self.failure else self.plan.columns)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the SELECT."""
        return tuple(self.types)

    @property
    def failure(self) -> str | None:
        """Why this is the answer inside, and not what was selected from it; None where nothing failed."""
        return FAILED if self.plan.after is not None and self._selected is None else None

    @property
    def marked(self) -> tuple[str, ...]:
        """The columns that the noise touched, and that have no interval: ranks, for example."""
        return () if self._selected is None else self._selected.marked

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, place: int | slice) -> Row | tuple[Row, ...]:
        """Return the row at a place, or several."""
        return self.rows[place]

    def __bool__(self) -> bool:
        return True  # an answer without rows is an answer

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What limits left out, how sure choices are, and that groups of few people are not shown."""
        said: list[str | None] = [self.plan.note(), *self.plan.choice_notes()]
        for each, (_, numbers) in zip(self.plan.sets, self.released, strict=True):
            said += [one.note(numbers) for one in each.estimators] if numbers else []
        if any(each.private for each in self.plan.sets):
            said.append(HIDDEN)
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
        selected = self._selected if confidence == self.plan.confidence else self._select(confidence)
        if selected is None:
            return self._released_at(confidence)
        return list(zip(selected.rows, selected.intervals, strict=True))

    @property
    def _inner(self) -> Columns:
        return tuple((name, each.type or "text") for name, each in self.plan.question.columns)

    @cached_property
    def _selected(self) -> Selected | None:
        return self._select(self.plan.confidence)

    def _select(self, confidence: Fraction) -> Selected | None:
        """Return what is selected from the released rows; None where nothing is, or where that fails."""
        if self.plan.after is None:
            return None
        try:
            return self.plan.after.apply(self._inner, self._cells(), confidence)
        except Failed:
            return None

    def _cells(self) -> Table:
        """Return the released rows, with the interval of each value at any confidence."""
        levels = lru_cache(maxsize=64)(self._released_at)
        question, released = self.plan.question, self._released_at(self.plan.confidence)
        noisy = [any(each.index >= len(question.keys) for each in slots(expression))
                 for _, expression in question.columns]  # fmt: skip

        def cell(row: int, column: int, name: str) -> Cell:
            return as_cell(row, column, lambda level: levels(level)[row][1][name]) if noisy[column] else None

        rows = [tuple(row.values()) for row, _ in released]
        cells = [
            [cell(row, place, name) for place, (name, _) in enumerate(question.columns)]
            for row in range(len(rows))
        ]
        return Table(rows, cells)

    def _released_at(self, confidence: Fraction) -> list[tuple[Row, Mapping[str, Interval | None]]]:
        """Return the rows that were released, and their intervals at this confidence."""
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
        return [with_ends(row, intervals) for row, intervals in self._at(level)]

    def to_pandas(self, *, confidence: Real | None = None) -> "pandas.DataFrame":
        """Return a pandas frame, interval ends next to the values; at the answer's confidence or another."""
        import pandas

        return pandas.DataFrame(self._with_intervals(confidence))

    def to_polars(self, *, confidence: Real | None = None) -> "polars.DataFrame":
        """Return a Polars frame, interval ends next to the values; at the answer's confidence or another."""
        import polars

        return polars.DataFrame(self._with_intervals(confidence), infer_schema_length=None)

    def to_arrow(self, *, confidence: Real | None = None) -> "pyarrow.Table":
        """Return an Arrow table, interval ends next to the values; at the answer's confidence or another."""
        import pyarrow

        return pyarrow.Table.from_pylist(self._with_intervals(confidence))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand the table, interval ends next to the values, to any library that reads Arrow streams."""
        from discreet.asking.answers.arrow import as_stream

        return as_stream(self.types, self._with_intervals(None)).__arrow_c_stream__(requested_schema)

    def _with_intervals(self, confidence: Real | None) -> list[dict[str, Value]]:
        return self.records(confidence=self.plan.confidence if confidence is None else confidence)

    @cached_property
    def shown(self) -> Shown:
        """The table as its reader sees it, without the plan."""
        noisy = self._noisy_columns()
        return Shown(
            self.types,
            tuple(name for name in noisy if self.types[name] in ("integer", "number")),
            tuple(noisy),
            self.rows,
            self.intervals,
            float(self.plan.confidence),
            self.notes,
            self.remarks,
        )

    def drawable(self) -> Drawable:
        """Return what a chart is drawn from."""
        return self.shown.drawable()

    def _noisy_columns(self) -> list[str]:
        """Return the columns that the noise decides."""
        if self._selected is not None:
            sure = [name for name in self.columns if all(row[name] is None for row in self.intervals)]
            return [name for name in self.columns if name in self.marked or name not in sure]
        width = len(self.plan.question.keys)
        return [name for name, expression in self.plan.question.columns
                if any(each.index >= width for each in slots(expression))]  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        """Return rows, intervals and receipt, for programs."""
        return {
            **self.shown.to_json(),
            **({"failure": self.failure} if self.failure else {}),
            **({"marked": list(self.marked)} if self.marked else {}),
            "charged": self.charged,
            "receipt": self.receipt.to_json(),
        }

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return as_html(self.drawable(), self.columns, notes=[self._caption(), self._paid()])

    def _paid(self) -> str:
        price, remaining = (self.receipt.in_words(name) for name in ("price", "remaining"))
        return f"price {price} · remaining {remaining}"

    def __str__(self) -> str:
        lines = [list(self.columns)]
        for row, intervals in zip(self.rows, self.intervals, strict=True):
            lines.append([cell(row[name], intervals[name]) for name in self.columns])
        return "\n".join([align(lines), "", self._caption()])

    def _caption(self) -> str:
        noisy = any(each is not None for row in self.intervals for each in row.values())
        caption = (
            f"± at {float(self.plan.confidence):.0%} confidence"
            if noisy
            else "chosen by noise: see the receipt"
        )
        said = [caption if self.charged else f"{caption} · {FREE}", *self.notes, *self.remarks]
        return "\n".join(said)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is to be said under the table of what was selected from an answer."""
        if self.failure is not None:
            return (self.failure,)
        if not self.marked:
            return ()
        return (f"without ±, though the noise decides them too: {', '.join(map(show_value, self.marked))}",)

    def to_csv(self) -> str:
        """Return the table as CSV, interval ends next to the values; the notes are lines before it that
        begin with #."""
        return self.shown.to_csv()

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
        for name, kind in self.types.items():
            noisy = any(each[name] is not None for each in self.intervals)
            what = f"noisy; the bounded truth is in {name}_lower to {name}_upper with {confidence} confidence"
            other = "noisy, without an interval" if name in self._uncertain else "a group label"
            lines.append(f"- `{name}` ({kind}): {what if noisy else other}")
        said = "".join(f"\n- {note}" for note in self.notes)
        return "\n".join(lines) + (f"\n\nTo know:\n{said}" if said else "") + "\n"

    @property
    def _uncertain(self) -> tuple[str, ...]:
        question = self.plan.question
        if self._selected is not None:
            return self.marked
        return tuple(name for name, expression in question.columns
                     if any(each.index >= len(question.keys) for each in slots(expression)))  # fmt: skip


def _rank(value: Value) -> tuple[bool, Any]:
    return (value is None, 0 if value is None else value)


@dataclass(frozen=True, eq=False)
class Adjusted(Answer):
    """An answer that was changed without looking at the data again; it says so everywhere."""

    raw: Answer

    label: ClassVar[str]

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "post_processing": self.label}

    def _caption(self) -> str:
        return f"{super()._caption()}; {self.label}"

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

    def _released_at(self, confidence: Fraction) -> list[tuple[Row, Mapping[str, Interval | None]]]:
        counts = self.plan.counts
        return [
            (
                {name: _raise(value) if name in counts else value for name, value in row.items()},
                {name: _raise_ends(each) if name in counts else each for name, each in intervals.items()},
            )
            for row, intervals in self.raw._released_at(confidence)
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
