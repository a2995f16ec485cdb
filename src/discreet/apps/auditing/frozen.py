"""A curator whose noise is frozen: what mechanisms are given is written down, what they give is fixed.

Every mechanism of a charged plan is replaced by a copy that returns numbers of its place in the plan alone.
All else is the real thing: planning, ledger, engine, release, storage, answer. So whatever else depends on
the data shows. Only invented data are ever opened so: `Stage` makes them.

Tested by: tests/auditing/test_replay.py
"""

import contextlib
import copy
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from discreet.asking.curator import Curator
from discreet.asking.engines import Engine
from discreet.asking.planning import ExactPlan, ExactTable, Plan, SetPlan
from discreet.asking.policy import Policy, Value
from discreet.asking.query_run import QueryRun
from discreet.asking.resources import Resources
from discreet.kernel.ledger import Ledger
from discreet.kernel.mechanisms import CountedKeys, Quantile
from discreet.kernel.randomness import Source

SPREAD = 1999  # frozen numbers lie between -499 and 1500
LOWEST = -499


Place: TypeAlias = tuple[int, str, int]  # grouping set, kind of step, step


@dataclass(frozen=True)
class Call:
    """One use of a mechanism: which one of the plan, what it was given, and a word of its source."""

    place: Place
    given: Any
    word: int


class FrozenCurator(Curator):
    """A curator of invented data whose mechanisms give fixed numbers; `watched` is what they were given."""

    def __init__(self, policy: Policy, **options: Any) -> None:
        super().__init__(policy, **options)
        self.resources = Watched(self.resources)

    @property
    def watched(self) -> "Watched":
        """What was written down, the same for all analysts."""
        assert isinstance(self.resources, Watched)
        return self.resources

    def start(self, *, salt: int, shown: frozenset[tuple[Value, ...]]) -> None:
        """Forget what was written down; bound contributions by this salt and show these private keys, which
        both neighbours must have."""
        self.watched.calls, self.watched.statements = [], []
        self.watched.salt, self.watched.shown = salt, shown

    def keys_found(self, plan: Plan, salt: int) -> set[tuple[Value, ...]]:
        """The private keys in the data, bounded by this salt."""
        engine = self.watched.at(salt)
        tables = [engine.run(each.exact.plans[0]) for each in plan.sets if each.private]
        return {group for table in tables for group in table.groups}

    def _query_run(self, plans: tuple[Plan, ...]) -> QueryRun:
        """The real steps, with frozen mechanisms; what is charged is the same."""
        return super()._query_run(tuple(map(self._freeze, plans)))

    def _freeze(self, plan: Plan) -> Plan:
        return replace(plan, sets=tuple(self._freeze_set(*each) for each in enumerate(plan.sets)))

    def _freeze_set(self, number: int, each: SetPlan) -> SetPlan:
        noises = tuple(
            replace(step, noise=self._mute(step.noise, (number, "noise", place), self._use(each, place)))
            for place, step in enumerate(each.noises)
        )
        choices = tuple(
            replace(step, chooser=self._mute(step.chooser, (number, "choice", place), self._chosen))
            for place, step in enumerate(each.choices)
        )
        selection = each.selection and self._mute(each.selection, (number, "keys", 0), self._selected)
        return replace(each, noises=noises, choices=choices, selection=selection)

    def _use(self, each: SetPlan, place: int) -> Callable[..., Any]:
        return self._counted if place == each.showing else self._noised

    def _mute(self, mechanism: Any, place: Place, use: Callable[..., Any]) -> Any:
        """A copy that is the same in all its declarations, and draws nothing."""
        muted = copy.copy(mechanism)
        for name, told in {"draw": use, "draw_tally": self._at_a_quantile}.items():
            if hasattr(mechanism, name):
                object.__setattr__(muted, name, lambda *given, told=told: told(mechanism, place, *given))
        return muted

    def _note(self, place: Place, given: Any, source: Source) -> int:
        """Write a call down; its number among the calls of its step."""
        calls = self.watched.calls
        before = sum(call.place == place for call in calls)
        calls.append(Call(place, given, source.word()))
        return before

    def _noised(self, mechanism: Any, place: Place, values: Sequence[int], source: Source) -> list[int]:
        turn = self._note(place, tuple(map(int, values)), source)
        return [LOWEST + _mix(*place, turn, index) % SPREAD for index in range(len(values))]

    def _chosen(self, mechanism: Any, place: Place, scores: Sequence[int], source: Source) -> int:
        return _mix(*place, self._note(place, tuple(map(int, scores)), source)) % len(scores)

    def _at_a_quantile(
        self, mechanism: Quantile, place: Place, numbers: Any, rows: Any, source: Source
    ) -> int:
        low, high = (int(end) for end in mechanism.bounds)
        tally = dict(zip(numbers.tolist(), rows.tolist(), strict=True))
        return low + _mix(*place, self._note(place, tally, source)) % (high - low + 1)

    def _selected(self, mechanism: Any, place: Place, units: Any, source: Source) -> Any:
        groups = self.watched.groups
        self._note(place, dict(zip(groups, units.tolist(), strict=True)), source)
        return np.array([group in self.watched.shown for group in groups], dtype=np.bool_)

    def _counted(
        self, mechanism: CountedKeys, place: Place, counts: Sequence[int], source: Source
    ) -> list[int | None]:
        """Numbers above the threshold for the keys to be shown, by their order; None for the others."""
        groups = self.watched.groups
        self._note(place, dict(zip(groups, map(int, counts), strict=True)), source)
        numbers = (mechanism.threshold + 1 + _mix(*place, turn) % SPREAD for turn in itertools.count())
        return [next(numbers) if group in self.watched.shown else None for group in groups]


