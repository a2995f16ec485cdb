"""How much a question may cost: work is counted, never timed, so no answer depends on a busy machine.

A unit is about a microsecond. What is dear says before it starts how much it will do; where that is more
than is left, `TooMuch` goes up to the question, which answers by a cheaper bound instead. What is remembered
from earlier questions counts, once in each, as if it were done again: no answer depends on them either.
"""

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, ParamSpec, TypeVar

QUESTION = 2_200_000  # units for each direction of a question
RESERVE = 200_000  # units of the bounds that are fallen back upon
MOST_VALUES = 1_000_000  # complex numbers held at once in one array: 16 MB

Given = ParamSpec("Given")
Found = TypeVar("Found")


class TooMuch(Exception):
    """More work than a question is worth; never seen by a caller of the library."""


@dataclass(eq=False)
class _Kept:
    """Something remembered: its own work, and what else remembered went into it."""

    found: Any = None
    work: int = 0
    inner: "list[_Kept]" = field(default_factory=list)


class _Meter(threading.local):
    """What this thread has done so far, how far it may go, what it counted, and for what it works."""

    done: int = 0
    limit: float = math.inf

    def __init__(self) -> None:
        self.counted: set[_Kept] = set()
        self.makes: list[_Kept] = []


_meter = _Meter()


@contextmanager
def limited(units: float) -> Iterator[None]:
    """Work within this many units, and within what the work around it has left."""
    outer = _meter.limit
    if outer == math.inf:
        _meter.counted = set()
    _meter.limit = min(_meter.done + units, outer)
    try:
        yield
    finally:
        _meter.limit = outer


def spend(units: float) -> None:
    """Count work that is about to be done."""
    if _meter.done + units > _meter.limit:
        raise TooMuch
    whole = math.ceil(units)
    _meter.done += whole
    if _meter.makes:
        _meter.makes[-1].work += whole


def left() -> float:
    """The units that are left."""
    return _meter.limit - _meter.done


def done() -> int:
    """The work that this thread has counted so far."""
    return _meter.done


def remembered(most: int) -> Callable[[Callable[Given, Found]], Callable[Given, Found]]:
    """Keep the last answers of a function, each with its work, which is counted in every question anew."""

    def wrap(function: Callable[Given, Found]) -> Callable[Given, Found]:
        answers: OrderedDict[Hashable, _Kept] = OrderedDict()

        @wraps(function)
        def answer(*args: Given.args, **named: Given.kwargs) -> Found:
            kept = answers.get(args)
            if kept is None:
                kept = _make(lambda: function(*args, **named))
                answers[args] = kept
                while len(answers) > most:
                    answers.popitem(last=False)
            else:
                _count(kept)
            if _meter.makes:
                _meter.makes[-1].inner.append(kept)
            found: Found = kept.found
            return found

        answer.cache_clear = answers.clear  # type: ignore[attr-defined]
        return answer

    return wrap


def _make(function: Callable[[], Any]) -> _Kept:
    kept = _Kept()
    _meter.makes.append(kept)
    try:
        kept.found = function()
    finally:
        _meter.makes.pop()
    _meter.counted.add(kept)
    return kept


def _count(kept: _Kept) -> None:
    """Count the work of something remembered, and of all in it, unless this question has."""
    if kept in _meter.counted:
        return
    makes, _meter.makes = _meter.makes, []  # it is not the work of what is being made now
    try:
        spend(kept.work)
    finally:
        _meter.makes = makes
    _meter.counted.add(kept)
    for inner in kept.inner:
        _count(inner)
