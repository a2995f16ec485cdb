"""Balances as floats: spending is never shown smaller than it is, what is left never larger."""

from fractions import Fraction

import pytest

from discreet.kernel.ledger import Request, statement
from discreet.kernel.losses import GDP, ZCDP, ApproxDP, PureDP

CASES = [
    (PureDP(1), PureDP(Fraction(1, 3))),
    (ApproxDP(1, 1e-6), ApproxDP(Fraction(1, 3), Fraction(1, 7 * 10**6))),
    (ZCDP(1), ZCDP(Fraction(1, 3))),
    (GDP(1), GDP(Fraction(5, 7))),
]


def shown(ledger):
    (kept,) = ledger.balances()
    facts = kept.to_json()
    for name in facts["spent"]:
        yield Fraction(facts["spent"][name]), getattr(kept.spent, name)
        yield getattr(kept.remaining, name), Fraction(facts["remaining"][name])


@pytest.mark.parametrize(("budget", "price"), CASES, ids=lambda part: type(part).__name__)
def test_spending_is_shown_rounded_up_and_what_is_left_rounded_down(world, budget, price, monkeypatch):
    ledger = world.open(budget=budget)
    ledger.answer(ledger.charge(Request(loss=price)), b"42")
    assert all(larger >= smaller for larger, smaller in shown(ledger))
    honest = statement._shown
    monkeypatch.setattr(statement, "_shown", lambda value, side: honest(value, -side))  # the wrong side
    assert not all(larger >= smaller for larger, smaller in shown(ledger))
