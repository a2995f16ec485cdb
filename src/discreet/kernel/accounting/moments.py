"""Filters on moments: zCDP, Rényi at one order, and Gaussian. Their costs simply add."""

from fractions import Fraction
from functools import cached_property

from discreet.kernel.accounting.bounds import Notion, mu_squared_at_most, renyi_at_most, rho_and_delta_at_most
from discreet.kernel.accounting.rule import Rule, computed
from discreet.kernel.accounting.units import (
    Limit,
    Total,
    from_units,
    root_down,
    root_up,
    units_down,
    units_up,
)
from discreet.kernel.losses import GDP, ZCDP, ApproxDP, PrivacyLoss, PureDP, RenyiDP


class Concentrated(Rule[ZCDP]):
    """Admit while Σ ρᵢ <= ρ and Σ δᵢ <= δ.

    Privacy: δ-approximate ρ-zCDP, adaptively (Whitehouse, Ramdas, Rogers and Wu 2023; for δ = 0
    Feldman and Zrnic 2021, at every order at once).

    >>> rule = Concentrated(ZCDP(0.3))
    >>> rule.limit.admits(rule.cost(ZCDP(0.1)).plus(rule.cost(ZCDP(0.2))))
    True
    """

    name = "zcdp"
    prices = "rho (a pure epsilon, or a Gaussian's mu, has one)"

    @cached_property
    def limit(self) -> Limit:
        return Limit(units_down(self.budget.rho), delta=units_down(self.budget.delta))

    def cost_of_promise(self, promise: Notion) -> Total | None:
        match promise:
            case ZCDP():
                return Total(units_up(promise.rho), 0, units_up(promise.delta))
            case ApproxDP() | PureDP() | GDP():
                return self.cost_of_loss(promise.loss)
        return None

    def cost_of_loss(self, loss: PrivacyLoss) -> Total | None:
        bound = rho_and_delta_at_most(loss)
        return None if bound is None else Total(units_up(bound[0]), 0, units_up(bound[1]))

    def remaining(self, total: Total) -> ZCDP:
        left = self.limit.main - total.main, self.limit.delta - total.delta
        return self._notion(*left)

    def spent(self, total: Total) -> ZCDP:
        return self._notion(total.main, total.delta)

    def _notion(self, rho: int, delta: int) -> ZCDP:
        return computed(ZCDP, self.budget.relation, rho=from_units(rho), delta=from_units(delta))


class OneOrder(Rule[RenyiDP]):
    """Admit while Σ εᵢ(α) <= ε(α), for one order α fixed in advance.

    Privacy: (α, ε)-Rényi DP, adaptively (Feldman and Zrnic 2021).

    >>> rule = OneOrder(RenyiDP(2, 1))
    >>> rule.cost(ZCDP(0.25)) == rule.cost(RenyiDP(2, 0.5)) == rule.cost(RenyiDP(3, 0.5))
    True
    """

    name = "renyi"
    prices = "a Rényi divergence at the account's order"

    @cached_property
    def limit(self) -> Limit:
        return Limit(units_down(self.budget.epsilon))

    def cost_of_promise(self, promise: Notion) -> Total | None:
        order = self.budget.order
        match promise:
            case RenyiDP() if promise.order >= order:  # the divergence grows with its order
                return Total(units_up(promise.epsilon))
            case ZCDP() if promise.delta == 0:
                return Total(units_up(promise.rho * order))
            case PureDP() | GDP():
                return self.cost_of_loss(promise.loss)
        return None

    def cost_of_loss(self, loss: PrivacyLoss) -> Total | None:
        divergence = renyi_at_most(loss, self.budget.order)
        return None if divergence is None else Total(units_up(divergence))

    def remaining(self, total: Total) -> RenyiDP:
        return self._notion(self.limit.main - total.main)

    def spent(self, total: Total) -> RenyiDP:
        return self._notion(total.main)

    def _notion(self, epsilon: int) -> RenyiDP:
        return computed(RenyiDP, self.budget.relation, order=self.budget.order, epsilon=from_units(epsilon))


class GaussianSquares(Rule[GDP]):
    """Admit while Σ μᵢ² <= μ².

    Privacy: μ-Gaussian DP, adaptively (Smith and Thakurta 2022; Koskela, Tobaben and Honkela 2023).

    >>> rule = GaussianSquares(GDP(0.5))
    >>> rule.limit.admits(rule.cost(GDP(0.3)).plus(rule.cost(GDP(0.4))))
    True
    """

    name = "gaussian"
    prices = "a Gaussian's mu"

    @cached_property
    def limit(self) -> Limit:
        return Limit(units_down(self.budget.mu**2))

    def cost_of_promise(self, promise: Notion) -> Total | None:
        match promise:
            case GDP():
                return Total(units_up(promise.mu**2))
            case PureDP():
                return self.cost_of_loss(promise.loss)
        return None

    def cost_of_loss(self, loss: PrivacyLoss) -> Total | None:
        square = mu_squared_at_most(loss)
        return None if square is None else Total(units_up(square))

    def remaining(self, total: Total) -> GDP:
        return self._notion(from_units(root_down(self.limit.main - total.main)))

    def spent(self, total: Total) -> GDP:
        return self._notion(from_units(root_up(total.main)))

    def _notion(self, mu: Fraction) -> GDP:
        return computed(GDP, self.budget.relation, mu=mu)
