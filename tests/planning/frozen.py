"""Plans whose noise is frozen: every exact number and every tally passes through, so that inputs can be
compared.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np

from discreet.planning import ExactTable, Price, make_plan
from discreet.queries import read_question, read_sql, to_sql
from discreet.release import _release_set
from queries.bank import BANK


def plan_of(text, policy=BANK, *, confidence=None, **price):
    level = Fraction(95, 100) if confidence is None else Fraction(confidence)
    question = read_question(text, policy)
    return make_plan(
        to_sql(read_sql(text)), question, policy, Price.read(**price), confidence=level, part=Fraction(1)
    )


@dataclass(frozen=True)
class Through:
    """Noise that adds nothing."""

    def _release(self, values, source):
        return values


@dataclass(frozen=True)
class AllKeys:
    """A selection that keeps every key."""

    def _select(self, units, source):
        return np.ones(len(units), dtype=bool)


def inputs(plan, engine, salt):
    """For each grouping set: what each mechanism is given, as {group: number} for noise and {group:
    tally} for choices.
    """
    found = []
    for each in plan.sets:
        tallies = {}

        def run(exact, tallies=tallies):
            table = engine.run(replace(exact, salt=salt))
            if exact.tally is not None:
                tallies[exact.tally] = dict(zip(table.groups, table.tallies, strict=True))
            return ExactTable(table.groups, table.totals, table.tallies)

        frozen = replace(
            each,
            noises=tuple(replace(step, noise=Through()) for step in each.noises),
            choices=(),
            selection=None if each.selection is None else AllKeys(),
        )
        outcome = _release_set(frozen, run, salt, SimpleNamespace())
        columns = [
            dict(zip(outcome.groups, column, strict=True)) for column in zip(*outcome.numbers, strict=True)
        ]
        columns = columns or [{} for _ in each.noises]
        found.append((columns, [tallies[each.exact.plans[step.plan].tally] for step in each.choices]))
    return found
