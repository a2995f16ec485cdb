"""The pass that calibrates all numbers of a question together, where each then gets less noise.

Parts of a price add up, but Gaussian noise composes better than that: k numbers of equal parts need √k times
the noise of one, not k times.

Privacy: the numbers' Gaussian noises compose to one with μ² = Σ (Δᵢ/σᵢ)², which is calibrated to what they
have of epsilon together and to all of delta; choices among them are pure and spend their own epsilon. The
price is that of the question; the runner and the ledger prove that it covers the loss.
"""

from dataclasses import replace
from fractions import Fraction

from discreet.asking.planning.choose_noise import contribution_to
from discreet.asking.planning.contribution import BITS
from discreet.asking.planning.draft import Draft, SetDraft, Wanted
from discreet.asking.planning.stages import AddNoise, Stage
from discreet.kernel.mechanisms import Gaussian
from discreet.kernel.numerics import ball, round_up, working_precision


def calibrate_together(draft: Draft) -> Draft:
    """Replace the noise on all numbers by Gaussian noise for one price, if it errs less on some and more on
    none.

    It is left as it is where keys are found in the data, which spends all of delta.
    """
    found = [(each, one) for each in draft.sets for one in each.wanted if _stage_of(each, one) is not None]
    epsilon = sum((one.share.epsilon or Fraction(0) for _, one in found), Fraction(0))
    if len(found) < 2 or not draft.rest.delta or not epsilon or any(each.keys_share for each in draft.sets):
        return draft
    unit = Gaussian(epsilon=epsilon, delta=draft.rest.delta, sensitivity=1, step=1, relation=draft.relation)
    sets = tuple(_calibrate(draft, each, unit, epsilon) for each in draft.sets)
    pairs = [(_error(draft, each, one), _error(draft, done, one))
             for each, done in zip(draft.sets, sets, strict=True)
             for one in each.wanted if _stage_of(each, one) is not None]  # fmt: skip
    better = all(new <= old for old, new in pairs) and any(new < old for old, new in pairs)
    return replace(draft, sets=sets) if better else draft


def _calibrate(draft: Draft, each: SetDraft, unit: Gaussian, epsilon: Fraction) -> SetDraft:
    stages: list[Stage] = list(each.stages)
    for one in each.wanted:
        stage = _stage_of(each, one)
        if stage is None or not one.share.epsilon:
            continue
        distance = contribution_to(draft, each.exact.plans[one.plan], one).distance
        with working_precision(BITS):
            times = (ball(epsilon) / ball(one.share.epsilon)).sqrt()
            sigma = Fraction(round_up(ball(unit.sigma) * ball(distance) * times))
        noise = Gaussian(sigma=sigma, sensitivity=distance, step=1, relation=draft.relation)
        stages[stages.index(stage)] = replace(stage, mechanism=noise)
    return replace(each, stages=tuple(stages))


def _stage_of(each: SetDraft, one: Wanted) -> AddNoise | None:
    """Return the stage that draws a number, if it adds noise to it."""
    found = (stage for stage in each.stages if isinstance(stage, AddNoise) and stage.column == one.column)
    return next(found, None)


def _error(draft: Draft, each: SetDraft, one: Wanted) -> float:
    stage = _stage_of(each, one)
    assert stage is not None
    return stage.error(draft.confidence)
