"""The naive reference in plain Python: slow, obvious, and the oracle of every other engine."""

import contextlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from discreet.asking.engines.base import joined_keys, refuse_twice
from discreet.asking.engines.duckdb import DuckDBEngine
from discreet.asking.engines.rows import Row, Rows, order_hash, ordinals, read_tables
from discreet.asking.engines.sql.engine import quietly
from discreet.asking.planning import (
    Bernstein,
    CellArrays,
    ExactMeasure,
    ExactPlan,
    ExactTable,
    RowCount,
    Sum,
    Tally,
    UnitCount,
)
from discreet.asking.policy import Policy, Schema, Value
from discreet.asking.queries import Expression, evaluate
from discreet.errors import InvalidParameter

Group: TypeAlias = tuple[Value, ...]


@dataclass(frozen=True)
class Kept:
    """One row of one unit in one group, reduced to its measures' whole numbers (None: it adds nothing)."""

    unit: Any
    group: Group
    numbers: tuple[int | None, ...]


class MemoryEngine:
    """Rows are mappings from column name to value, given by table name; files and frames are read as DuckDB
    reads them."""

    @classmethod
    def options_for(cls, engine: object, name: str) -> Mapping[str, Any] | None:
        """Return no options for its plain name: there is no address."""
        return {} if engine == name else None

    def __init__(
        self, policy: Policy, sources: Mapping[str, object] | None = None, *, timeout_s: float | None = None
    ) -> None:
        # The reference is for small data: it keeps no time limit.
        given = dict(sources or {})
        others = [name for name in self._names(policy) if not isinstance(given.get(name), list | tuple)]
        if others and len(others) < len(self._names(policy)):
            raise InvalidParameter(
                f"source of table {others[0]!r} must be a list of mappings, as others are."
            )
        if others:
            with contextlib.closing(DuckDBEngine(policy, given, threads=1)) as reader:
                policy, given = reader.policy, dict(reader.records())
        self._policy = policy
        self._tables = read_tables(policy, given)
        for table, keys in joined_keys(policy):
            held = Rows(self._tables).key_values(table, keys)
            if any(each > 1 for each in Counter(held).values()):
                refuse_twice(table, keys)

    @staticmethod
    def _names(policy: Policy) -> list[str]:
        return [*(each.name for each in policy.tables), *(each.name for each in policy.public)]

    @property
    def policy(self) -> Policy:
        """The policy; of files and frames with their columns."""
        return self._policy

    def schema(self) -> Schema:
        """Return the policy's own columns: plain Python rows have no other schema."""
        every = [(each.name, each.columns) for each in self._policy.tables]
        every += [(each.name, each.columns) for each in self._policy.public]
        return {name: {column.name: column.type for column in columns} for name, columns in every}

    def reach(self) -> None:
        """Do nothing: the rows are copies in this process."""

    def files(self) -> tuple[object, ...]:
        """Return nothing: the rows are copies in this process."""
        return ()

    def check_files(self) -> None:
        """Do nothing: the rows are copies in this process."""

    def close(self) -> None:
        """Do nothing: no connection is held."""

    def run(self, plan: ExactPlan) -> ExactTable:
        """Read, measure, bound and add up: the five steps of `discreet.asking.planning.exact`."""
        return quietly(self._run, plan)

    def question(self) -> contextlib.AbstractContextManager[Callable[[ExactPlan], ExactTable]]:
        """Lend `run` itself: nothing is kept."""
        return contextlib.nullcontext(self.run)

    def _run(self, plan: ExactPlan) -> ExactTable:
        rows = [_measure(plan, row) for row in Rows(self._tables, plan.salt).read(plan.rows)]
        kept = [row for row in rows if row is not None]
        if plan.weighs:
            return _weigh(plan, kept)
        if not plan.each_row:
            kept = _bound_groups(plan, _bound_rows(plan, kept))
        groups = (
            plan.labels if plan.labels is not None else tuple(sorted({row.group for row in kept}, key=_rank))
        )
        by_group = defaultdict(list)
        for row in kept:
            by_group[row.group].append(row)
        if plan.tally is not None:
            tallies = tuple(Counter(row.numbers[0] for row in by_group[group]) for group in groups)
            return ExactTable(groups, tuple(() for _ in groups), tallies)  # type: ignore[arg-type]
        return ExactTable(groups, tuple(_add_up(plan, by_group[group]) for group in groups))


def _weigh(plan: ExactPlan, rows: list[Kept]) -> ExactTable:
    """Return the weighted totals of each group, or what of the units' norms is in excess: steps 3 to 5."""
    cells = defaultdict(list)
    for place, row in enumerate(rows):
        cells[place if plan.each_row else row.unit, row.group].append(row)
    parts = {cell: _add_up(plan, own) for cell, own in cells.items()}  # v, of each unit and group
    norms: Counter[Any] = Counter()
    for (unit, _), part in parts.items():
        norms[unit] += sum(map(abs, part))
    if plan.limit is None:
        return ExactTable(((),), (tuple(sum(map(each.of, norms.values())) for each in plan.excess),))
    groups = plan.labels
    if groups is None:
        groups = tuple(sorted({group for _, group in parts}, key=_rank))
    elif plan.other:
        groups = (*groups, ())
    totals = {group: [0] * len(plan.measures) for group in groups}
    for (unit, group), part in parts.items():
        weight = plan.limit.weight(norms[unit])
        for index, own in enumerate(part):
            totals[group][index] += weight * own
    if plan.cells is not None:
        codes, numbers = ([each[0] for each in both] for both in (totals, totals.values()))
        return ExactTable((), (), cells=CellArrays.of(codes, numbers))
    return ExactTable(groups, tuple(tuple(totals[group]) for group in groups))


