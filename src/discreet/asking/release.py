"""The only caller of mechanisms on table data: exact whole numbers go in, noisy ones come out."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from discreet.asking.planning import (
    Bounds,
    ChoiceStep,
    ExactPlan,
    ExactTable,
    NoiseStep,
    Plan,
    Promise,
    SearchStep,
    SetPlan,
    Sum,
    Tallied,
    plan_exact,
    reach_of,
    with_bounds,
)
from discreet.asking.policy import Value
from discreet.asking.queries import Question, Slot
from discreet.errors import DiscreetError, Finished, InternalError, UnsupportedQuery
from discreet.kernel.mechanisms import CountedKeys, Quantile, Sparse
from discreet.kernel.numerics import Real, exact
from discreet.kernel.randomness import Source, fresh_source

Run: TypeAlias = Callable[[ExactPlan], ExactTable]
Group: TypeAlias = tuple[Value, ...]


class Outcome(NamedTuple):
    """What was released for one grouping set: its groups, and for each the noised and chosen numbers."""

    groups: tuple[Group, ...]
    numbers: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Permit:
    """What a charge paid for: its number, what remained after it, and for each plan its stages' promises."""

    charge: int
    remaining: Any
    promises: tuple[tuple[Promise, ...], ...]
    failures: int = 0  # of the analyst's questions, that count


Released: TypeAlias = tuple[Plan, tuple[Outcome, ...]]


def release(plans: Sequence[Plan], permit: Permit, run: Run) -> tuple[Released, ...]:
    """Run charged plans: exact tables from the engine, fresh noise on every number of every group. With each
    come the plan that was run, which has the bounds that it found.

    Privacy: before a stage draws, its loss is proved to be covered by what the stage promised before the
    charge; every draw is independent (docs/theory/adaptive-plans.md).
    """
    try:
        return _release_all(plans, permit, run, fresh_source())
    except DiscreetError:
        raise
    except Exception:  # noqa: BLE001  its words might quote the data
        raise InternalError("the release failed. Nothing was released; the charge is kept.") from None


def release_invented(plan: Plan, run: Run) -> tuple[Outcome, ...]:
    """Draw from tables of invented people, or of nobody: nothing was charged, so nothing is compared with
    a charge. Never for data: rehearsals and audits alone call it."""
    salt, source = 0, fresh_source()
    return tuple(_release_set(each, run, salt, source) for each in plan.sets)


def _release_all(plans: Sequence[Plan], permit: Permit, run: Run, source: Source) -> tuple[Released, ...]:
    for plan, promises in zip(plans, permit.promises, strict=True):
        if plan.search is None:
            promises[-1].check_sets(plan.sets)  # all of them before the first draw of any
    return tuple(
        _release(plan, promises, run, source) for plan, promises in zip(plans, permit.promises, strict=True)
    )


def _release(plan: Plan, promises: tuple[Promise, ...], run: Run, source: Source) -> Released:
    salt = source.word() >> 1
    *finding, answer = promises
    steps = () if plan.search is None else plan.search.steps
    found = tuple(
        _find(step, promise, run, salt, source) for step, promise in zip(steps, finding, strict=True)
    )
    if found:
        plan = with_bounds(plan, found)
    answer.check_sets(plan.sets)
    return plan, tuple(_release_set(each, run, salt, source) for each in plan.sets)


def _find(step: SearchStep, promise: Promise, run: Run, salt: int, source: Source) -> Bounds:
    promise.check_histogram(step.plan, step.noise)
    counts = [total for (total,) in run(replace(step.plan, salt=salt)).totals]
    return step.bounds([int(count) for count in step.noise.draw(counts, source)])


def _release_set(each: SetPlan, run: Run, salt: int, source: Source) -> Outcome:
    tables = {
        index: run(replace(plan, salt=salt))
        for index, plan in enumerate(each.exact.plans)
        if plan.measures or plan.tally is not None
    }
    counted = {} if each.showing is None else _counted(each.noises[each.showing], tables, source)
    groups = tuple(counted) if each.showing is not None else _groups(each, tables, source)
    columns = [
        list(counted.values()) if index == each.showing else _noised(step, tables, groups, source)
        for index, step in enumerate(each.noises)
    ]
    columns.extend(_chosen(step, each, tables[step.plan], groups, source) for step in each.choices)
    return Outcome(groups, tuple(zip(*columns, strict=True)) if groups else ())


def _groups(each: SetPlan, tables: dict[int, ExactTable], source: Source) -> tuple[Group, ...]:
    """The public labels; or, of the groups found in the data, those that the selection keeps."""
    labels = each.exact.plans[0].labels
    if labels is not None:
        return labels
    assert each.selection is not None
    assert each.exact.units is not None
    (position,) = each.exact.units.measures
    table = tables[0]
    units = np.array([totals[position] for totals in table.totals], dtype=np.int64)
    kept = each.selection.draw(units, source)
    return tuple(group for group, keep in zip(table.groups, kept.tolist(), strict=True) if keep)


def _counted(step: NoiseStep, tables: dict[int, ExactTable], source: Source) -> dict[Group, int]:
    """The groups found in the data whose noisy number shows them, with it: one draw for both."""
    assert isinstance(step.noise, CountedKeys)
    found = tables[0].groups
    noisy = step.noise.draw(_exact(step, tables, found), source)
    return {group: number for group, number in zip(found, noisy, strict=True) if number is not None}


