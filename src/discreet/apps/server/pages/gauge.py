"""The budget gauge of the pages: a bar, numbers rounded to the safe side, and how many questions fit."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from discreet.apps.pictures.theme import with_power
from discreet.asking.planning import Plan, budget_of, named_price, price_of
from discreet.kernel.accounting import notion_json, rule_for
from discreet.kernel.ledger import Balance
from discreet.kernel.losses import PrivacyLoss, risk
from discreet.kernel.numerics import short_down, short_up

SYMBOLS = {"epsilon": "ε", "rho": "ρ", "mu": "μ²"}  # what adds up; of μ it is the square
NUMBERS = (*SYMBOLS, "delta")
MANY = 10**6


# The account that limits a user: how the pages name what was spent from it, and the account itself.
WHOSE = {
    "all": ("spent by all", "of"),
    "analyst": ("you spent", "of your own limit,"),
    "share": ("you spent", "of your share,"),
    "rest": ("spent, or kept for others", "of"),
}


@dataclass(frozen=True)
class BudgetGauge:
    """A limit and what remains of it, by measure; and the account it belongs to."""

    limit: Mapping[str, Fraction]
    remaining: Mapping[str, Fraction]
    whose: str = "all"
    failures: Mapping[str, Any] = field(default_factory=dict)  # counted, left; for an owner, also by analyst
    account: Balance | None = None  # the one that binds

    @classmethod
    def of(cls, balances: Sequence[Balance], failures: Mapping[str, Any] | None = None) -> "BudgetGauge":
        """Return what may be spent when a charge must fit all these accounts: for each number the one with
        least left, and the user's own before the shared one.
        """
        limits = [numbers_of(notion_json(each.budget)) for each in balances]
        left = [numbers_of(notion_json(each.remaining)) for each in balances]
        own = list(range(len(balances)))[::-1]
        least = {name: min(own, key=lambda n, name=name: left[n][name]) for name in limits[0]}  # type: ignore[misc]
        measure = next(name for name in SYMBOLS if name in least)
        return cls(
            {name: limits[n][name] for name, n in least.items()},
            {name: left[n][name] for name, n in least.items()},
            _whose(balances[least[measure]].account),
            failures or {},
            balances[least[measure]],
        )

    @property
    def measure(self) -> str:
        """The measure that the budget is counted in."""
        return next(name for name in SYMBOLS if name in self.limit)

    @property
    def symbol(self) -> str:
        """The symbol of the measure."""
        return SYMBOLS[self.measure]

    @property
    def spent(self) -> Fraction:
        """What was spent, or is reserved for others."""
        return self.limit[self.measure] - self.remaining.get(self.measure, Fraction(0))

    @property
    def odds(self) -> str:
        """What spending and limit tell of one person, in odds; empty where an account is not known."""
        return "" if self.account is None else odds_of_account(self.account, self.whose)

    @property
    def bar(self) -> dict[str, float]:
        """The percentages of the bar."""
        limit = self.limit[self.measure]
        return {"spent": float(100 * self.spent / limit) if limit else 100.0}

    @property
    def texts(self) -> dict[str, str]:
        """The numbers as text: spending rounded up, what is left rounded down; and whose they are."""
        measure = self.measure
        gone, of = WHOSE[self.whose]
        limit, spent = down(self.limit[measure]), up(self.spent)
        remaining = down(self.remaining.get(measure, Fraction(0)))
        return {
            "symbol": self.symbol,
            "limit": limit,
            "spent": spent,
            "remaining": remaining,
            "gone": gone,
            "of": of,
            "label": f"{gone} {spent}; {remaining} {of} {self.symbol} {limit} left",
            "delta": down(self.limit["delta"]) if self.limit.get("delta") else "",
            "delta_remaining": down(self.remaining.get("delta", Fraction(0))),
        }

    def fits(self, price: Mapping[str, Fraction]) -> int | None:
        """Return how many more questions at this price fit at least; None if the price has another measure.

        >>> gauge = BudgetGauge({"epsilon": Fraction(1)}, {"epsilon": Fraction(1, 2)})
        >>> gauge.fits({"epsilon": Fraction(1, 5)})
        2
        """
        if not price.get(self.measure):
            return None
        counts = [
            self.remaining.get(name, Fraction(0)) // part
            for name, part in price.items()
            if part and (name in self.remaining or name == "delta")
        ]
        return min(MANY, *counts) if counts else None

    def fits_words(self, price: Mapping[str, Fraction], fits: int | None) -> str:
        """Say how many such questions fit, and whether δ is what limits them."""
        if fits is None:
            return "—"
        if fits >= MANY:
            return "over a million"
        without = self.fits({name: part for name, part in price.items() if name != "delta"})
        return f"{fits:,}, limited by δ" if without is not None and without > fits else f"{fits:,}"

    def parts(self, price: Mapping[str, Fraction]) -> dict[str, Any]:
        """Return the gauge with the next question's price on it, and how many such questions fit."""
        limit, next_price = self.limit[self.measure], price.get(self.measure, Fraction(0))
        fits = self.fits(price)
        return {
            **self.bar,
            "next": float(min(100 * next_price / limit, Fraction(100))) if limit else 0.0,
            "fits": fits,
            "fits_words": self.fits_words(price, fits),
            "texts": self.texts,
        }


