"""The pass that divides the price: each number of each grouping set gets a share, private keys too."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from discreet.asking.planning.draft import Draft, SetDraft, Wanted
from discreet.asking.planning.exact import ExactPlans
from discreet.asking.planning.price import Share


def share_price(draft: Draft) -> Draft:
    """Divide the price equally among grouping sets, and in each set by the weights of the aggregates.

    Private keys have weight 1 and all of delta. Elsewhere delta is divided as epsilon is, for Gaussian noise.
    """
    weights = draft.options.weights(draft.question)
    each = draft.rest.times(Fraction(1, len(draft.sets)))
    return replace(draft, sets=tuple(_share(draft, one, each, weights) for one in draft.sets))


def _share(draft: Draft, each: SetDraft, share: Share, weights: Sequence[Fraction]) -> SetDraft:
    exact, private = each.exact, each.exact.units is not None
    needs = _needs(exact, weights)
    tallies = {
        index: _measure_of(exact, index) for index, plan in enumerate(exact.plans) if plan.tally is not None
    }
    whole = sum([*needs.values(), *(weights[measure] for measure in tallies.values())], Fraction(private))
    keys = replace(share.times(1 / whole), delta=share.delta) if private else None
    rest = replace(share, delta=Fraction(0)) if private else share
    numbers = [(0, position, None, weight) for position, weight in needs.items()]
    tallied = [(plan, None, measure, weights[measure]) for plan, measure in tallies.items()]
    tallied.sort(key=lambda one: draft.question.measures[one[2]].aggregate.function != "count_distinct")
    wanted = tuple(
        Wanted(column, plan, position, measure, rest.times(weight / whole))
        for column, (plan, position, measure, weight) in enumerate([*numbers, *tallied])
    )
    return replace(each, keys_share=keys, wanted=wanted)


def _measure_of(exact: ExactPlans, plan: int) -> int:
    return next(index for index, part in enumerate(exact.parts) if part.plan == plan and not part.measures)


def _needs(exact: ExactPlans, weights: Sequence[Fraction]) -> dict[int, Fraction]:
    """Return the measures that get noise, each once, with the largest weight that it has."""
    found: dict[int, Fraction] = {}
    for part, weight in zip(exact.parts, weights, strict=True):
        for position in part.measures:
            found[position] = max(found.get(position, Fraction(0)), weight)
    return found
