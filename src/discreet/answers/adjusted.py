"""Answers after free post-processing: labelled, what was released kept beside them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

from discreet.answers.answer import Answer, Row
from discreet.answers.line import Line
from discreet.numerics import Interval
from discreet.tables import Value


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
        """As any answer, with the released values beside it in raw.csv."""
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
