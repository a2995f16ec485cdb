"""The exhibits of the lab: what each shows, its controls, and its theory page.

An exhibit is one entry of EXHIBITS, one drawing in `drawings.py`, one formula in `formulas.html`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

from discreet.apps.pictures.theme import Json
from discreet.apps.server.http_errors import not_found
from discreet.apps.server.lab import drawings
from discreet.apps.server.lab.drawings import Drawing
from discreet.apps.server.pages.rendering import figure_of
from discreet.asking.answers import Theme
from discreet.errors import InvalidParameter

EPSILONS = (
    "0.05 0.1 0.15 0.2 0.25 0.3 0.35 0.4 0.45 0.5 0.6 0.7 0.8 0.9 1 1.1 1.2 1.3 1.4 1.5 1.6 1.8 2 2.2 2.4"
    " 2.6 2.8 3 3.5 4 4.5 5"
)
SMALL_EPSILONS = "0.01 0.02 0.03 0.04 0.05 0.06 0.08 0.1 0.15 0.2 0.25 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1"
DELTAS = "1e-12 1e-11 1e-10 1e-9 1e-8 1e-7 1e-6 1e-5 1e-4 1e-3 1e-2 0.05"
TIMES = "2 3 5 8 10 15 20 30 50 80 100 150 200 300 500 800 1000"
REPORTS = "100 200 500 1000 2000 5000 10000 20000 50000 100000"
PEOPLE = "1 10 100 1000 10000 100000 1000000 10000000 100000000 1000000000"
KEPT = 512  # drawings: sliders go back and forth
Setting: TypeAlias = Fraction | int | str
_NUMBER = re.compile(r"[0-9]{1,10}(\.[0-9]{1,12})?(e-?[0-9]{1,2})?")


@dataclass(frozen=True, kw_only=True)
class Slider:
    """A number from the first to the last of its values; whole if all of them are."""

    name: str
    label: str
    symbol: str
    values: tuple[str, ...]
    start: str
    only: str = ""  # the option without which this slider has no effect

    @property
    def position(self) -> int:
        """The index of its first value."""
        return self.values.index(self.start)

    def read(self, text: str) -> Fraction | int:
        """Read a number exactly.

        >>> Slider(name="epsilon", label="", symbol="ε", values=("0.1", "5"), start="5").read("0.3")
        Fraction(3, 10)
        """
        least, most = Fraction(self.values[0]), Fraction(self.values[-1])
        value = Fraction(Decimal(text)) if _NUMBER.fullmatch(text) else None
        if value is None or not least <= value <= most:
            raise InvalidParameter(
                f"{self.name} must be a number from {self.values[0]} to {self.values[-1]}.",
                parameter=self.name,
            )
        if not all(Fraction(each).denominator == 1 for each in self.values):
            return value
        if value.denominator != 1:
            raise InvalidParameter(f"{self.name} must be a whole number.", parameter=self.name)
        return int(value)


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One of a few options."""

    name: str
    label: str
    values: tuple[str, ...]
    start: str

    def read(self, text: str) -> str:
        """Return the option, or raise."""
        if text not in self.values:
            raise InvalidParameter(
                f"{self.name} must be one of {', '.join(self.values)}.", parameter=self.name
            )
        return text


Control: TypeAlias = Slider | Choice


@dataclass(frozen=True, kw_only=True)
class Exhibit:
    """One picture with its controls."""

    name: str
    title: str
    lead: str
    controls: tuple[Control, ...]
    theory: str  # a page of docs/theory, optionally with a section
    draw: Callable[[Mapping[str, Any]], Drawing]
    chance: bool = False  # whether it shows a random draw, which may be repeated


def _slider(name: str, label: str, symbol: str, values: str, start: str) -> Slider:
    return Slider(name=name, label=label, symbol=symbol, values=tuple(values.split()), start=start)


NOISE = Choice(name="noise", label="Noise", values=("Laplace", "Gaussian"), start="Laplace")
EPSILON = _slider("epsilon", "privacy loss", "ε", EPSILONS, "1")
DELTA = _slider("delta", "failure", "δ", DELTAS, "1e-6")
GAUSSIAN_DELTA = replace(DELTA, only="Gaussian")
SENSITIVITY = _slider("sensitivity", "sensitivity", "Δ", "1 2 3 4 5 6 7 8 9 10", "1")