def _noised(
    step: NoiseStep, tables: dict[int, ExactTable], groups: Sequence[Group], source: Source
) -> list[int]:
    assert not isinstance(step.noise, CountedKeys)
    return [int(number) for number in step.noise.draw(_exact(step, tables, groups), source)]


def _exact(step: NoiseStep, tables: dict[int, ExactTable], groups: Sequence[Group]) -> list[int]:
    """The number of every group that is noised."""
    return step.exact_of(tables, groups)


def _chosen(
    step: ChoiceStep, each: SetPlan, table: ExactTable, groups: Sequence[Group], source: Source
) -> list[int]:
    """A choice in every group; where nobody was found it is made among scores that are all equal."""
    found = dict(zip(table.groups, table.tallies, strict=True))
    tally = each.exact.plans[step.plan].tally
    assert tally is not None
    chosen = []
    for group in groups:
        counts = Tallied.of(found.get(group, {}))
        if isinstance(step.chooser, Quantile):
            chosen.append(step.chooser.draw_tally(counts.numbers, counts.rows, source))
        else:
            chosen.append(step.chooser.draw(counts.among(len(tally.labels or ())), source))
    return chosen


class Book(Protocol):
    """Where the questions of a watch are entered before they read data, and what became of each."""

    def begin(self) -> Any: ...
    def settle(self, entered: Any) -> None: ...
    def fail(self, entered: Any) -> None: ...


class Test(NamedTuple):
    """One question of a watch: what is read, in which step, and its entry."""

    plan: ExactPlan
    step: Fraction
    entered: Any


class Watch:
    """A sparse vector over questions: is a COUNT or SUM above the threshold? Paid for whole when opened.

    A question whose own sensitivity s is larger than the stream's is scaled down to it, so every
    comparison has the same privacy and larger sums a wider margin.

    Privacy: (ε, δ)-DP for any number of questions, chosen adaptively, until `count` of them were above
    (Dwork and Roth 2014, Theorem 3.25). The noisy threshold is never written anywhere.
    """

    def __init__(
        self,
        stream: Sparse,
        threshold: Real,
        run: Run,
        read: Callable[[str], Question],
        *,
        book: Book,
        most: int,
    ) -> None:
        self._stream, self._run, self._read = stream, run, read
        self._paid = stream.loss
        self._book, self._tests_left, self._has_failed = book, most, False
        self._threshold = exact(threshold, name="threshold")
        self._salt = fresh_source().word() >> 1
        self._lock = threading.RLock()

    @property
    def finished(self) -> bool:
        """Whether the last "above" has been given."""
        return self._stream.finished

    def test(self, question: str) -> bool:
        """Whether the answer to one ungrouped COUNT or SUM is above the threshold, by the noise.

        A test that fails is counted as a failed question is, and ends the watch.
        """
        with self._lock:
            asked = self.begin(question)
            try:
                above = self.compare(asked)
            except BaseException:
                self.fail(asked)
                raise
            self.settle(asked)
            return above

    def begin(self, question: str) -> Test:
        """Enter a question, before data is read; a server settles it, or says that it failed, when due."""
        plan, step = self._plan(question)
        if self.finished or self._has_failed:
            last = "failed at its last question" if self._has_failed else "has given its last answer"
            raise Finished(f"this watch {last}. Open another one.")
        if self._tests_left <= 0:
            raise Finished("this watch was asked as often as the policy allows. Open another one.")
        self._tests_left -= 1
        return Test(plan, step, self._book.begin())

    def compare(self, test: Test, *, run: Run | None = None) -> bool:
        """Read the data for a question that was entered; with `run` it is read there. The stream, which no
        process may copy, stays in this one."""
        if self._stream.loss != self._paid:
            raise InternalError("the watch would cost more than was charged. Nothing was read.")
        (total,) = (run or self._run)(test.plan).totals[0]
        distance = total * test.step - self._threshold
        return self._stream.test(distance * self._shrink(test.plan, test.step))

    def settle(self, test: Test) -> None:
        """The question has its answer."""
        self._book.settle(test.entered)

    def fail(self, test: Test) -> None:
        """The question failed, or was late; what it counted is not known, so the watch is over."""
        self._has_failed = True
        self._book.fail(test.entered)

    def _plan(self, question: str) -> tuple[ExactPlan, Fraction]:
        resolved = self._read(question)
        measures = resolved.measures
        alone = all(isinstance(expression, Slot) for _, expression in resolved.columns)
        plain = len(measures) == 1 and alone and not resolved.keys and resolved.having is None
        plain = plain and len(resolved.sets) == 1  # GROUPING SETS ((), ()) has no keys either
        if not plain or measures[0].aggregate.function not in ("count_rows", "count", "count_units", "sum"):
            raise UnsupportedQuery("A watch must be asked one COUNT or SUM without GROUP BY.", reason="watch")
        (plans,) = plan_exact(resolved, salt=self._salt)
        measure = plans.plans[0].measures[0]
        return plans.plans[0], measure.lattice.step if isinstance(measure, Sum) else Fraction(1)

    def _shrink(self, plan: ExactPlan, step: Fraction) -> Fraction:
        """What the distance is multiplied by, so that one unit moves it by no more than the stream is for."""
        moved = reach_of(plan, plan.measures[0], self._stream.relation).total * step
        return min(Fraction(1), self._stream.sensitivity / moved)
