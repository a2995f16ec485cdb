"""Plans that were changed after their charge, each so that it would cost more than was paid."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from discreet.asking.planning import AddNoise, Choose, NumberStage, Plan, SelectKeys, SetPlan, TableStage
from discreet.asking.planning.exact import RowCount, UnitCount
from discreet.asking.queries.nodes import Literal
from discreet.asking.queries.relations import Filtered
from discreet.kernel.mechanisms import (
    CountedKeys,
    Exponential,
    Gaussian,
    KeySelection,
    Laplace,
    PermuteAndFlip,
)

COUNT = "SELECT COUNT(*) AS n FROM t"
SUM = "SELECT SUM(x) AS s FROM t"
MODE = "SELECT city, MODE(y) AS m FROM t GROUP BY city"
MEDIAN = "SELECT MEDIAN(x) AS m FROM t"
KEYS = "SELECT shop, COUNT(*) AS n FROM t GROUP BY shop"
SELECTED = "SELECT shop, SUM(x) AS s FROM t GROUP BY shop"


def in_sets(change: Callable[[SetPlan], SetPlan]) -> Callable[[Plan], Plan]:
    return lambda plan: replace(plan, sets=tuple(map(change, plan.sets)))


def in_stages(change: Callable[[Any], Any], kind: type = NumberStage) -> Callable[[Plan], Plan]:
    """Another stage in place of every one of a kind."""
    return in_sets(
        lambda each: replace(
            each,
            stages=tuple(change(stage) if isinstance(stage, kind) else stage for stage in each.stages),
        )
    )


def noise(change: Callable[[Any], Any], kind: type = NumberStage) -> Callable[[Plan], Plan]:
    """Another mechanism in every stage of a kind."""
    return in_stages(lambda stage: replace(stage, mechanism=change(stage.mechanism)), kind)


def exact(**changes: Any) -> Callable[[Plan], Plan]:
    """Other limits in every exact plan."""
    return in_stages(lambda stage: replace(stage, plan=replace(stage.plan, **changes)), TableStage)


def choice(change: Callable[[Choose], Choose]) -> Callable[[Plan], Plan]:
    return in_stages(change, Choose)


def wider(plan: Plan) -> Plan:
    """Sums of values from a range a thousand times as wide, with the noise of the narrow one."""

    def widen(stage: NumberStage) -> NumberStage:
        measures = tuple(
            replace(one, lattice=replace(one.lattice, highest=1000 * one.lattice.highest))
            for one in stage.plan.measures
        )
        return replace(stage, plan=replace(stage.plan, measures=measures))

    return in_stages(widen)(plan)


def fewer_filters(plan: Plan) -> Plan:
    """Other rows than those that were asked for."""
    rows = Filtered(plan.question.rows, Literal(True, type="boolean"))
    return exact(rows=rows)(plan)


def half(noise: Any) -> Any:
    """Half the scale: twice the loss."""
    if isinstance(noise, Gaussian):
        return Gaussian(sigma=noise.sigma / 2, sensitivity=noise.sensitivity, step=1, relation=noise.relation)
    return Laplace(scale=noise.scale / 2, sensitivity=noise.sensitivity, step=1, relation=noise.relation)


def gaussian(noise: Any) -> Gaussian:
    """Gaussian noise that has the epsilon, and a delta that nobody paid."""
    return Gaussian(
        epsilon=noise.loss.epsilon(delta=0),
        delta=Fraction(1, 10**6),
        sensitivity=noise.sensitivity,
        step=1,
        relation=noise.relation,
    )


def other_relation(noise: Any) -> Laplace:
    other = "replace" if noise.relation == "add/remove" else "add/remove"
    return Laplace(scale=noise.scale, sensitivity=noise.sensitivity, step=1, relation=other)


def finer(noise: Any) -> Laplace:
    """The same law on half steps, for half the sensitivity."""
    return Laplace(
        scale=noise.scale / 2, sensitivity=noise.sensitivity / 2, step=Fraction(1, 2), relation=noise.relation
    )


def spend_keys(keys: Any) -> Any:
    """A lower threshold: ten times the delta."""
    more = {"max_groups": keys.max_groups, "relation": keys.relation, "delta": 10 * keys.delta}
    if isinstance(keys, CountedKeys):
        return CountedKeys(epsilon=keys.epsilon, sensitivity=keys.sensitivity, **more)
    return KeySelection(epsilon=keys.epsilon, **more)


def other_keys(keys: KeySelection) -> KeySelection:
    """A selection that is made for fewer keys of a unit than it has, at the same price for each."""
    return KeySelection(
        epsilon=keys.epsilon / 2, delta=keys.delta / 2, max_groups=keys.max_groups, relation=keys.relation
    )


def keys_by_rows(stage: SelectKeys) -> SelectKeys:
    """Keys selected by a count that a unit with three rows moves by three, with a coin made for one."""
    measures = tuple(
        RowCount(one.condition) if isinstance(one, UnitCount) else one for one in stage.plan.measures
    )
    return replace(stage, plan=replace(stage.plan, measures=measures, max_rows=3))


def one_step_more(each: SetPlan) -> SetPlan:
    return replace(each, stages=(*each.stages, each.stages[0]))


def twice_the_epsilon(step: Choose) -> Choose:
    return replace(step, mechanism=replace_epsilon(step.mechanism))


def replace_epsilon(chooser: Any) -> Any:
    changed = object.__new__(type(chooser))
    for name, value in vars(chooser).items():
        object.__setattr__(changed, name, 2 * value if name == "epsilon" else value)
    return changed


def blunt(step: Choose) -> Choose:
    """A choice made for half the rows of a unit."""
    kind = type(step.mechanism)
    assert kind in (Exponential, PermuteAndFlip)
    chooser = step.mechanism
    return replace(
        step,
        mechanism=kind(
            epsilon=chooser.epsilon,
            sensitivity=chooser.sensitivity / 2,
            scores=chooser.scores,
            relation=chooser.relation,
        ),
    )


def free_keys(each: SetPlan) -> SetPlan:
    """All keys that are found are shown, at no cost."""
    return replace(
        each,
        stages=tuple(
            AddNoise(
                stage.part,
                stage.column,
                stage.plan,
                Laplace(epsilon=Fraction(1, 100), sensitivity=100, step=1, relation=stage.mechanism.relation),
                stage.position,
            )
            for stage in each.columns
        ),
    )


# What is asked, and what is done to its plan after the charge.
PLANTED: dict[str, tuple[str, Callable[[Plan], Plan]]] = {
    "half the noise": (COUNT, noise(half)),
    "half the noise of a sum": (SUM, noise(half)),
    "Gaussian for Laplace": (COUNT, noise(gaussian)),
    "another relation": (COUNT, noise(other_relation)),
    "a finer lattice": (COUNT, noise(finer)),
    "more rows of a unit": (COUNT, exact(max_rows=50)),
    "more rows in a sum": (SUM, exact(max_rows=50)),
    "more groups of a unit": (MODE, exact(max_groups=2)),
    "a wider range": (SUM, wider),
    "other rows": (COUNT, fewer_filters),
    "each row a unit": (COUNT, exact(each_row=True)),
    "one draw more": (COUNT, in_sets(one_step_more)),
    "one grouping set more": (COUNT, lambda plan: replace(plan, sets=plan.sets * 2)),
    "a sharper choice": (MODE, choice(twice_the_epsilon)),
    "a sharper median": (MEDIAN, choice(twice_the_epsilon)),
    "a choice for fewer rows": (MODE, choice(blunt)),
    "one choice more": (MODE, in_sets(lambda each: replace(each, stages=each.stages * 2))),
    "fewer choices paid for": (MODE, choice(lambda step: replace(step, times=step.times - 1))),
    "more delta for counted keys": (KEYS, noise(spend_keys)),
    "more keys of a unit": (KEYS, exact(max_groups=2)),
    "keys for nothing": (SELECTED, in_sets(free_keys)),
    "more delta for selected keys": (SELECTED, noise(spend_keys, SelectKeys)),
    "keys selected by rows": (SELECTED, in_stages(keys_by_rows, SelectKeys)),
    "other keys selected": (SELECTED, noise(other_keys, SelectKeys)),
}
