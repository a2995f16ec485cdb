"""Promises: what each stage of a plan may lose, fixed before the charge, and the proof that it is kept.

A plan that looks for bounds is finished only when they are found. What it may then lose is promised before,
by one loss that dominates every outcome of the search, so that promises compose as a plan fixed in advance
does (docs/theory/adaptive-plans.md). Before a stage draws, what it is about to draw is priced anew, from the
exact plans that will run, and held against its promise.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.asking.planning.exact import ExactPlan
from discreet.asking.planning.noise import Noise
from discreet.asking.planning.reach import Reach, reach_of, rows_counted
from discreet.asking.planning.steps import ChoiceStep, NoiseStep, SetPlan
from discreet.asking.queries import Relation as Rows
from discreet.errors import InternalError
from discreet.kernel.accounting import Notion, covers
from discreet.kernel.losses import PrivacyLoss, Relation
from discreet.kernel.mechanisms import CountedKeys, Gaussian, KeySelection, Quantile


@dataclass(frozen=True)
class Promise:
    """What one stage may lose: the loss of what it draws, or a notion where that is planned later.

    `rows` are the rows that it may read; whether each of them is a unit follows from them.
    """

    price: PrivacyLoss | Notion
    rows: Rows
    each_row: bool

    @property
    def loss(self) -> PrivacyLoss:
        """What is charged for the stage."""
        return self.price if isinstance(self.price, PrivacyLoss) else self.price.loss

    def check_sets(self, sets: Sequence[SetPlan]) -> None:
        """Stop unless the loss of drawing all these grouping sets is promised."""
        relation = self.price.relation
        plans = [plan for each in sets for plan in each.exact.plans]
        self._check(plans, [loss for each in sets for loss in _losses(each, relation)])

    def check_histogram(self, plan: ExactPlan, noise: Noise) -> None:
        """Stop unless the loss of noise on this table of one count a group is promised."""
        (count,) = plan.measures
        self._check([plan], [_noise_loss(noise, reach_of(plan, count, self.price.relation))])

    def _check(self, plans: Sequence[ExactPlan], losses: Sequence[PrivacyLoss]) -> None:
        _require(all(plan.rows == self.rows and plan.each_row == self.each_row for plan in plans))
        drawn = sum(losses[1:], losses[0])
        if isinstance(self.price, PrivacyLoss):
            _require(drawn == self.price)
        else:
            _require(covers(self.price, drawn))


def _require(kept: bool) -> None:
    if not kept:
        raise InternalError("the release would cost more than was charged. Nothing was released.")


def _losses(each: SetPlan, relation: Relation) -> list[PrivacyLoss]:
    """The losses of all that one grouping set draws, if each mechanism is made for what a unit can move."""
    plans = each.exact.plans
    losses = [_step_loss(step, plans, relation) for step in each.noises]
    losses.extend(_choice_loss(step, plans[step.plan], relation) for step in each.choices)
    if each.selection is not None:
        losses.append(_selection_loss(each.selection, plans[0], relation))
    _require((plans[0].labels is not None) or _shows_keys(each))
    return losses


def _shows_keys(each: SetPlan) -> bool:
    """Whether one draw, and no other, decides which of the groups found in the data are shown."""
    return (each.selection is None) != (each.showing is None)


def _step_loss(step: NoiseStep, plans: Sequence[ExactPlan], relation: Relation) -> PrivacyLoss:
    plan = plans[step.tally or 0]
    measure = None if step.tally is not None else plan.measures[step.position]
    if not isinstance(step.noise, CountedKeys):
        return _noise_loss(step.noise, reach_of(plan, measure, relation))
    assert measure is not None
    _require(step.noise.sensitivity >= rows_counted(plan, measure))
    return _selection_loss(step.noise, plan, relation)


def _noise_loss(noise: Noise, reach: Reach) -> PrivacyLoss:
    most = reach.distance if isinstance(noise, Gaussian) else reach.total
    _require(noise.sensitivity >= most and noise.step == 1 and noise.relation == reach.relation)
    return noise.loss


def _selection_loss(keys: KeySelection | CountedKeys, plan: ExactPlan, relation: Relation) -> PrivacyLoss:
    _require(keys.max_groups >= plan.max_groups and keys.relation == relation)
    return keys.loss


def _choice_loss(step: ChoiceStep, plan: ExactPlan, relation: Relation) -> PrivacyLoss:
    chooser = step.chooser
    rows = chooser.max_rows if isinstance(chooser, Quantile) else chooser.sensitivity
    monotone = not isinstance(chooser, Quantile) and chooser.scores == "monotone"
    _require(rows >= plan.max_rows and chooser.relation == relation)
    _require(not monotone or relation == "add/remove")
    _require(step.groups >= reach_of(plan, None, relation).moved)
    return step.loss
