"""All small tables, all their neighbours, and the exact law of every stage under a limit: for tests.

A person is a tuple of rows, a table a tuple of people, known by their place. The exact tables come from the
naive engine, or from `weigh` below, which is written from the definition and takes a fault. Laws come from
the definitions.
"""

import itertools
from functools import cache

import numpy as np

from discreet.asking.engines.memory import MemoryEngine
from discreet.asking.planning import Bernstein, ExactTable
from discreet.asking.policy import from_toml
from discreet.asking.queries import evaluate
from discreet.kernel.mechanisms import KeySelection, Ladder, Laplace
from discreet.kernel.plan import Output, Released

POLICY = """
[dataset]
id = "visits"
relation = "{relation}"
budget = {{ epsilon = 100, delta = 0.5 }}
[tables.visits]
unit = "person"
limit = {limit}
[tables.visits.columns]
person = {{ type = "integer" }}
ward = {{ type = "text"{keys} }}
score = {{ type = "integer", bounds = [0, {most}] }}
"""
PUBLIC = ', keys = ["a", "b"]'


def policy_of(*, relation="add/remove", keys=PUBLIC, most=2, limit='"auto"'):
    return from_toml(POLICY.format(relation=relation, keys=keys, most=most, limit=limit))


def people_of(rows, most):
    """Every person with one to `most` of these rows."""
    return [
        person
        for count in range(1, most + 1)
        for person in itertools.combinations_with_replacement(rows, count)
    ]


def neighbours(people, relation, *, others, crowd=()):
    """All pairs of tables that differ in one person, beside at most `others` people and a crowd."""
    for size in range(others + 1):
        for rest in itertools.combinations_with_replacement(people, size):
            if relation == "add/remove":
                pairs = [((), (person,)) for person in people]
            else:
                pairs = [((one,), (other,)) for one, other in itertools.combinations(people, 2)]
            for one, other in pairs:
                yield tuple((*crowd, *rest, *each) for each in (one, other))


@cache
def _records(table):
    return [
        {"person": number, "ward": ward, "score": score}
        for number, person in enumerate(table)
        for ward, score in person
    ]


class Small:
    """The exact tables of a policy on small tables: by the naive engine, or by a rule with a fault."""

    def __init__(self, policy, rule=None):
        self.policy, self.rule, self._known = policy, rule, {}

    def run(self, plan, table):
        kept = self._known.setdefault(id(plan), (plan, {}))[1]
        if table not in kept:
            kept[table] = self._run(plan, table)
        return kept[table]

    def _run(self, plan, table):
        if self.rule is not None:
            return self.rule(plan, table)
        return MemoryEngine(self.policy, {"visits": _records(table)}).run(plan)

    def given(self, stage, table, released):
        return stage.take([self.run(plan, table) for plan in stage.reads], released)


def down(total, over):
    return total // over


