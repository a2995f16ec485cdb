"""Release charged plans: exact tables from an engine go in, noisy numbers come out, by the runner alone."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np

from discreet.asking.planning import BookPlan, Columns, ExactPlan, ExactTable, Plan, Whole, finish
from discreet.errors import DiscreetError, InternalError
from discreet.kernel.plan import Group, Permit, Ran, run_charged, run_invented
from discreet.kernel.randomness import fresh_source

Run: TypeAlias = Callable[[ExactPlan], ExactTable]
Rans: TypeAlias = tuple[Ran[ExactPlan, ExactTable], ...]


class Outcome(NamedTuple):
    """What was released for one grouping set: its groups, and the numbers of each."""

    groups: tuple[Group, ...]
    numbers: tuple[tuple[int, ...], ...]


Released: TypeAlias = tuple[Plan, tuple[Outcome, ...]]


def release(plans: Sequence[Plan], permit: Permit, run: Run) -> tuple[Released, ...]:
    """Run charged plans: exact tables from the engine, fresh noise on every number of every group.

    Each comes with the plan that was run, which has what its later stages became.

    Privacy: the runner proves before each draw that it is covered by what its stage promised before the
    charge; every draw is independent (docs/theory/adaptive-plans.md).
    """

    with _quietly():
        ran = run_charged([plan.stages for plan in plans], permit, _salted(run))
        finished = [(finish(plan, each), each) for plan, each in zip(plans, ran, strict=True)]
        return tuple((plan, _outcomes(plan, each)) for plan, each in finished)


def release_book(plan: BookPlan, permit: Permit, run: Run) -> dict[Columns, Whole]:
    """Run a charged book: the measured tables, each with fresh noise, in steps of the plan's lattice.

    Privacy: as `release`.
    """
    with _quietly():
        (ran,) = run_charged([plan.stages], permit, _salted(run))
        sizes = plan.noise.workload.sizes
        measured = {}
        for columns, each in zip(plan.measured, ran, strict=True):
            numbers = np.array(each.output.numbers, dtype=np.int64)
            measured[columns] = numbers.reshape([sizes[one] for one in columns])
        return measured


def _salted(run: Run) -> Callable[[], Run]:
    """Return what gives, for each plan, the engine with one salt for all of its tables."""

    def salted() -> Run:
        salt = fresh_source().word() >> 1
        return lambda plan: run(replace(plan, salt=salt))

    return salted


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Replace an error whose message might quote the data."""
    try:
        yield
    except DiscreetError:
        raise
    except Exception:  # noqa: BLE001  whatever it was
        raise InternalError("the release failed. Nothing was released; the charge is kept.") from None


def release_invented(plan: Plan, run: Run) -> tuple[Outcome, ...]:
    """Draw from tables of invented people, or of none: nothing was charged, so nothing is compared with a
    charge. Never for data: rehearsals and audits alone call it."""
    return _outcomes(plan, run_invented(plan.stages, run))


def rehearse_draws(plan: Plan, run: Run) -> tuple[Plan, tuple[Outcome, ...], Rans]:
    """Do the same, and return the plan with what its later stages became, its outcomes and its draws."""
    ran = run_invented(plan.stages, run)
    done = finish(plan, ran)
    return done, _outcomes(done, ran), ran


def _outcomes(plan: Plan, ran: Rans) -> tuple[Outcome, ...]:
    found = []
    for part, each in enumerate(plan.sets):
        mine = [one for one in ran if one.draw.part == part]
        columns = {
            column: numbers for one in mine for column, numbers in one.draw.columns_of(one.output).items()
        }
        groups = each.groups(mine)
        rows = zip(*(columns[column] for column in sorted(columns)), strict=True) if groups else ()
        found.append(Outcome(groups, tuple(tuple(map(int, row)) for row in rows)))
    return tuple(found)
