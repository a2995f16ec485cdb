"""Shown: the table of an answer as its reader sees it; what the ledger keeps, so that it can be shown again.

A stored answer is shown from this alone: neither data nor plan is needed, and a later policy changes nothing
of it.

Tested by: tests/answers/test_signed.py
"""

import datetime
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.asking.answers.chart import Drawable
from discreet.asking.answers.wording import as_csv
from discreet.asking.policy import Value
from discreet.kernel.numerics import Interval


@dataclass(frozen=True)
class Shown:
    """Released rows with their intervals, and what is said of them."""

    types: Mapping[str, str]  # of every column, in the SELECT's order
    measures: tuple[str, ...]  # the columns of noisy numbers
    noisy: tuple[str, ...]  # all columns that the noise decides
    rows: Sequence[Mapping[str, Value]]
    intervals: Sequence[Mapping[str, Interval | None]]
    confidence: float
    notes: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the SELECT."""
        return tuple(self.types)

    @property
    def has_intervals(self) -> bool:
        """Whether any value has an interval."""
        return any(each is not None for row in self.intervals for each in row.values())

    def drawable(self) -> Drawable:
        """Return what a chart is drawn from."""
        keys = tuple(name for name in self.columns if name not in self.noisy)
        return Drawable(keys, self.measures, self.rows, self.intervals, self.confidence)

    def records(self) -> list[dict[str, Value]]:
        """Return the rows, `<column>_lower` and `<column>_upper` next to the values."""
        return [with_ends(row, ends) for row, ends in zip(self.rows, self.intervals, strict=True)]

    def to_csv(self) -> str:
        """Return the table as CSV, interval ends next to the values; before it the notes, in lines that
        begin with #."""
        records = self.records()
        names = list(records[0]) if records else list(self.columns)
        lines: list[list[Value]] = [[*names], *([row[name] for name in names] for row in records)]
        said = "".join(f"# {' '.join(note.split())}\n" for note in self.notes)
        return said + "".join(",".join(as_csv(value) for value in line) + "\n" for line in lines)

    def to_json(self) -> dict[str, Any]:
        """Return rows and intervals, for programs."""
        return {
            "columns": list(self.columns),
            "rows": [{name: _plain(value) for name, value in row.items()} for row in self.rows],
            "intervals": [
                {name: None if each is None else [_plain(end) for end in each] for name, each in row.items()}
                for row in self.intervals
            ],
            "confidence": self.confidence,
            "notes": list(self.notes),
        }

    def stored(self) -> dict[str, Any]:
        """Return what the ledger keeps: all of it, exactly, in JSON."""
        return {
            "types": [list(each) for each in self.types.items()],
            "measures": list(self.measures),
            "noisy": list(self.noisy),
            "rows": [[tagged(row[name]) for name in self.types] for row in self.rows],
            "intervals": [
                [None if row[name] is None else list(map(tagged, row[name] or ())) for name in self.types]
                for row in self.intervals
            ],
            "confidence": self.confidence,
            "notes": list(self.notes),
            "remarks": list(self.remarks),
        }

    @classmethod
    def read(cls, facts: Mapping[str, Any]) -> "Shown":
        """Return the table that `stored` wrote."""
        types = dict(facts["types"])
        return cls(
            types,
            tuple(facts["measures"]),
            tuple(facts["noisy"]),
            [dict(zip(types, map(untagged, row), strict=True)) for row in facts["rows"]],
            [dict(zip(types, map(_ends, row), strict=True)) for row in facts["intervals"]],
            facts["confidence"],
            tuple(facts["notes"]),
            tuple(facts["remarks"]),
        )


def with_ends(row: Mapping[str, Value], intervals: Mapping[str, Interval | None]) -> dict[str, Value]:
    """Return a row with the ends of its intervals next to the values."""
    ends: dict[str, Value] = dict(row)
    for name, interval in intervals.items():
        if interval is not None:
            ends[f"{name}_lower"], ends[f"{name}_upper"] = interval
    return ends


def _ends(facts: Sequence[Any] | None) -> Interval | None:
    return None if facts is None else Interval(*map(untagged, facts))


def _plain(value: Value) -> Any:
    """Return a value that JSON has: dates as text, and nothing where a number is beyond all doubles."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value.isoformat() if isinstance(value, datetime.date) else value


def tagged(value: Value) -> Any:
    """Return a label that JSON has: it has no dates, and no infinities."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": str(value)}
    if isinstance(value, datetime.datetime):
        return {"timestamp": value.isoformat()}
    return {"date": value.isoformat()} if isinstance(value, datetime.date) else value


def untagged(value: Any) -> Any:
    """Return the label that `tagged` wrote."""
    if not isinstance(value, dict):
        return value
    if "number" in value:
        return float(value["number"])
    if "timestamp" in value:
        return datetime.datetime.fromisoformat(value["timestamp"])
    return datetime.date.fromisoformat(value["date"])