def _rank(group: Group) -> tuple[tuple[bool, Any], ...]:
    """Return keys in ascending order, missing ones last."""
    return tuple((value is None, 0 if value is None else value) for value in group)


def _measure(plan: ExactPlan, row: Row) -> Kept | None:
    """Return a row's unit, group and numbers (steps 1 and 2); None without a unit, a group or a number."""
    if row.unit is None:
        return None
    group = tuple(_plain_zero(evaluate(key.expression, row.value)) for key in plan.keys)
    if plan.cells is not None:
        code = _code(plan, group)
        if code is None:
            return None
        group = (code,)
    if plan.labels is not None and group not in plan.labels:
        if not plan.other:
            return None
        group = ()
    if plan.tally is not None:
        number = _tally_number(plan.tally, row)
        return None if number is None else Kept(row.unit, group, (number,))
    return Kept(row.unit, group, tuple(_number(measure, row) for measure in plan.measures))


def _code(plan: ExactPlan, group: Group) -> int | None:
    """Return the whole number of a cell of a plan with `cells`; None where the row is in none."""
    code = 0
    for key, value, rest, size in zip(plan.keys, group, plan.cells or (), plan.sizes, strict=True):
        labels = key.domain or ()
        if value not in labels and not rest:
            return None
        code = code * size + (labels.index(value) if value in labels else len(labels))
    return code


def _plain_zero(value: Value) -> Value:
    return value + 0.0 if isinstance(value, float) else value


def _holds(condition: Expression | None, row: Row) -> bool:
    return condition is None or evaluate(condition, row.value) is True


def _number(measure: ExactMeasure, row: Row) -> int | None:
    if not _holds(measure.condition, row):
        return None if isinstance(measure, Sum | Bernstein) else 0
    if isinstance(measure, UnitCount) or measure.argument is None:
        return 1
    value = evaluate(measure.argument, row.value)
    if isinstance(measure, RowCount):
        return int(value is not None)
    steps = measure.lattice.place(value)
    if steps is None:
        return None
    return measure.of(steps) if isinstance(measure, Bernstein) else (steps - measure.centre) ** measure.power


def _tally_number(tally: Tally, row: Row) -> int | None:
    if not _holds(tally.condition, row):
        return None
    value = evaluate(tally.argument, row.value)
    if tally.lattice is not None:
        return tally.lattice.place(value)
    assert tally.labels is not None
    return tally.labels.index(value) if value in tally.labels else None


def codes(plan: ExactPlan, numbers: Iterable[int | None]) -> list[int]:
    """Return a row's measures as whole numbers >= 0 for the order: 0 where it adds nothing."""
    lowest = [_lowest(measure) for measure in plan.measures] or [0]
    return [0 if number is None else number - low + 1 for number, low in zip(numbers, lowest, strict=True)]


def _lowest(measure: ExactMeasure) -> int:
    if not isinstance(measure, Sum) or measure.power == 2:
        return 0
    return measure.lattice.lowest - measure.centre


def _bound_rows(plan: ExactPlan, rows: list[Kept]) -> list[Kept]:
    """Keep the first `max_rows` rows of each unit in each group: step 3, (C1)."""
    cells = defaultdict(list)
    for row in rows:
        cells[row.unit, row.group].append(row)
    return [row for cell in cells.values() for row in _in_order(plan, cell)[: plan.max_rows]]


def _in_order(plan: ExactPlan, cell: list[Kept]) -> list[Kept]:
    """Return the rows of one unit in one group, in the order in which they are kept."""

    def rank(each: tuple[Kept, int]) -> tuple[int, list[int]]:
        row, ordinal = each
        own = codes(plan, row.numbers)
        return order_hash(plan.salt, [row.unit, *own, ordinal]), own

    numbered = zip(cell, ordinals(row.numbers for row in cell), strict=True)
    return [row for row, _ in sorted(numbered, key=rank)]


def _bound_groups(plan: ExactPlan, rows: list[Kept]) -> list[Kept]:
    """Keep the first `max_groups` groups of each unit: step 4, (C2)."""
    positions = {group: index for index, group in enumerate(plan.labels or ())}

    def rank(unit: Any, group: Group) -> tuple[int, Any]:
        if plan.labels is not None:
            return order_hash(plan.salt, [unit, positions[group]]), positions[group]
        return order_hash(plan.salt, [unit, *group]), _rank(group)

    mine = defaultdict(set)
    for row in rows:
        mine[row.unit].add(row.group)
    chosen = {
        unit: set(sorted(groups, key=lambda group, unit=unit: rank(unit, group))[: plan.max_groups])  # type: ignore[misc]
        for unit, groups in mine.items()
    }
    return [row for row in rows if row.group in chosen[row.unit]]


def _add_up(plan: ExactPlan, rows: list[Kept]) -> tuple[int, ...]:
    """Return the totals of one group: step 5."""
    totals = []
    for index, measure in enumerate(plan.measures):
        numbers = [(row.unit, row.numbers[index]) for row in rows]
        if isinstance(measure, UnitCount):
            totals.append(len({unit for unit, number in numbers if number}))
        else:
            totals.append(sum(number for _, number in numbers if number is not None))
    return tuple(totals)