def _whose(account: str) -> str:
    """Return the kind of an account, which follows the data set's name."""
    return account.split("/")[1] if "/" in account else "all"


def up(value: Fraction) -> str:
    """Return a number as text, rounded up.

    >>> up(Fraction(1, 3)), up(Fraction(1, 10**6))
    ('0.333334', '10⁻⁶')
    """
    return with_power(short_up(value))


def down(value: Fraction) -> str:
    """Return a number as text, rounded down."""
    return with_power(short_down(value))


def numbers_of(facts: Mapping[str, Any]) -> dict[str, Fraction]:
    """Return the numbers of a notion that add up: ε, ρ, δ, and the square of μ."""
    numbers = {name: Fraction(str(facts[name])) for name in NUMBERS if name in facts}
    return {name: number**2 if name == "mu" else number for name, number in numbers.items()}


def price_words(price: Mapping[str, str]) -> str:
    """Return a receipt's price as the pages write it, rounded up.

    >>> price_words({"epsilon": "0.5", "delta": "0.000001"})
    'ε 0.5, δ 10⁻⁶'
    """
    written = {"epsilon": "ε", "rho": "ρ", "mu": "μ", "delta": "δ"}
    parts = [(written[name], Fraction(number)) for name, number in price.items() if name in written]
    return ", ".join(f"{symbol} {up(number)}" for symbol, number in parts if number)


def price_of_plan(plan: Plan) -> dict[str, Fraction]:
    """Return the price of a plan, as it was stated or found."""
    price = price_of([plan])
    return {name: getattr(price, name) for name in NUMBERS if getattr(price, name, 0)}


def odds_of(plan: Plan) -> str:
    """Return what a question tells of one person, in odds: by its own certified curve, rounded up.

    Wording: Nanayakkara et al., What are the chances? USENIX Security 2023.
    """
    return (
        "Someone who is unsure whether a person is in the data (50 in 100) guesses right after this answer "
        f"in at most {in_100(plan.loss)} of 100 cases."
    )


def odds_of_account(balance: Balance, whose: str) -> str:
    """Return the same for what an account has spent and may spend, by the account's own rule alone."""
    own = {"analyst": "your own limit", "share": "your share"}.get(whose, "the whole budget")
    so_far = in_100(balance.spent.loss) if any(numbers_of(notion_json(balance.spent)).values()) else "50"
    return f"After all that is spent so far: {so_far} of 100; after {own}: {in_100(balance.budget.loss)}."


def in_100(loss: PrivacyLoss) -> str:
    """Return in how many of 100 cases the best guess is right at most, rounded up.

    >>> from discreet.kernel.losses import ApproxDP, PureDP
    >>> in_100(PureDP(0.1).loss), in_100(ApproxDP(20, 0.5).loss)
    ('52.5', 'all')
    """
    chance = math.ceil(Fraction(risk(loss).guess()) * 1000)
    return f"{chance / 10:g}" if chance < 1000 else "all"


def cost_of_plan(plan: Plan) -> dict[str, Fraction]:
    """Return what the data set's account would be charged, in its own measure; raise if it cannot be.

    A filter that pays for many charges together has no such number for one of them: then return the price.
    """
    policy = plan.policy
    if policy.filter is not None:
        return price_of_plan(plan)
    rule = rule_for(budget_of(policy), relation=policy.relation)
    paid = rule.spent(rule.cost(plan.loss, named_price(policy, plan.price)))
    return {name: part for name, part in numbers_of(notion_json(paid)).items() if part}
