"""The pass that gives every exact number its noise: what is drawn for one grouping set, for a share of
the price.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.asking.planning.exact import ExactPlan, RowCount, Sum, Tally, UnitCount
from discreet.asking.planning.noise import Share, largest_epsilon, least_noise
from discreet.asking.planning.plan_exact import ExactPlans, Part
from discreet.asking.planning.reach import reach_of, rows_counted
from discreet.asking.planning.readings import Average, Chosen, Noised, Reading, Total, Variance
from discreet.asking.planning.steps import ChoiceStep, Chooser, NoiseStep, SetPlan
from discreet.asking.queries import Measure, Question
from discreet.kernel.losses import Relation, bounded_range, pure
from discreet.kernel.mechanisms import CountedKeys, Exponential, KeySelection, PermuteAndFlip, Quantile
from discreet.kernel.mechanisms.key_selection import keys_moved

_QUANTILES = {"minimum": Fraction(0), "maximum": Fraction(1)}


@dataclass(frozen=True)
class Terms:
    """What decides the noise beside the question: the relation, the confidence errors are compared at,
    whether the budget takes Gaussian noise alone, whether it adds up epsilons, and the weights of the
    aggregates."""

    relation: Relation
    confidence: Fraction
    gaussian: bool
    adding: bool
    weights: tuple[Fraction, ...]  # of the aggregates: their parts of the price are in this proportion


def plan_set(
    question: Question, keys: tuple[int, ...], exact: ExactPlans, share: Share, terms: Terms
) -> SetPlan:
    """What is drawn for one grouping set. Noised numbers and choices share by their aggregates' weights, the
    keys having weight 1: equally, unless told otherwise.

    Delta goes to the keys where they are private, and else to Gaussian noise where that errs less. Where a
    number can show the keys, its draw has the share of both.
    """
    needs = _needs(exact, terms.weights)
    tallies = {
        index: _measure_of(exact, index) for index, plan in enumerate(exact.plans) if plan.tally is not None
    }
    weights = [*needs.values(), *(terms.weights[measure] for measure in tallies.values())]
    whole = sum(weights, Fraction(exact.units is not None))
    base, showing = exact.plans[0], _showing(exact, needs, terms)
    keys_share, selection = replace(share.times(1 / whole), delta=share.delta), None
    if exact.units is not None:
        share = replace(share, delta=Fraction(0))
        if showing is None:
            selection = _selection(base.max_groups, keys_share, terms.relation)
        else:
            keys_share = replace(share.times((1 + needs[showing]) / whole), delta=keys_share.delta)
    noises = tuple(
        _counted_step(position, base, keys_share, terms)
        if position == showing
        else _noise_step(position, base, share.times(weight / whole), terms)
        for position, weight in needs.items()
    )
    noises += tuple(
        _distinct_step(index, exact.plans[index], share.times(terms.weights[measure] / whole), terms)
        for index, measure in tallies.items()
        if _is_distinct(question.measures[measure])
    )
    choices = tuple(
        _choice_step(
            question.measures[measure],
            index,
            exact.plans[index],
            share.times(terms.weights[measure] / whole),
            terms,
        )
        for index, measure in tallies.items()
        if not _is_distinct(question.measures[measure])
    )
    readings = tuple(
        _reading(measure, part, exact, tuple(needs), (noises, choices))
        for measure, part in zip(question.measures, exact.parts, strict=True)
    )
    return SetPlan(keys, exact, selection, noises, choices, readings)


def _showing(exact: ExactPlans, needs: Mapping[int, Fraction], terms: Terms) -> int | None:
    """The number that also shows the private keys: how many units, else how many rows each key has.

    It must count everybody who holds the key, or keys would be left out for another reason. Accounts that
    add up something other than epsilon and delta do better by two draws.
    """
    if exact.units is None or not terms.adding:
        return None
    measures = exact.plans[0].measures
    counts = [measures.index(each) for each in (UnitCount(), RowCount()) if each in measures]
    return next((position for position in counts if position in needs), None)


def _counted_step(position: int, plan: ExactPlan, share: Share, terms: Terms) -> NoiseStep:
    rows = rows_counted(plan, plan.measures[position])
    assert share.epsilon is not None
    noise = CountedKeys(
        epsilon=share.epsilon,
        delta=share.delta,
        sensitivity=rows,
        max_groups=plan.max_groups,
        relation=terms.relation,
    )
    return NoiseStep(position, noise)


def _selection(max_groups: int, share: Share, relation: Relation) -> KeySelection:
    """Which keys are shown: a unit moves the counts of its keys, and under replace of others as many."""
    moved = keys_moved(max_groups, relation)
    epsilon = largest_epsilon(share, lambda each: moved * pure(epsilon=each / moved, relation=relation))
    return KeySelection(epsilon=epsilon, delta=share.delta, max_groups=max_groups, relation=relation)


def _measure_of(exact: ExactPlans, plan: int) -> int:
    return next(index for index, part in enumerate(exact.parts) if part.plan == plan and not part.measures)


def _needs(exact: ExactPlans, weights: Sequence[Fraction]) -> dict[int, Fraction]:
    """The measures to be noised, each once, with the largest weight that it has."""
    found: dict[int, Fraction] = {}
    for part, weight in zip(exact.parts, weights, strict=True):
        for position in part.measures:
            found[position] = max(found.get(position, Fraction(0)), weight)
    return found


def _sum_at(exact: ExactPlans, position: int) -> Sum:
    measure = exact.plans[0].measures[position]
    assert isinstance(measure, Sum)
    return measure


def _noise_step(position: int, plan: ExactPlan, share: Share, terms: Terms) -> NoiseStep:
    reach = reach_of(plan, plan.measures[position], terms.relation)
    noise = least_noise(reach, share, confidence=terms.confidence, gaussian=terms.gaussian)
    return NoiseStep(position, noise)


def _is_distinct(measure: Measure) -> bool:
    return measure.aggregate.function == "count_distinct"


def _distinct_step(index: int, plan: ExactPlan, share: Share, terms: Terms) -> NoiseStep:
    """Noise on how many values there are: a unit brings at most as many as it has rows."""
    reach = reach_of(plan, None, terms.relation)
    noise = least_noise(reach, share, confidence=terms.confidence, gaussian=terms.gaussian)
    return NoiseStep(0, noise, tally=index)


def _choice_step(measure: Measure, index: int, plan: ExactPlan, share: Share, terms: Terms) -> ChoiceStep:
    """A choice in every group; those that a unit moves are paid for."""
    times = reach_of(plan, None, terms.relation).moved
    epsilon = largest_epsilon(
        share.times(Fraction(1, times)), lambda each: bounded_range(epsilon=each, relation=terms.relation)
    )
    assert plan.tally is not None
    return ChoiceStep(index, _chooser(measure, plan, plan.tally, epsilon, terms), times)


def _chooser(measure: Measure, plan: ExactPlan, tally: Tally, epsilon: Fraction, terms: Terms) -> Chooser:
    """Where epsilons are added up, permute-and-flip: it never errs more. Other accounts ask for less where
    the range is bounded, and there the exponential mechanism errs less at the same cost.
    """
    relation = terms.relation
    if tally.lattice is None:
        monotone = relation == "add/remove"  # a unit's rows only add to the counts of labels
        kind = PermuteAndFlip if terms.adding else Exponential
        return kind(
            epsilon=epsilon,
            sensitivity=plan.max_rows,
            scores="monotone" if monotone else "general",
            relation=relation,
        )
    aggregate = measure.aggregate
    fraction = _QUANTILES.get(aggregate.function, aggregate.fraction)
    assert fraction is not None
    return Quantile(
        epsilon=epsilon,
        quantile=fraction,
        bounds=(tally.lattice.lowest, tally.lattice.highest),
        step=1,
        max_rows=plan.max_rows,
        relation=relation,
    )


def _reading(
    measure: Measure,
    part: Part,
    exact: ExactPlans,
    needs: tuple[int, ...],
    steps: tuple[tuple[NoiseStep, ...], tuple[ChoiceStep, ...]],
) -> Reading:
    noises, choices = steps

    def noised(position: int) -> Noised:
        index = needs.index(position)
        return Noised(index, noises[index].noise)

    function, whole = measure.aggregate.function, measure.aggregate.type == "integer"
    if function == "count_distinct":
        place = next(index for index, step in enumerate(noises) if step.tally == part.plan)
        return Total(Noised(place, noises[place].noise), Fraction(1), whole)
    if not part.measures:
        place = next(index for index, step in enumerate(choices) if step.plan == part.plan)
        tally = exact.plans[part.plan].tally
        assert tally is not None
        step = Fraction(1) if tally.lattice is None else tally.lattice.step
        return Chosen(len(noises) + place, tally.labels, step, whole)
    if function == "average":
        total, count = part.measures
        summed = _sum_at(exact, total)
        ends = (summed.lattice.lowest, summed.lattice.highest)
        return Average(noised(total), noised(count), summed.lattice.step, summed.centre, ends)
    if function in ("variance", "deviation"):
        lattice = _sum_at(exact, part.measures[0]).lattice
        squares, middle, count_of = map(noised, part.measures)
        return Variance(squares, middle, count_of, lattice.step, lattice.width, function == "deviation")
    step = _sum_at(exact, part.measures[0]).lattice.step if function == "sum" else Fraction(1)
    return Total(noised(part.measures[0]), step, whole)
