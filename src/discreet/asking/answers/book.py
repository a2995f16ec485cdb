"""Book: the released tables of a book, all from one estimate, with an interval in every cell and one receipt.

Values are whole multiples of 2^-20, so that every total is the sum of its parts exactly, as whole numbers and
as floats.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.asking.answers.chart import draw_chart
from discreet.asking.answers.consistent import agree_exactly, estimate_tables
from discreet.asking.answers.consistent_levels import agree_nested, estimate_nested, tidy_nested
from discreet.asking.answers.ordered import MOST_LABELS, Ordered, read_ordered
from discreet.asking.answers.receipt import FREE, Receipt
from discreet.asking.answers.shown import Shown
from discreet.asking.answers.tidy import check_tidy, make_tidy
from discreet.asking.answers.wording import as_csv
from discreet.asking.planning import (
    BookPlan,
    CellLaw,
    Columns,
    NestedDesign,
    NestedWorkload,
    Whole,
    covariance_with,
)
from discreet.asking.policy import Value
from discreet.errors import InvalidParameter
from discreet.kernel.numerics import Interval, readable_up

if TYPE_CHECKING:
    import pandas

STEPS = 1 << 20  # of one row: where the estimates lie
REST = "(rest)"  # the label of rows that have none of the declared ones
COUNT = "count"
_DRAWN = 600  # cells that a picture can hold

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BookTable:
    """One table of a book: an array with an axis for each column, and how far its cells reach: one number for
    all, or, where the last column is a level of a hierarchy, one for each of its labels.

    `labels` are those of each column; the last one is `(rest)` where rows may have another. `steps` are the
    values in steps of 2^-20.
    """

    columns: tuple[str, ...]
    labels: tuple[tuple[Value, ...], ...]
    steps: Whole
    variance: float | Floats
    reach: float | Floats
    confidence: float

    @property
    def name(self) -> str:
        """The table's columns, or `total`."""
        return " x ".join(self.columns) or "total"

    @property
    def values(self) -> Floats:
        """The estimates: unbiased, and below 0 where the noise takes them there."""
        return self.steps / STEPS

    @property
    def lower(self) -> Floats:
        """The lower ends of the intervals."""
        return self.values - self.reach

    @property
    def upper(self) -> Floats:
        """The upper ends of the intervals."""
        return self.values + self.reach

    @property
    def reaches(self) -> str:
        """How far cells reach, in words."""
        each = "each" if isinstance(self.reach, float) else "each at most"
        return f"{each} ±{readable_up(self.farthest)}"

    @property
    def farthest(self) -> float:
        """The largest reach of a cell."""
        return float(np.max(self.reach))

    def __len__(self) -> int:
        return int(self.steps.size)

    def __getitem__(self, labels: Value | tuple[Value, ...]) -> float:
        """Return the estimate of one cell, by its labels."""
        given = labels if isinstance(labels, tuple) else (labels,)
        try:
            place = tuple(known.index(each) for known, each in zip(self.labels, given, strict=True))
        except ValueError:
            raise InvalidParameter(
                f"a cell of {self.name} must be named by a label of each column.", parameter="labels"
            ) from None
        return float(self.values[place])

    @property
    def rows(self) -> tuple[dict[str, Value], ...]:
        """A mapping from column to label, with the count, for each cell."""
        return tuple(
            {**dict(zip(self.columns, group, strict=True)), COUNT: float(value)}
            for group, value in zip(product(*self.labels), self.values.reshape(-1), strict=True)
        )

    @cached_property
    def shown(self) -> Shown:
        """The table as its reader sees it."""
        kinds = {name: _type_of(labels) for name, labels in zip(self.columns, self.labels, strict=True)}
        ends = [
            {
                **dict.fromkeys(self.columns),
                COUNT: Interval(float(low), float(high)),
            }
            for low, high in zip(self.lower.reshape(-1), self.upper.reshape(-1), strict=True)
        ]
        return Shown({**kinds, COUNT: "number"}, (COUNT,), (COUNT,), self.rows, ends, self.confidence)

    def to_csv(self) -> str:
        """Return the table as CSV, the ends of the interval next to each count."""
        head = ",".join(map(as_csv, (*self.columns, COUNT, f"{COUNT}_lower", f"{COUNT}_upper")))
        groups = product(*([as_csv(each) for each in labels] for labels in self.labels))
        ends = zip(self.values.reshape(-1), self.lower.reshape(-1), self.upper.reshape(-1), strict=True)
        lines = [
            ",".join((*group, repr(float(value)), repr(float(low)), repr(float(high))))
            for group, (value, low, high) in zip(groups, ends, strict=True)
        ]
        return "\n".join([head, *lines, ""])

    def to_pandas(self) -> "pandas.DataFrame":
        """Return a pandas frame, interval ends next to the counts."""
        import pandas

        frame = pandas.DataFrame(index=range(len(self)))
        if self.columns:
            groups = pandas.MultiIndex.from_product(map(list, self.labels), names=self.columns)
            frame = groups.to_frame(index=False)
        for name, values in (
            (COUNT, self.values),
            (f"{COUNT}_lower", self.lower),
            (f"{COUNT}_upper", self.upper),
        ):
            frame[name] = values.reshape(-1)
        return frame

    def __repr__(self) -> str:
        confidence = f"{self.confidence:.0%}"
        return f"BookTable({self.name}: {len(self):,} cells, {self.reaches} at {confidence})"


