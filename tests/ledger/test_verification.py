"""A ledger whose every hash is right and that says what must not be: verify adds everything up again."""

import pytest

from discreet.errors import LedgerConflict
from discreet.kernel.accounting.units import Limit
from discreet.kernel.ledger import Request
from discreet.kernel.losses import ApproxDP, PureDP


def overspend(world, monkeypatch, budget, loss, times):
    """A consistent chain of charges, written by a hand that admits them all."""
    with monkeypatch.context() as patched:
        patched.setattr(Limit, "admits", lambda self, total: True)
        ledger = world.open(budget=budget)
        for number in range(times):
            ledger.answer(ledger.charge(Request(loss=loss, question=f"SELECT {number}")), b"answer")
    return ledger


CASES = [
    (PureDP(1), PureDP(0.3), 3),
    (ApproxDP(1, 0.1), ApproxDP(0.1, 0.03), 3),
]


@pytest.fixture
def memory_world():
    from ledger.conftest import MemoryWorld

    return MemoryWorld()


@pytest.mark.parametrize(("budget", "loss", "most"), CASES)
def test_a_chain_that_overspends_one_number_is_refused(memory_world, monkeypatch, budget, loss, most):
    assert overspend(memory_world, monkeypatch, budget, loss, most).verify().charges == most


@pytest.mark.parametrize(("budget", "loss", "most"), CASES)
def test_one_charge_more_is_found(memory_world, monkeypatch, budget, loss, most):
    ledger = overspend(memory_world, monkeypatch, budget, loss, most + 1)
    with pytest.raises(LedgerConflict, match="must agree with the entries before it"):
        ledger.verify()
