"""A plan run on invented people: values from every row, from the bounded rows, and as released."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, NamedTuple, TypeAlias

from discreet.asking.answers import Answer, Receipt, align, show_error, show_value
from discreet.asking.dry_run.invention import Belief, complete, invent
from discreet.asking.engines import MemoryEngine
from discreet.asking.planning import (
    ExactMeasure,
    ExactPlan,
    ExactTable,
    Lattice,
    Plan,
    QuestionLike,
    Sum,
    TableStage,
    plan_asked,
)
from discreet.asking.policy import Policy, Value
from discreet.asking.queries import Slot, walk
from discreet.asking.release import Outcome, Rans, rehearse_draws
from discreet.errors import InvalidParameter
from discreet.kernel.numerics import Interval, Real
from discreet.kernel.plan import Output, Ran, Released

Run: TypeAlias = Callable[[ExactPlan], ExactTable]

_FAR = 2**62  # more rows, groups and steps than there are


class Cell(NamedTuple):
    """One noisy value of one group: what it is without limits, with them, and with noise."""

    keys: Mapping[str, Value]
    column: str
    every_row: Value
    bounded: Value
    released: Value
    interval: Interval | None


@dataclass(frozen=True, eq=False)
class DryRun:
    """The outcome of a question on invented people.

    The noise is exactly the plan's. The effect of limits and bounds depends on the invented rows: it shows
    how they work, not what they will do to the data.
    """

    plan: Plan
    people: int
    every: Answer
    bounded: Answer
    released: Answer

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """Every noisy value of every group shown."""
        tables = zip(
            self.every.rows, self.bounded.rows, self.released.rows, self.released.intervals, strict=True
        )
        return tuple(
            Cell(
                {key: released[key] for key in self._keys},
                name,
                every[name],
                bounded[name],
                released[name],
                intervals[name],
            )
            for every, bounded, released, intervals in tables
            for name in self.released.columns
            if name not in self._keys
        )

    @cached_property
    def _keys(self) -> tuple[str, ...]:
        first = len(self.plan.question.keys)
        return tuple(
            name
            for name, expression in self.plan.question.columns
            if all(each.index < first for each in walk(expression) if isinstance(each, Slot))
        )

    @property
    def rows(self) -> tuple[Mapping[str, Value], ...]:
        """The table: keys, column, every_row, bounded, released, and the error of the noise at the question's
        confidence (None for choices)."""
        return tuple(
            {
                **cell.keys,
                "column": cell.column,
                "every_row": cell.every_row,
                "bounded": cell.bounded,
                "released": cell.released,
                "error": None if cell.interval is None else cell.interval.width / 2,
            }
            for cell in self.cells
        )

    def __str__(self) -> str:
        caption = (
            f"{self.people:,} invented people; no data was read and nothing was charged.\n"
            "every row: without limits and bounds; bounded: with them; released: with noise as well.\n"
        )
        lines = [[*self._keys, "column", "every row", "bounded", "released", "±"], *map(_shown, self.cells)]
        return f"{caption}\n{align(lines)}"


def _shown(cell: Cell) -> list[str]:
    values = [show_value(value, cell.interval) for value in (cell.every_row, cell.bounded, cell.released)]
    error = "" if cell.interval is None else show_error(cell.released, cell.interval)
    return [*map(show_value, cell.keys.values()), cell.column, *values, error]


def try_out(
    question: QuestionLike,
    policy: Policy,
    *,
    people: int | None,
    rows: int | None,
    beyond: Real,
    **terms: Any,
) -> DryRun:
    """Run a question at its price on people invented from the policy and from what the caller expects."""
    if terms.get("bounds") is not None:
        raise InvalidParameter(
            'bounds must be declared for a dry run. Leave out bounds="auto".', parameter="bounds"
        )
    (plan,) = plan_asked(question, complete(policy), **terms)
    plan = replace(plan, after=None)  # of the answer itself, not of what is selected from it
    return rehearse(plan, Belief.read(people=people, rows=rows, beyond=beyond, policy=plan.policy))


def rehearse(plan: Plan, belief: Belief) -> DryRun:
    """Run the plan on invented people, without its sorting and filtering of the answer's rows."""
    return rehearse_often(plan, belief, times=1)[0]


def rehearse_often(plan: Plan, belief: Belief, *, times: int) -> tuple[DryRun, ...]:
    """Run the plan several times on the same invented people: only what is drawn differs."""
    plain = replace(plan, question=replace(plan.question, having=None, order=(), limit=None))
    engine = MemoryEngine(plan.policy, invent(plan.policy, belief))
    alike = belief.alike(plan.policy)

    @cache
    def run(exact: ExactPlan) -> ExactTable:
        return _repeat(engine.run(replace(exact, salt=0)), alike)  # the same rows are left out each time

    return tuple(_rehearse(plan, plain, run, belief.invented(plan.policy) * alike) for _ in range(times))


def _rehearse(plan: Plan, plain: Plan, run: Run, people: int) -> DryRun:
    plain, released, ran = rehearse_draws(plain, run)
    bounded = _exactly(released, ran, run)
    every = _exactly(released, ran, lambda exact: run(_widen(exact)))
    answers = [Answer(plain, each, Receipt({})) for each in (every, bounded, released)]
    return DryRun(plan, people, *answers)


def _repeat(table: ExactTable, times: int) -> ExactTable:
    """Return the table of this many copies of the same people."""
    totals = tuple(tuple(times * total for total in totals) for totals in table.totals)
    tallies = tuple({value: times * rows for value, rows in tally.items()} for tally in table.tallies)
    return ExactTable(table.groups, totals, tallies)


def _exactly(released: tuple[Outcome, ...], ran: Rans, run: Run) -> tuple[Outcome, ...]:
    """Return the outcomes without noise, for the groups that were released and under the limits found."""
    parts = ([one for one in ran if one.draw.part == part] for part in range(len(released)))
    return tuple(_exactly_set(*each, run) for each in zip(released, parts, strict=True))


def _exactly_set(released: Outcome, ran: Sequence[Ran[ExactPlan, ExactTable]], run: Run) -> Outcome:
    groups, columns = released.groups, dict[int, Sequence[int]]()
    if not groups:
        return released
    before = Released((Output(groups=groups),))
    for stage, output in ran:
        if isinstance(stage, TableStage) and stage.column is not None:
            given = stage.take([run(plan) for plan in stage.reads], before)
            columns.update(stage.exact_columns(given, groups))
        before = before.then(Output(numbers=output.numbers))
    return Outcome(groups, tuple(zip(*(columns[each] for each in sorted(columns)), strict=True)))


def _widen(exact: ExactPlan) -> ExactPlan:
    """Return the same plan without limits and bounds."""
    tally = exact.tally
    if tally is not None and tally.lattice is not None:
        tally = replace(tally, lattice=_unbounded(tally.lattice))
    measures = tuple(map(_widen_measure, exact.measures))
    limit = exact.limit and replace(exact.limit, most=_FAR)  # in the same parts of a step
    return replace(exact, measures=measures, tally=tally, max_groups=_FAR, max_rows=_FAR, limit=limit)


def _widen_measure(measure: ExactMeasure) -> ExactMeasure:
    return replace(measure, lattice=_unbounded(measure.lattice)) if isinstance(measure, Sum) else measure


def _unbounded(lattice: Lattice) -> Lattice:
    return replace(lattice, lowest=-_FAR, highest=_FAR)