def _type_of(labels: Sequence[Value]) -> str:
    kinds = {type(each) for each in labels if each is not None}
    return (
        {int: "integer", float: "number", bool: "boolean"}.get(kinds.pop(), "text")
        if len(kinds) == 1
        else "text"
    )


@dataclass(frozen=True, eq=False)
class Book:
    """The tables of a book, with one receipt. All totals are the sums of their parts, exactly."""

    plan: BookPlan
    measured: Mapping[Columns, Whole]  # what was released, in steps of the plan's noise
    receipt: Receipt

    @cached_property
    def _steps(self) -> dict[Columns, Whole]:
        one = self.plan.noise.one
        rows = {columns: table / one for columns, table in self.measured.items()}
        design = self.plan.noise.design
        if isinstance(design, NestedDesign):
            return agree_nested(design.workload, estimate_nested(design, rows), STEPS)
        return agree_exactly(estimate_tables(design, rows), STEPS)

    @cached_property
    def tables(self) -> tuple[BookTable, ...]:
        """The tables, in the order in which they were asked for."""
        return tuple(map(self.table, self.plan.book.tables))

    def table(self, columns: Columns) -> BookTable:
        """Return a table, or a total of one, by the positions of its columns."""
        plan = self.plan
        named, labels = plan.book.names, labels_of(plan)
        return BookTable(
            tuple(named[each] for each in columns),
            tuple(labels[each] for each in columns),
            self._steps[columns],
            plan.noise.variance(columns),
            plan.reach(columns),
            float(plan.confidence),
        )

    def __getitem__(self, columns: str | Sequence[str]) -> BookTable:
        """Return the table by these columns, in any order: one of the book, or a total of one."""
        wanted = (columns,) if isinstance(columns, str) else tuple(columns)
        names = self.plan.book.names
        if not set(wanted) <= set(names) or len(set(wanted)) < len(wanted):
            self._unknown()
        places = tuple(sorted(names.index(each) for each in wanted))
        if places not in self.plan.noise.workload.sets:
            self._unknown()
        return self.table(places)

    def ordered(self, column: str) -> Ordered:
        """Return the declared labels of a column in their order: for ranges, cumulative shares and quantiles,
        each with its interval. Numbers and dates ascend; other labels are in the order they are declared in.

        Post-processing, free. The book must have a table by the column, or by it and others, and its noise be
        Gaussian.
        """
        table = self[column]
        (place,) = (self.plan.book.names.index(each) for each in table.columns)
        labels = self.plan.book.labels[place]
        if len(labels) > MOST_LABELS:
            raise InvalidParameter(
                f"an ordered column must have at most {MOST_LABELS:,} labels, got {len(labels):,}.",
                parameter="column",
            )
        sums = np.eye(len(labels), len(table))
        covariance = covariance_with(self.plan.noise, (place,), sums)[:, : len(labels)]
        reach = CellLaw(1.0, np.zeros(0), np.zeros(0)).reach(self.plan.confidence)
        return read_ordered(
            column, labels, table.steps, covariance, one=STEPS, normal=reach, confidence=table.confidence
        )

    def tidy(self) -> "TidyBook":
        """Return the same tables in whole numbers from 0 on, whose totals agree: post-processing, free,
        biased, and without intervals. This book stays as it is. Refused where tables of three columns or
        more overlap, as such numbers need not exist."""
        return TidyBook(self)

    def _unknown(self) -> None:
        known = ", ".join(self.plan.name(each) for each in self.plan.book.tables)
        raise InvalidParameter(
            f"a table must be one of the book, or a total of one: {known[:400]}.", parameter="columns"
        )

    def __iter__(self) -> Iterator[BookTable]:
        return iter(self.tables)

    def __len__(self) -> int:
        return len(self.plan.book.tables)

    @property
    def charged(self) -> bool:
        """Whether it was charged for now; False where it came from the ledger, free."""
        return self.receipt.charged

    def to_json(self) -> dict[str, Any]:
        """Return all tables as nested lists, and the receipt, for programs."""
        return {
            "tables": [
                {
                    "columns": list(each.columns),
                    "labels": [[_plain(label) for label in labels] for labels in each.labels],
                    "values": each.values.tolist(),
                    "reach": np.asarray(each.reach).tolist(),
                    "standard_deviation": np.sqrt(each.variance).tolist(),
                }
                for each in self.tables
            ],
            "confidence": float(self.plan.confidence),
            "charged": self.charged,
            "receipt": self.receipt.to_json(),
        }

    def save(self, folder: str | Path, *, tidy: bool = False) -> None:
        """Write one CSV and, where it can be drawn, one picture a table into a folder; with a data dictionary
        and the receipt. With `tidy`, the tidy tables are in a folder of their own inside."""
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        for name, table in zip(self.file_names, self.tables, strict=True):
            (target / f"{name}.csv").write_text(table.to_csv(), encoding="utf-8")
            if 0 < len(table.columns) <= 2 and len(table) <= _DRAWN:
                (target / f"{name}.svg").write_text(
                    draw_chart(table.shown.drawable()).markup(), encoding="utf-8"
                )
        facts = json.dumps(self.receipt.to_json(), indent=2)
        (target / "receipt.json").write_text(facts + "\n", encoding="utf-8")
        (target / "receipt.txt").write_text(f"{self.receipt}\n", encoding="utf-8")
        (target / "dictionary.md").write_text(self._dictionary(), encoding="utf-8")
        if tidy:
            self.tidy().save(target / "tidy")

    @property
    def file_names(self) -> tuple[str, ...]:
        """A name for each table's file: its number, so that none are the same, and its columns."""
        kept = (
            "-".join("".join(c if c.isalnum() else "_" for c in name) for name in each.columns)[:80]
            for each in self.tables
        )
        return tuple(f"{place:03d}-{name or 'total'}" for place, name in enumerate(kept, start=1))

    def _dictionary(self) -> str:
        confidence = f"{float(self.plan.confidence):.0%}"
        lines = [
            f"# A book of {len(self)} tables of data set `{self.plan.policy.id}`\n",
            f"Every file has a row for each cell: its labels, `{COUNT}`, and `{COUNT}_lower` to "
            f"`{COUNT}_upper`, where the bounded truth is with {confidence} confidence, each cell by "
            "itself. Counts are noisy and unbiased; some are below 0. Every total is the sum of its parts "
            "exactly, in all tables.\n",
        ]
        if note := self.plan.note():
            lines.append(f"In these numbers {note}.\n")
        lines += ["| file | columns | cells | ± |", "|---|---|--:|--:|"]
        for name, each in zip(self.file_names, self.tables, strict=True):
            lines.append(f"| {name}.csv | {each.name} | {len(each):,} | {readable_up(each.farthest)} |")
        lines.append("\n## Columns\n")
        rests = self.plan.book.rests
        for name, labels, rest in zip(self.plan.book.names, labels_of(self.plan), rests, strict=True):
            other = f"; `{labels[-1]}` are the rows with another value, or none" if rest else ""
            lines.append(f"- `{name}`: {len(labels) - rest:,} declared labels{other}")
        return "\n".join(lines) + "\n"

    def __str__(self) -> str:
        lines = [f"{each.name}: {len(each):,} cells, {each.reaches}" for each in self.tables[:20]]
        if len(self) > 20:
            lines.append(f"and {len(self) - 20} more tables")
        return "\n".join([*lines, "", self.caption])

    @property
    def caption(self) -> str:
        """What is said under the tables: confidence, price and what is cut."""
        price, remaining = (self.receipt.in_words(name) for name in ("price", "remaining"))
        said = f"± at {float(self.plan.confidence):.0%} confidence · price {price} · remaining {remaining}"
        lines = [said if self.charged else f"{said} · {FREE}", self.plan.note()]
        return "\n".join(line for line in lines if line is not None)

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True, eq=False)
class TidyBook:
    """The tables of a book in whole numbers from 0 on, whose totals agree; `raw` is the book itself."""

    raw: Book
    label: ClassVar[str] = (
        "counts were made whole and at least 0, with totals that agree; no interval holds for them"
    )

    @cached_property
    def _whole(self) -> dict[Columns, Whole]:
        near = {columns: steps / STEPS for columns, steps in self.raw._steps.items()}
        workload = self.raw.plan.noise.workload
        check_tidy(workload)
        if isinstance(workload, NestedWorkload):
            return tidy_nested(workload, near)
        return make_tidy(near, list(self.raw.plan.book.tables))

    def __getitem__(self, columns: str | Sequence[str]) -> Whole:
        """Return the counts of the table by these columns, an axis for each in the table's own order."""
        names = self.raw.plan.book.names
        return self._whole[tuple(names.index(each) for each in self.raw[columns].columns)]

    def save(self, folder: str | Path) -> None:
        """Write one CSV a table into a folder, and what the numbers are."""
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        for name, table in zip(self.raw.file_names, self.raw.tables, strict=True):
            groups = product(*([as_csv(each) for each in labels] for labels in table.labels))
            counts = self[table.columns].reshape(-1).tolist()
            lines = [",".join((*group, str(count))) for group, count in zip(groups, counts, strict=True)]
            text = "\n".join([",".join(map(as_csv, (*table.columns, COUNT))), *lines, ""])
            (target / f"{name}.csv").write_text(text, encoding="utf-8")
        (target / "README.txt").write_text(f"Post-processing: {self.label}.\n", encoding="utf-8")


def labels_of(plan: BookPlan) -> tuple[tuple[Value, ...], ...]:
    """Return the labels of every column, that of the rest included where rows may have another."""
    found = []
    for labels, rest in zip(plan.book.labels, plan.book.rests, strict=True):
        other = REST
        while other in labels:
            other = f"({other})"
        found.append((*labels, other) if rest else tuple(labels))
    return tuple(found)


def _plain(label: Value) -> Any:
    return label if isinstance(label, bool | int | float | str | None) else label.isoformat()
