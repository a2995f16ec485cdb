"""Reserved shares: kept for one analyst, whatever the others ask."""

from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from discreet.errors import BudgetExceeded, InvalidParameter, LedgerConflict
from discreet.kernel.ledger import Request
from discreet.kernel.ledger.charging import append
from discreet.kernel.losses import GDP, ZCDP, ApproxDP, PureDP
from ledger.conftest import MemoryWorld


def charge(ledger, analyst, price):
    loss = price if not isinstance(price, float) else PureDP(price)
    ledger.answer(ledger.charge(Request(loss=loss, analyst=analyst)), b"42")


def test_others_cannot_drain_a_share(world):
    ledger = world.open()
    ledger.reserve("alice", PureDP(0.4), reason="her survey")
    charge(ledger, "bob", 0.6)
    with pytest.raises(BudgetExceeded, match="bank/rest"):
        charge(ledger, "eve", 0.1)
    charge(ledger, "alice", 0.4)
    assert ledger.remaining.epsilon == 0
    ledger.verify()


def test_a_share_is_all_that_its_holder_may_spend(world):
    ledger = world.open()
    ledger.reserve("alice", PureDP(0.4), reason="her survey")
    with pytest.raises(BudgetExceeded, match="bank/share/alice"):
        charge(ledger, "alice", 0.5)
    assert ledger.spent.epsilon == 0


def test_what_an_analyst_has_left_is_the_least_of_its_accounts(world):
    ledger = world.open(budget=ApproxDP(1, 1e-6), per_analyst=PureDP(0.7))
    charge(ledger, "bob", 0.1)
    ledger.reserve("alice", ApproxDP(0.5, 1e-7), reason="her survey")
    assert ledger.remaining_for("alice") == ApproxDP(0.5, 0)  # analysts' own budget has no delta
    assert ledger.remaining_for("bob").epsilon == Fraction(4, 10)
    assert ledger.remaining_for("new").epsilon == Fraction(4, 10)
    charge(ledger, "alice", 0.5)
    assert ledger.remaining_for("alice").epsilon == 0
    assert ledger.remaining == ApproxDP(0.4, 1e-6)


def test_without_shares_the_analyst_has_what_the_data_set_has(world):
    ledger = world.open(per_analyst=PureDP(2))
    charge(ledger, "bob", 0.25)
    assert ledger.remaining_for("alice") == ledger.remaining == PureDP(0.75)


def test_spending_before_a_reservation_counts_against_the_rest(world):
    ledger = world.open()
    charge(ledger, "alice", 0.5)
    ledger.reserve("alice", PureDP(0.5), reason="the other half")
    with pytest.raises(BudgetExceeded):
        charge(ledger, "bob", 0.1)
    charge(ledger, "alice", 0.5)


def test_shares_must_fit_what_is_unreserved(world):
    ledger = world.open()
    charge(ledger, "bob", 0.25)
    ledger.reserve("alice", PureDP(0.5), reason="first")
    before = ledger.verify()
    with pytest.raises(BudgetExceeded, match=r"epsilon 0\.25 is left"):
        ledger.reserve("carol", PureDP(0.5), reason="second")
    assert ledger.verify() == before
    ledger.reserve("carol", PureDP(0.25), reason="second")


def test_a_share_can_grow_and_shrink_but_not_below_what_is_spent_of_it(world):
    ledger = world.open()
    ledger.reserve("alice", PureDP(0.5), reason="first")
    charge(ledger, "alice", 0.25)
    ledger.reserve("alice", PureDP(1), reason="all of it")
    assert ledger.remaining_for("bob").epsilon == 0
    with pytest.raises(BudgetExceeded, match="spent of it already"):
        ledger.reserve("alice", PureDP(0.125), reason="too little")
    ledger.reserve("alice", PureDP(0.25), reason="what she used")
    assert ledger.remaining_for("bob") == PureDP(0.75)
    assert ledger.remaining_for("alice").epsilon == 0
    ledger.verify()


def test_a_raised_budget_goes_to_the_rest(world):
    ledger = world.open()
    ledger.reserve("alice", PureDP(1), reason="all of it")
    ledger.raise_budget(PureDP(3), reason="a second survey")
    assert (ledger.remaining_for("bob"), ledger.remaining_for("alice")) == (PureDP(2), PureDP(1))
    ledger.verify()
    assert world.open(budget=PureDP(3)).remaining_for("bob") == PureDP(2)


