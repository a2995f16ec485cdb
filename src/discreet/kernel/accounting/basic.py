"""Sums of epsilon and delta: the default for pure and approximate budgets."""

from fractions import Fraction
from functools import cached_property

from discreet.kernel.accounting.bounds import Notion, epsilon_and_delta_at_most
from discreet.kernel.accounting.rule import Rule, computed
from discreet.kernel.accounting.units import Limit, Total, from_units, units_down, units_up
from discreet.kernel.losses import ApproxDP, PrivacyLoss, PureDP


class Basic(Rule[PureDP | ApproxDP]):
    """Admit while Σ εᵢ <= ε and Σ δᵢ <= δ.

    Privacy: holds for prices chosen adaptively too (Rogers, Roth, Ullman and Vadhan 2016).

    >>> rule = Basic(PureDP(1))
    >>> tenth = rule.cost(PureDP(0.1))
    >>> rule.limit.admits(Total(tenth.main * 10)), rule.limit.admits(Total(tenth.main * 10 + 1))
    (True, False)
    """

    name = "basic"
    prices = "epsilon, and delta where the budget has one"

    @cached_property
    def limit(self) -> Limit:
        return Limit(units_down(self.budget.epsilon), delta=units_down(_delta(self.budget)))

    def cost_of_promise(self, promise: Notion) -> Total | None:
        if not isinstance(promise, PureDP | ApproxDP):
            return None
        return Total(units_up(promise.epsilon), 0, units_up(_delta(promise)))

    def cost_of_loss(self, loss: PrivacyLoss) -> Total | None:
        known = epsilon_and_delta_at_most(loss)
        return None if known is None else Total(units_up(known[0]), 0, units_up(known[1]))

    def remaining(self, total: Total) -> PureDP | ApproxDP:
        return self._notion(
            from_units(max(0, self.limit.main - total.main)), from_units(self.limit.delta - total.delta)
        )

    def spent(self, total: Total) -> PureDP | ApproxDP:
        return self._notion(from_units(total.main), from_units(total.delta))

    def _notion(self, epsilon: Fraction, delta: Fraction) -> PureDP | ApproxDP:
        if isinstance(self.budget, PureDP):
            return computed(PureDP, self.budget.relation, epsilon=epsilon)
        return computed(ApproxDP, self.budget.relation, epsilon=epsilon, delta=delta)


def _delta(notion: PureDP | ApproxDP) -> Fraction:
    return notion.delta if isinstance(notion, ApproxDP) else Fraction(0)