def up(total, over):
    return -(-total // over)


def whole(parts):
    """The norm: over all groups and all measures."""
    return sum(map(sum, parts.values()))


def weigh(plan, table, *, norm=whole, divide=down):
    """Totals under a limit, or what of the norms is above a ladder, by the definition."""
    totals = dict.fromkeys(plan.labels or (), (0,) * len(plan.measures))
    norms = []
    for person in table:
        parts = {}
        for row in person:
            group = tuple(
                evaluate(key.expression, lambda column, row=row: _value(column, row)) for key in plan.keys
            )
            if group in totals:
                old = parts.get(group, (0,) * len(plan.measures))
                parts[group] = tuple(a + _adds(each, row) for a, each in zip(old, plan.measures, strict=True))
        norms.append(norm(parts))
        if plan.limit is not None:
            weight = divide(plan.limit.total, max(norms[-1], plan.limit.most))
            for group, part in parts.items():
                totals[group] = tuple(a + weight * b for a, b in zip(totals[group], part, strict=True))
    if plan.limit is None:
        return ExactTable(((),), (tuple(sum(map(each.of, norms)) for each in plan.excess),))
    return ExactTable(tuple(totals), tuple(totals.values()))


def _value(column, row):
    return dict(zip(("ward", "score"), row, strict=True))[column.name]


def _adds(measure, row):
    if measure.condition is not None and evaluate(measure.condition, lambda c: _value(c, row)) is not True:
        return 0
    return measure.of(row[1]) if isinstance(measure, Bernstein) else 1


def name_rows(plan, table):
    """A fault: keys selected by their rows."""
    return _keys(table, lambda person: [ward for ward, _ in person])


def name_all(plan, table):
    """A fault: every key of a person counts, though one is charged."""
    return _keys(table, lambda person: {ward for ward, _ in person})


def _keys(table, wards_of):
    counts = {}
    for person in table:
        for ward in wards_of(person):
            counts[ward,] = counts.get((ward,), 0) + 1
    return ExactTable(tuple(sorted(counts)), tuple((counts[group],) for group in sorted(counts)))


def choice_law(mechanism, given):
    """The probability of each rung."""
    law = mechanism.law(given)
    return np.array([float(law[place]) for place in range(mechanism.rungs)])


def laplace_law(mechanism, centre, grid):
    """Discrete Laplace noise around a whole number, with all below and all above the grid as one outcome.

    Nothing is lost: out there the ratio of two laws, whose centres are in the grid, is constant.
    """
    rate = float(1 / mechanism.scale)
    low, high = grid
    inner = np.arange(low + 1, high)
    one = np.tanh(rate / 2)
    tails = [np.exp(-rate * abs(end - centre)) / (1 + np.exp(-rate)) for end in (low, high)]
    return np.array([tails[0], *(one * np.exp(-rate * np.abs(inner - centre))), tails[1]])


def keys_law(mechanism, counts, labels="ab"):
    """The probability of each set of shown keys."""
    shown = [float(mechanism.law(counts.get((label,), 0))[True].mid()) for label in labels]
    for chosen in itertools.product([False, True], repeat=len(labels)):
        share = np.prod([p if yes else 1 - p for p, yes in zip(shown, chosen, strict=True)])
        yield tuple((label,) for label, yes in zip(labels, chosen, strict=True) if yes), float(share)


def stages_of(stages, released):
    """Return the stages that these become next: a later one as what it becomes, once it is first."""
    while stages and hasattr(stages[0], "ready"):
        stages = (*stages[0].ready(released), *stages[1:])
    return stages


def numbers_of(given):
    """The whole numbers that noise is added to."""
    if given and isinstance(given[0], tuple):
        return [number for part in given[:-1] for number in part]
    return list(given)


NOTHING = Released()


def law_of(small, stages, table, grid, *, released=NOTHING):
    """The joint law of all that the stages release, as one list in an order that no table decides."""
    stages = stages_of(stages, released)
    if not stages:
        return np.ones(1)
    stage, rest = stages[0], stages[1:]
    given = small.given(stage, table, released)
    if isinstance(stage.mechanism, Ladder):
        chances = choice_law(stage.mechanism, given)
        rungs = getattr(stage, "rungs", range(len(chances)))
        parts = [
            chance * law_of(small, rest, table, grid, released=released.then(Output(numbers=(rung,))))
            for rung, chance in zip(rungs, chances, strict=True)
        ]
        return np.concatenate(parts)
    if isinstance(stage.mechanism, KeySelection):
        return np.concatenate(
            [
                chance * law_of(small, rest, table, grid, released=released.then(Output(groups=shown)))
                for shown, chance in keys_law(stage.mechanism, given)
            ]
        )
    assert isinstance(stage.mechanism, Laplace)
    noisy = np.ones(1)
    for number in numbers_of(given):
        noisy = np.multiply.outer(noisy, laplace_law(stage.mechanism, number, grid)).ravel()
    counted = Output(numbers=tuple(numbers_of(given))) if stage.column is None else Output()
    follow = law_of(small, rest, table, grid, released=released.then(counted))
    return np.multiply.outer(noisy, follow).ravel()


def choices(stage, given):
    """What each choice of a stage is given."""
    rungs = stage.mechanism.rungs
    return [given[first : first + rungs] for first in range(0, len(given), rungs)]


def loss_of(stage, one, other):
    """The largest privacy loss of one pure stage between two inputs, in both directions."""
    if isinstance(stage.mechanism, Ladder):  # a choice of each group, independent of the others
        pairs = [
            tuple(choice_law(stage.mechanism, given) for given in pair)
            for pair in zip(choices(stage, one), choices(stage, other), strict=True)
        ]
    else:
        both = list(zip(numbers_of(one), numbers_of(other), strict=True))
        pairs = [
            tuple(laplace_law(stage.mechanism, each, (min(pair), max(pair))) for each in pair)
            for pair in both
            if pair[0] != pair[1]
        ]
    losses = [np.log(a / b) for a, b in pairs]
    return max(sum(map(np.max, losses)), -sum(map(np.min, losses)))


def hockey_stick(p, q, epsilon):
    """δ(ε), the larger of both directions."""
    return max(np.maximum(a - np.exp(epsilon) * b, 0).sum() for a, b in ((p, q), (q, p)))
