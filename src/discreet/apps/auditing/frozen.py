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
from discreet.asking.planning import (
    AddNoise,
    ChooseLabel,
    ChooseQuantile,
    CountAndShow,
    ExactPlan,
    ExactTable,
    Plan,
    SelectKeys,
    SetPlan,
    Stage,
    TableStage,
)
from discreet.asking.planning.clamping import ChooseEnd
from discreet.asking.planning.limit_stages import AddNoiseToAll, ChooseLimit, CountAbove
from discreet.asking.planning.spill import MeasureSpill
from discreet.asking.policy import Policy, Value
from discreet.asking.query_run import QueryRun
from discreet.asking.resources import Resources
from discreet.kernel.ledger import Ledger
from discreet.kernel.plan import Released

SPREAD = 1999  # frozen numbers are between -499 and 1500
LOWEST = -499

Pick: TypeAlias = Callable[[int], int]
Place: TypeAlias = tuple[int, ...]  # grouping set, stage in it, and places in what later stages became


@dataclass(frozen=True)
class Call:
    """One draw: of which stage, what its mechanism was given, and a word of its source."""

    place: Place
    given: Any
    word: int
    stage: Any = None


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
        tables = [engine.run(each.keys_stage.plan) for each in plan.sets if each.keys_stage is not None]
        return {group for table in tables for group in table.groups}

    def _query_run(self, plans: tuple[Plan, ...]) -> QueryRun:
        """The real steps, with frozen mechanisms; what is charged is the same."""
        return super()._query_run(tuple(map(self._freeze, plans)))

    def _freeze(self, plan: Plan) -> Plan:
        return replace(plan, sets=tuple(self._freeze_set(*each) for each in enumerate(plan.sets)))

    def _freeze_set(self, part: int, each: SetPlan) -> SetPlan:
        stages = (self._mute(stage, (part, place)) for place, stage in enumerate(each.stages))
        return replace(each, stages=tuple(stages))

    def _mute(self, stage: Any, place: Place) -> Any:
        """The stage with a mechanism that is the same in all its declarations, and draws nothing; nor does
        what it becomes."""
        if isinstance(stage, TableStage):
            return self._mute_draw(stage, place)
        later = copy.copy(stage)

        def ready(released: Released) -> tuple[Stage, ...]:
            become = enumerate(stage.ready(released))
            return tuple(self._mute(each, (*place, index)) for index, each in become)

        object.__setattr__(later, "ready", ready)
        return later

    def _mute_draw(self, stage: TableStage, place: Place) -> TableStage:
        mechanism = copy.copy(stage.mechanism)
        use = _STAND_INS[type(stage)]

        def draw(*arguments: Any) -> Any:
            *given, source = arguments
            turn = sum(call.place == place for call in self.watched.calls)
            picks = itertools.count()
            recorded, drawn = use(stage, self.watched, lambda n: _mix(*place, turn, next(picks)) % n, *given)
            self.watched.calls.append(Call(place, recorded, source.word(), stage))
            return drawn

        for name in ("draw", "draw_tally"):
            if hasattr(mechanism, name):
                object.__setattr__(mechanism, name, draw)
        return replace(stage, mechanism=mechanism)


def _noised(stage: Any, watched: "Watched", pick: Pick, values: Sequence[int]) -> tuple[Any, list[int]]:
    return tuple(map(int, values)), [LOWEST + pick(SPREAD) for _ in values]


def _labelled(stage: Any, watched: "Watched", pick: Pick, scores: Sequence[int]) -> tuple[Any, int]:
    return tuple(map(int, scores)), pick(len(scores))


def _at_a_quantile(stage: Any, watched: "Watched", pick: Pick, numbers: Any, rows: Any) -> tuple[Any, int]:
    low, high = (int(end) for end in stage.mechanism.bounds)
    return dict(zip(numbers.tolist(), rows.tolist(), strict=True)), low + pick(high - low + 1)


def _selected(stage: Any, watched: "Watched", pick: Pick, units: Any) -> tuple[Any, Any]:
    shown = np.array([group in watched.shown for group in watched.groups], dtype=np.bool_)
    return dict(zip(watched.groups, units.tolist(), strict=True)), shown


def _counted(stage: Any, watched: "Watched", pick: Pick, counts: Sequence[int]) -> tuple[Any, Any]:
    """Numbers above the threshold for the keys to be shown, by their order; None for the others."""
    least, groups = stage.mechanism.threshold + 1, watched.groups
    drawn = [least + pick(SPREAD) if group in watched.shown else None for group in groups]
    return dict(zip(groups, map(int, counts), strict=True)), drawn


# What each kind of stage has its mechanism record, and return by `pick(n)`, a number below n.
_STAND_INS: dict[type, Callable[..., tuple[Any, Any]]] = {
    AddNoise: _noised,
    AddNoiseToAll: _noised,
    ChooseEnd: _labelled,
    ChooseLimit: _labelled,
    CountAbove: _noised,
    MeasureSpill: _noised,
    ChooseLabel: _labelled,
    ChooseQuantile: _at_a_quantile,
    CountAndShow: _counted,
    SelectKeys: _selected,
}


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
        def executed(statement: Any, *how: Any, **where: Any) -> Any:
            self._watched.statements.append(statement.sql())
            return execute(statement, *how, **where)

        return executed

    @property
    def policy(self) -> Policy:
        return self._engine.policy

    def schema(self) -> Any:
        return self._engine.schema()

    def reach(self) -> None:
        self._engine.reach()

    def files(self) -> tuple[object, ...]:
        return self._engine.files()

    def check_files(self) -> None:
        self._engine.check_files()

    def close(self) -> None:
        self._engine.close()

    @contextlib.contextmanager
    def question(self) -> Iterator[Callable[[ExactPlan], ExactTable]]:
        with self._engine.question() as run:
            yield lambda plan: self._seen(plan, run)

    def run(self, plan: ExactPlan) -> ExactTable:
        return self._seen(plan, self._engine.run)

    def _seen(self, plan: ExactPlan, run: Callable[[ExactPlan], ExactTable]) -> ExactTable:
        table = run(replace(plan, salt=self._watched.salt))
        if plan.tally is None:
            self._watched.groups = table.groups  # that keys are selected from
        return table


def _mix(*parts: object) -> int:
    """A number of these parts alone, the same in every run (FNV-1a)."""
    mixed = 0xCBF29CE484222325
    for byte in repr(parts).encode():
        mixed = (mixed ^ byte) * 0x100000001B3 % 2**64
    return mixed >> 16
