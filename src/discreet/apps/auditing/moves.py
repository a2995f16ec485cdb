"""How far one unit moved what a mechanism is given, as a part of what the mechanism was calibrated to.

Tested by: tests/auditing/test_replay.py
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.apps.auditing.frozen import Call
from discreet.asking.planning import ChoiceStep, NoiseStep, Plan
from discreet.kernel.mechanisms import (
    CountedKeys,
    Exponential,
    Gaussian,
    KeySelection,
    PermuteAndFlip,
    Quantile,
)


@dataclass(frozen=True)
class Move:
    """What moved by how much, and how much it may. More than 1 of it is a leak."""

    what: str
    moved: float
    allowed: float

    @property
    def part(self) -> float:
        """1 where the whole sensitivity is used."""
        return self.moved / self.allowed if self.allowed else math.inf if self.moved else 0.0

    def __str__(self) -> str:
        return f"{self.what} moved by {self.moved:,.10g} of {self.allowed:,.10g}"


def measure_moves(plan: Plan, first: Sequence[Call], second: Sequence[Call]) -> Iterator[Move]:
    """All moves between two runs of one plan. Several uses of a mechanism count as one long vector."""
    left, right = _by_place(first), _by_place(second)
    for number, each in enumerate(plan.sets):
        for place, noise in enumerate(each.noises):
            key = (number, "noise", place)
            if isinstance(noise.noise, CountedKeys):
                yield from _key_moves(noise.noise, f"keys of set {number + 1}", left[key], right[key])
            else:
                yield _noise_move(noise, f"noise {place + 1} of set {number + 1}", left[key], right[key])
        for place, choice in enumerate(each.choices):
            key = (number, "choice", place)
            yield from _choice_moves(choice, f"choice {place + 1} of set {number + 1}", left[key], right[key])
        if each.selection is not None:
            key = (number, "keys", 0)
            yield from _key_moves(each.selection, f"keys of set {number + 1}", left[key], right[key])


def _by_place(calls: Sequence[Call]) -> dict[tuple[int, str, int], list[Any]]:
    found = defaultdict(list)
    for call in calls:
        found[call.place].append(call.given)
    return found


def _noise_move(step: NoiseStep, what: str, first: list[Any], second: list[Any]) -> Move:
    """The l1 distance for Laplace noise, the l2 distance for Gaussian noise."""
    left, right = ([number for values in each for number in values] for each in (first, second))
    if len(left) != len(right):
        return Move(f"how many numbers {what} is given", abs(len(left) - len(right)), 0)
    distances = [abs(a - b) for a, b in zip(left, right, strict=True)]
    assert not isinstance(step.noise, CountedKeys)
    declared = step.noise.sensitivity
    if isinstance(step.noise, Gaussian):
        square = sum(each * each for each in distances)
        return Move(f"{what} (l2)", _root(square, declared), float(declared))
    return Move(f"{what} (l1)", _float(sum(distances), declared), float(declared))


def _root(square: int, declared: Fraction) -> float:
    """The root, above the declared distance if and only if the square is above its square."""
    root = math.sqrt(square)
    if square > declared**2:
        return max(root, math.nextafter(float(declared), math.inf))
    return min(root, float(declared))


def _float(distance: int, declared: Fraction) -> float:
    """The distance, above the declared one if and only if it is."""
    if distance > declared:
        return max(float(distance), math.nextafter(float(declared), math.inf))
    return min(float(distance), float(declared))


def _choice_moves(step: ChoiceStep, what: str, first: list[Any], second: list[Any]) -> Iterator[Move]:
    """How many groups' choices are touched, and how far the tallies or scores of one group move."""
    if len(first) != len(second):
        yield Move(f"how many choices {what} makes", abs(len(first) - len(second)), 0)
        return
    touched = [(a, b) for a, b in zip(first, second, strict=True) if a != b]
    yield Move(f"groups touched by {what}", len(touched), step.groups)
    chooser = step.chooser
    if isinstance(chooser, Quantile):
        swap = 1 if chooser.relation == "add/remove" else 2
        most = max((sum(_changes(a, b)) for a, b in touched), default=0)
        yield Move(f"the tally of {what}", most, chooser.max_rows * swap)
    else:
        yield from _score_moves(chooser, what, touched)


def _score_moves(
    chooser: Exponential | PermuteAndFlip, what: str, touched: list[tuple[Any, Any]]
) -> Iterator[Move]:
    most = max((abs(a - b) for pair in touched for a, b in zip(*pair, strict=True)), default=0)
    yield Move(f"a score of {what}", float(most), float(chooser.sensitivity))
    if chooser.scores == "monotone":
        both = sum(_both_ways([b - a for a, b in zip(*pair, strict=True)]) for pair in touched)
        yield Move(f"groups of {what} whose scores move both ways", both, 0)


def _both_ways(changes: list[int]) -> bool:
    return min(changes, default=0) < 0 < max(changes, default=0)


def _key_moves(
    selection: KeySelection | CountedKeys, what: str, first: list[Any], second: list[Any]
) -> Iterator[Move]:
    """A unit holds at most max_groups keys, and counts once in each, or with so many rows; replaced, it may
    come to others."""
    if len(first) != len(second):
        yield Move(f"how often {what} are selected", abs(len(first) - len(second)), 0)
        return
    changes = [change for a, b in zip(first, second, strict=True) for change in _changes(a, b) if change]
    swap = 1 if selection.relation == "add/remove" else 2
    yield Move(f"{what} held by one unit", len(changes), selection.max_groups * swap)
    most = selection.sensitivity if isinstance(selection, CountedKeys) else 1
    yield Move(f"the count of one of the {what}", max(changes, default=0), most)


def _changes(first: Mapping[Any, int], second: Mapping[Any, int]) -> list[int]:
    return [abs(first.get(key, 0) - second.get(key, 0)) for key in {**first, **second}]