@pytest.mark.parametrize(
    ("budget", "share", "left"),
    [
        (ZCDP(1), ZCDP(0.25), ZCDP(0.75)),
        (GDP(5), GDP(3), GDP(4)),
        (ApproxDP(1, 1e-6), ApproxDP(0.25, 1e-6), ApproxDP(0.75, 0)),
    ],
    ids=["rho", "mu", "delta"],
)
def test_shares_add_up_as_the_rule_does(world, budget, share, left):
    ledger = world.open(budget=budget)
    ledger.reserve("alice", share, reason="her survey")
    assert ledger.remaining_for("alice") == share
    assert ledger.remaining_for("bob") == left


def test_the_advanced_filter_has_no_shares(world):
    ledger = world.open(budget=ApproxDP(1, 1e-6), filter="advanced")
    with pytest.raises(InvalidParameter, match="add up"):
        ledger.reserve("alice", ApproxDP(0.1, 1e-7), reason="no")


@pytest.mark.parametrize("share", [ApproxDP(0.1, 1e-7), ZCDP(0.1), 0.1, None])
def test_a_share_is_of_the_budgets_own_notion(world, share):
    with pytest.raises(InvalidParameter):
        world.open().reserve("alice", share, reason="no")


@pytest.mark.parametrize(("analyst", "reason"), [("", "why"), ("alice", " "), ("a\nb", "why")])
def test_a_share_needs_an_analyst_and_a_reason(world, analyst, reason):
    with pytest.raises(InvalidParameter):
        world.open().reserve(analyst, PureDP(0.1), reason=reason)


def test_a_share_outlives_a_restart_and_stands_in_the_history(world):
    world.open().reserve("alice", PureDP(0.5), reason="her survey")
    ledger = world.open()
    with pytest.raises(BudgetExceeded):
        charge(ledger, "bob", 0.75)
    (record,) = [record for record in ledger.history() if record.kind == "share"]
    assert (record.analyst, record.share, record.reason) == ("alice", "epsilon 0.5", "her survey")


def test_a_stored_answer_is_free_for_a_holder_whose_share_is_used_up(world):
    ledger = world.open()
    ledger.reserve("alice", PureDP(0.1), reason="one question")
    request = Request(loss=PureDP(0.1), question="SELECT 1", analyst="alice")
    ledger.answer(ledger.charge(request), b"42")
    assert ledger.charge(request).answer == b"42"


def test_verify_finds_a_charge_that_passed_the_rest_by(world):
    """The planted fault: an entry that was taken from the data set's account alone."""
    ledger = world.open()
    ledger.reserve("alice", PureDP(1), reason="all of it")
    facts = {"kind": "charge", "dataset": "bank", "analyst": "eve", "question": None, "version": "1"}
    sums = {"costs": {"bank": ["0.5", "0", "0"]}, "totals": {"bank": ["0.5", "0", "0"]}}
    ledger._store.write(lambda transaction: append(transaction, {**facts, **sums, "time": ""}))
    with pytest.raises(LedgerConflict, match="agree with the entries"):
        ledger.verify()


def test_an_analysts_history_says_nothing_of_others(world):
    ledger = world.open()
    charge(ledger, "bob", 0.5)
    charge(ledger, "alice", 0.125)
    charge(ledger, "alice", 0.25)
    found = ledger.history(analyst="alice")
    assert [(record.analyst, record.total) for record in found] == [("alice", "0.125"), ("alice", "0.375")]
    assert ledger.history()[-1].total == "0.875"


@pytest.mark.slow
@settings(deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["charge", "reserve"]),
            st.sampled_from(["alice", "bob", "eve"]),
            st.integers(1, 9).map(lambda tenths: Fraction(tenths, 10)),
        ),
        max_size=25,
    )
)
def test_what_is_left_of_a_share_is_never_refused_and_nothing_is_overspent(steps):
    """Against the rule in plain words: totals by holder, and one for all others."""
    ledger = MemoryWorld().open()
    shares, used, common = {}, {}, Fraction(0)
    for what, who, amount in steps:
        free = 1 - common - sum(shares.values())
        if what == "reserve":
            fits = amount - shares.get(who, 0) <= free and amount >= used.get(who, 0)
        else:
            fits = amount <= (shares[who] - used[who] if who in shares else free)
        try:
            if what == "reserve":
                ledger.reserve(who, PureDP(amount), reason="so")
            else:
                charge(ledger, who, PureDP(amount))
        except BudgetExceeded:
            assert not fits
            continue
        assert fits
        if what == "reserve":
            shares[who] = amount
            used.setdefault(who, Fraction(0))
        elif who in shares:
            used[who] += amount
        else:
            common += amount
    assert ledger.spent.epsilon == common + sum(used.values()) <= 1
    for who, share in shares.items():
        assert ledger.remaining_for(who).epsilon == share - used[who]
    ledger.verify()
