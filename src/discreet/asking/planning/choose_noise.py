"""The pass that gives every exact number its noise, and every choice its mechanism: whatever errs least."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from discreet.asking.planning.choices import ChooseLabel, ChooseQuantile
from discreet.asking.planning.contribution import BITS, Contribution, contribution_of
from discreet.asking.planning.draft import Draft, SetDraft, Wanted
from discreet.asking.planning.exact import ExactPlan, Lattice
from discreet.asking.planning.price import Share
from discreet.asking.planning.stages import AddNoise, Noise, TableStage
from discreet.asking.queries import Measure
from discreet.kernel.losses import PrivacyLoss, bounded_range
from discreet.kernel.mechanisms import Exponential, Gaussian, Laplace, PermuteAndFlip, Quantile
from discreet.kernel.numerics import ball, least_passing, round_up, working_precision

_QUANTILES = {"minimum": Fraction(0), "maximum": Fraction(1)}
_NEAR = Fraction(1, 2**20)  # how close a searched number comes to the best one


def choose_noise(draft: Draft) -> Draft:
    """Add a stage for every number that has none yet."""
    sets = tuple(_add_stages(draft, part, each) for part, each in enumerate(draft.sets))
    return replace(draft, sets=sets)


def _add_stages(draft: Draft, part: int, each: SetDraft) -> SetDraft:
    done = {stage.column for stage in each.stages if isinstance(stage, TableStage)}
    rest = [
        _stage(draft, part, each.exact.plans[one.plan], one) for one in each.wanted if one.column not in done
    ]
    return replace(each, stages=(*each.stages, *rest))


def _stage(draft: Draft, part: int, plan: ExactPlan, wanted: Wanted) -> TableStage:
    if wanted.position is None and draft.measure_of(wanted).aggregate.function != "count_distinct":
        return _choice(draft, part, plan, wanted)
    noise = least_noise(
        contribution_to(draft, plan, wanted),
        wanted.share,
        confidence=draft.confidence,
        gaussian=draft.takes_gaussian_only,
    )
    return AddNoise(part, wanted.column, plan, noise, wanted.position)


def contribution_to(draft: Draft, plan: ExactPlan, wanted: Wanted) -> Contribution:
    """Return how far one unit moves a number of all groups."""
    measure = None if wanted.position is None else plan.measures[wanted.position]
    return contribution_of(plan, measure, draft.relation)


def _choice(draft: Draft, part: int, plan: ExactPlan, wanted: Wanted) -> ChooseLabel | ChooseQuantile:
    """Return a choice in every group; those that a unit moves are paid for."""
    relation = draft.relation
    times = contribution_of(plan, None, relation).moved
    epsilon = largest_epsilon(
        wanted.share.times(Fraction(1, times)), lambda each: bounded_range(epsilon=each, relation=relation)
    )
    assert plan.tally is not None
    if plan.tally.lattice is None:
        return ChooseLabel(part, wanted.column, plan, _label_chooser(draft, plan, epsilon), times)
    quantile = _quantile(draft, draft.measure_of(wanted), plan, plan.tally.lattice, epsilon)
    return ChooseQuantile(part, wanted.column, plan, quantile, times)


def _label_chooser(draft: Draft, plan: ExactPlan, epsilon: Fraction) -> PermuteAndFlip | Exponential:
    """Return permute-and-flip where epsilons are added up: it never errs more. Other accounts ask for less
    where the range is bounded, and there the exponential mechanism errs less at the same cost.
    """
    relation = draft.relation
    monotone = relation == "add/remove"  # a unit's rows only add to the counts of labels
    kind = PermuteAndFlip if draft.adds_epsilons else Exponential
    return kind(
        epsilon=epsilon,
        sensitivity=plan.max_rows,
        scores="monotone" if monotone else "general",
        relation=relation,
    )


def _quantile(
    draft: Draft, measure: Measure, plan: ExactPlan, lattice: Lattice, epsilon: Fraction
) -> Quantile:
    fraction = _QUANTILES.get(measure.aggregate.function, measure.aggregate.fraction)
    assert fraction is not None
    return Quantile(
        epsilon=epsilon,
        quantile=fraction,
        bounds=(lattice.lowest, lattice.highest),
        step=1,
        max_rows=plan.max_rows,
        relation=draft.relation,
    )


def least_noise(
    contribution: Contribution, share: Share, *, confidence: Fraction, gaussian: bool = False
) -> Noise:
    """Return Laplace or Gaussian noise on whole numbers, whichever errs less for this share.

    Privacy: each candidate is calibrated to the share by its own loss, so either may be taken; the choice
    depends on public numbers alone. `gaussian` leaves no choice, for budgets that only Gaussian noise fits.
    """
    fitting: list[Noise] = [] if gaussian else [_laplace(contribution, share)]
    if share.rho is not None or share.delta > 0:
        fitting.append(_gaussian(contribution, share))
    return min(fitting, key=lambda noise: noise.error(confidence=confidence))


def largest_epsilon(share: Share, loss_at: Callable[[Fraction], PrivacyLoss]) -> Fraction:
    """Return the largest epsilon whose loss fits the share: its own, or what its rho allows."""
    if share.epsilon is not None:
        return share.epsilon
    rho = share.rho
    assert rho is not None
    inverse = least_passing(lambda inverse: Fraction(loss_at(1 / inverse).rho) <= rho, tolerance=_NEAR)
    return 1 / inverse


def _laplace(contribution: Contribution, share: Share) -> Laplace:
    def charged(epsilon: Fraction) -> Laplace:
        return Laplace(
            epsilon=epsilon, sensitivity=contribution.total, step=1, relation=contribution.relation
        )

    return charged(largest_epsilon(share, lambda epsilon: charged(epsilon).loss))


def _gaussian(contribution: Contribution, share: Share) -> Gaussian:
    if share.rho is None:
        return Gaussian(
            epsilon=share.epsilon,
            delta=share.delta,
            sensitivity=contribution.distance,
            step=1,
            relation=contribution.relation,
        )
    with working_precision(BITS):
        sigma = Fraction(round_up(ball(contribution.distance) / (2 * ball(share.rho)).sqrt()))
    return Gaussian(sigma=sigma, sensitivity=contribution.distance, step=1, relation=contribution.relation)
