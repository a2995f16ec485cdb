"""A coarser unit costs more: everything spent is counted for groups, or the change is refused."""

from fractions import Fraction

import pytest

from discreet.errors import BudgetExceeded, InvalidParameter, LedgerConflict
from discreet.kernel.ledger import Request
from discreet.kernel.ledger.charging import append
from discreet.kernel.losses import GDP, ZCDP, ApproxDP, PureDP, gaussian, laplace


def spend(ledger, *requests):
    for request in requests:
        ledger.answer(ledger.charge(request), b"42")


def test_a_coarser_unit_needs_the_size_of_its_groups(world):
    ledger = world.open(budget=PureDP(2))
    spend(ledger, Request(loss=PureDP(1)))
    with pytest.raises(InvalidParameter, match="group_size"):
        ledger.amend(reason="households share accounts", unit="household")
    with pytest.raises(InvalidParameter, match="group_size"):
        ledger.amend(reason="a new year", version="2", group_size=2)
    for size in (0, -1, 1.5, True):
        with pytest.raises(InvalidParameter):
            ledger.amend(reason="households", unit="household", group_size=size)
    assert (ledger.declaration.unit, ledger.spent) == ("person", PureDP(1))


def test_what_does_not_fit_for_groups_is_refused_until_the_budget_is_raised(world):
    ledger = world.open(budget=PureDP(2))
    spend(ledger, Request(loss=PureDP(1)))
    with pytest.raises(BudgetExceeded, match="groups of 40: epsilon 40"):
        ledger.amend(reason="households", unit="household", group_size=40)
    assert ledger.declaration.unit == "person"
    ledger.raise_budget(PureDP(41), reason="households")
    ledger.amend(reason="households", unit="household", group_size=40)
    assert (ledger.spent, ledger.remaining) == (PureDP(40), PureDP(1))
    ledger.verify()


@pytest.mark.parametrize(
    ("budget", "request_", "spent"),
    [
        (PureDP(9), Request(loss=2 * laplace(scale=4, sensitivity=1)), PureDP(1.5)),
        (ZCDP(9), Request(loss=ZCDP(0.1)), ZCDP(0.9)),
        (ZCDP(9), Request(loss=gaussian(sigma=2, sensitivity=1)), ZCDP(Fraction(9, 8))),
        (GDP(9), Request(loss=gaussian(sigma=2, sensitivity=1)), GDP(1.5)),
        (GDP(9), Request(loss=GDP(0.5)), GDP(1.5)),
    ],
    ids=["laplace", "rho", "gaussian in rho", "gaussian in mu", "mu"],
)
def test_each_notion_is_counted_for_groups_of_three(world, budget, request_, spent):
    ledger = world.open(budget=budget)
    spend(ledger, request_)
    ledger.amend(reason="households", unit="household", group_size=3)
    assert ledger.spent == spent
    ledger.verify()


def test_an_approximate_price_follows_the_chain_of_neighbours(world):
    ledger = world.open(budget=ApproxDP(9, 1e-3))
    spend(ledger, Request(loss=gaussian(sigma=20, sensitivity=1), price=ApproxDP(0.5, 1e-7)))
    ledger.amend(reason="households", unit="household", group_size=3)
    e = Fraction(2.718281828459045) ** Fraction(1, 2)
    chain = Fraction(1, 10**7) * Fraction(float(1 + e + e**2))
    assert ledger.spent.epsilon == Fraction(3, 2)
    assert chain * Fraction(999999, 10**6) < ledger.spent.delta < chain * Fraction(1000001, 10**6)


def test_a_second_change_counts_groups_of_groups_and_later_charges_once(world):
    ledger = world.open(budget=PureDP(9))
    spend(ledger, Request(loss=PureDP(0.1)))
    ledger.amend(reason="households", unit="household", group_size=2)
    with pytest.raises(LedgerConflict, match="who is protected"):  # whoever bounds by the old unit
        spend(ledger, Request(loss=PureDP(0.1)))
    ledger = world.open(budget=PureDP(9), unit="household")
    spend(ledger, Request(loss=PureDP(0.1)))
    ledger.amend(reason="streets", unit="street", group_size=5)
    assert ledger.spent == PureDP(1 + 0.5)
    ledger.verify()


def test_accounts_of_analysts_are_counted_too(world):
    ledger = world.open(budget=PureDP(9), per_analyst=PureDP(1))
    spend(ledger, Request(loss=PureDP(0.3), analyst="ann"))
    ledger.amend(reason="households", unit="household", group_size=3)
    assert ledger.remaining_for("ann") == PureDP(0.1)
    ledger.verify()


def test_shares_must_come_after(world):
    ledger = world.open(budget=PureDP(9))
    ledger.reserve("ann", PureDP(1), reason="hers")
    with pytest.raises(InvalidParameter, match="before shares"):
        ledger.amend(reason="households", unit="household", group_size=2)


def test_verify_computes_the_totals_of_groups_once_more(world):
    """The planted fault: an amendment that carries spending over at par."""
    ledger = world.open(budget=PureDP(9))
    spend(ledger, Request(loss=PureDP(1)))

    def at_par(transaction):
        facts = {"kind": "owner", "dataset": "bank", "changed": {}, "reason": "so", "time": ""}
        append(transaction, {**facts, "group_size": 3, "totals": {"bank": ["1", "0", "0"]}})
        row = transaction.account("bank")
        transaction.move_account(row, type(row)(**{**vars(row), "sequence": transaction.head().sequence}))

    ledger._store.write(at_par)
    with pytest.raises(LedgerConflict, match="agree with the entries"):
        ledger.verify()


# --- raising an advanced budget ---------------------------------------------------------------------------


def test_a_raise_of_an_advanced_budget_is_charged_its_slack_and_opens_again(world):
    ledger = world.open(budget=ApproxDP(1, 1e-6), filter="advanced")
    spend(ledger, *[Request(loss=PureDP(0.1))] * 5)
    before = ledger.spent
    ledger.raise_budget(ApproxDP(2, 1e-6), reason="one more survey")
    assert ledger.spent.epsilon == before.epsilon
    assert (before.delta, ledger.spent.delta) == (Fraction(1, 2 * 10**6), Fraction(1, 10**6))
    with pytest.raises(BudgetExceeded, match="Raise delta"):
        ledger.raise_budget(ApproxDP(3, 1e-6), reason="and another")
    ledger.raise_budget(ApproxDP(3, 4e-6), reason="with its delta")
    ledger = world.open(budget=ApproxDP(3, 4e-6), filter="advanced")
    spend(ledger, Request(loss=PureDP(0.1)))
    assert ledger.spent.delta == Fraction(3, 10**6)
    ledger.verify()


def test_an_advanced_budget_that_nothing_was_spent_of_is_raised_for_nothing(world):
    ledger = world.open(budget=ApproxDP(1, 1e-6), filter="advanced")
    ledger.raise_budget(ApproxDP(2, 1e-6), reason="before anyone asked")
    assert ledger.spent.delta == Fraction(1, 2 * 10**6)
    ledger.verify()