EXHIBITS: tuple[Exhibit, ...] = (
    Exhibit(
        name="neighbours",
        title="Two neighbours",
        lead="The same question is asked of two tables that differ in one person. Noise makes the answers"
        " overlap: an output hardly tells which table it came from, up to a factor of e to"
        " the ε.",
        controls=(NOISE, EPSILON, GAUSSIAN_DELTA, SENSITIVITY),
        theory="statistics#laplace-noise-on-whole-numbers",
        draw=drawings.neighbours,
    ),
    Exhibit(
        name="output-loss",
        title="What an output reveals",
        lead="For every output, the log of how much likelier it is with the person than without. Laplace"
        " noise keeps it within ±ε everywhere; Gaussian noise lets it grow, but only where outputs are"
        " rare.",
        controls=(NOISE, EPSILON, DELTA, SENSITIVITY),
        theory="losses",
        draw=drawings.output_loss,
    ),
    Exhibit(
        name="loss-distribution",
        title="The loss as a random variable",
        lead="Draw an output and read off its loss: the loss has a law of its own. Losses beyond ε happen"
        " with some probability; the part of it that counts is δ. The tail is an upper bound on δ, and"
        " not the same.",
        controls=(
            Choice(name="noise", label="Noise", values=("Laplace", "Gaussian"), start="Gaussian"),
            _slider("scale", "noise scale or σ", "b", "0.5 0.75 1 1.25 1.5 2 2.5 3 4 5 6 8 10", "2"),
            SENSITIVITY,
            _slider("epsilon", "threshold", "ε", EPSILONS, "0.5"),
        ),
        theory="losses",
        draw=drawings.loss_distribution,
    ),
    Exhibit(
        name="composition",
        title="Many releases together",
        lead="Ask k times, each time with the same noise. Adding up is always valid but soon too costly;"
        " advanced composition grows like the square root of k; the exact composition of the laws is"
        " the least of all.",
        controls=(
            _slider("epsilon", "of each release", "ε", SMALL_EPSILONS, "0.1"),
            _slider("delta", "in all", "δ", DELTAS, "1e-6"),
            _slider("k", "releases", "k", TIMES, "100"),
        ),
        theory="certified-composition",
        draw=drawings.composition,
    ),
    Exhibit(
        name="randomised-response",
        title="Randomised response",
        lead="There is no trusted curator: each person answers truthfully with probability θ, else falsely."
        " One answer says little; many answers say the share, ever more precisely.",
        controls=(
            EPSILON,
            _slider("n", "people", "n", REPORTS, "10000"),
            _slider("share", "true share of yes", "p", "0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1", "0.3"),
        ),
        theory="randomized-response",
        draw=drawings.randomised_response,
        chance=True,
    ),
    Exhibit(
        name="sparse-vector",
        title="Sparse vector on a stream",
        lead="A stream of a hundred counts, and one question to each: is it above the threshold? Only the"
        " “above” answers are paid for. After c of them the stream is closed, however many “below”"
        " there were.",
        controls=(
            EPSILON,
            _slider("threshold", "threshold", "T", "40 50 60 70 80 90 100 110 120 130 140", "100"),
            _slider("count", "answers “above”", "c", "1 2 3 4 5 6 8 10", "2"),
            SENSITIVITY,
        ),
        theory="sparse-vector",
        draw=drawings.sparse_vector,
        chance=True,
    ),
    Exhibit(
        name="extreme-deltas",
        title="What a δ allows",
        lead="Two algorithms that keep (0, δ). One publishes the whole table with probability δ, the other"
        " each row. With many people, someone’s row is then almost surely published: δ has to be far below"
        " 1/n.",
        controls=(
            DELTA,
            _slider("n", "people", "n", PEOPLE, "100000"),
        ),
        theory="statistics#how-small-delta-must-be",
        draw=drawings.extreme_deltas,
    ),
)


def read_settings(controls: tuple[Control, ...], chosen: Mapping[str, str]) -> dict[str, Setting]:
    """Return the value of each control, its start by default; refuse unknown names."""
    unknown = set(chosen) - {control.name for control in controls}
    if unknown:
        names = ", ".join(control.name for control in controls)
        raise InvalidParameter(f"a setting must be one of {names}.", parameter="settings")
    return {control.name: control.read(chosen.get(control.name, control.start)) for control in controls}


def exhibit_of(name: str) -> Exhibit:
    """Return the exhibit of this name, or raise."""
    found = next((exhibit for exhibit in EXHIBITS if exhibit.name == name), None)
    if found is None:
        raise not_found()
    return found


def drawing_of(name: str, chosen: Mapping[str, str], draw: int = 0) -> Drawing:
    """Return the drawing of an exhibit. `draw` only distinguishes draws; it seeds nothing."""
    settings = read_settings(exhibit_of(name).controls, chosen)
    return _draw(name, tuple(settings.items()), draw)


def show(name: str, chosen: Mapping[str, str], *, theme: Theme, draw: int = 0) -> dict[str, Json]:
    """Return the figure and the facts of an exhibit, for the script that draws it."""
    drawing = drawing_of(name, chosen, draw)
    facts = [{"label": label, "value": value} for label, value in drawing.facts]
    return {**figure_of(drawing.picture, theme), "facts": facts}


@lru_cache(maxsize=KEPT)
def _draw(name: str, settings: tuple[tuple[str, Any], ...], draw: int) -> Drawing:
    return exhibit_of(name).draw(dict(settings))
