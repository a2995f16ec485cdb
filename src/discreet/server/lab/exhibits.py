"""The exhibits of the lab: what each shows, what may be set, and where its theory stands.

An exhibit is one entry of EXHIBITS, one drawing in `drawings.py`, one formula in
`templates/formulas.html`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from discreet.server.lab import drawings
from discreet.server.lab.controls import Choice, Control, Slider
from discreet.server.lab.drawings import Drawing

EPSILONS = (
    "0.05 0.1 0.15 0.2 0.25 0.3 0.35 0.4 0.45 0.5 0.6 0.7 0.8 0.9 1 1.1 1.2 1.3 1.4 1.5 1.6 1.8 2 2.2 2.4"
    " 2.6 2.8 3 3.5 4 4.5 5"
)
SMALL_EPSILONS = "0.01 0.02 0.03 0.04 0.05 0.06 0.08 0.1 0.15 0.2 0.25 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1"
DELTAS = "1e-12 1e-11 1e-10 1e-9 1e-8 1e-7 1e-6 1e-5 1e-4 1e-3 1e-2 0.05"
TIMES = "2 3 5 8 10 15 20 30 50 80 100 150 200 300 500 800 1000"
REPORTS = "100 200 500 1000 2000 5000 10000 20000 50000 100000"
PEOPLE = "1 10 100 1000 10000 100000 1000000 10000000 100000000 1000000000"


@dataclass(frozen=True, kw_only=True)
class Exhibit:
    """One picture with its controls."""

    name: str
    title: str
    lead: str
    controls: tuple[Control, ...]
    theory: str  # a page of docs/theory, with its section where it has one
    draw: Callable[[Mapping[str, Any]], Drawing]
    chance: bool = False  # whether it shows a draw, which may be drawn again


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
        " overlap: whoever sees an output cannot tell which table it came from, up to a factor of e to"
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
        lead="Ask k times, each time with the same noise. Adding up is always right and soon too dear;"
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
        lead="Nobody trusts anybody: each person tells the truth with probability θ, and lies otherwise."
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
        " each row. With many people, somebody’s row is then almost surely out: δ has to be far below"
        " 1/n.",
        controls=(
            DELTA,
            _slider("n", "people", "n", PEOPLE, "100000"),
        ),
        theory="statistics#how-small-delta-must-be",
        draw=drawings.extreme_deltas,
    ),
)