class Watched(Resources):
    """Resources whose engine bounds by a fixed salt, and what happened since `start`."""

    def __init__(self, resources: Resources) -> None:
        self.declared, self._real = resources.declared, resources
        self._seen_through: Engine | None = None
        self.salt = 0
        self.shown: frozenset[tuple[Value, ...]] = frozenset()
        self.groups: tuple[tuple[Value, ...], ...] = ()
        self.calls: list[Call] = []
        self.statements: list[str] = []

    def engine(self) -> Engine:
        """The real engine, looked at from outside."""
        if self._seen_through is None:
            self._seen_through = _WatchedEngine(self._real.engine(), self)
        return self._seen_through

    @property
    def known(self) -> Policy:
        """The policy as the real resources know it."""
        return self._real.known

    def at(self, salt: int) -> Engine:
        """The engine, bounding by this salt from now on."""
        self.salt = salt
        return self.engine()

    def ledger(self) -> Ledger:
        """The real ledger."""
        return self._real.ledger()

    def close(self) -> None:
        """Close the real ones."""
        self._real.close()


class _WatchedEngine:
    def __init__(self, engine: Engine, watched: Watched) -> None:
        self._engine, self._watched = engine, watched
        if hasattr(engine, "_execute"):
            engine._execute = self._written_down(engine._execute)

    def _written_down(self, execute: Callable[..., Any]) -> Callable[..., Any]:
        def executed(statement: Any, *how: Any) -> Any:
            self._watched.statements.append(statement.sql())
            return execute(statement, *how)

        return executed

    @property
    def policy(self) -> Policy:
        return self._engine.policy

    def schema(self) -> Any:
        return self._engine.schema()

    def reach(self) -> None:
        self._engine.reach()

    def close(self) -> None:
        self._engine.close()

    @contextlib.contextmanager
    def question(self) -> Iterator[Callable[[ExactPlan], ExactTable]]:
        yield self.run

    def run(self, plan: ExactPlan) -> ExactTable:
        table = self._engine.run(replace(plan, salt=self._watched.salt))
        if plan.tally is None:
            self._watched.groups = table.groups  # that keys are selected from
        return table


def _mix(*parts: object) -> int:
    """A number of these parts alone, the same in every run (FNV-1a)."""
    mixed = 0xCBF29CE484222325
    for byte in repr(parts).encode():
        mixed = (mixed ^ byte) * 0x100000001B3 % 2**64
    return mixed >> 16
