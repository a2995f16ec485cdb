"""Shared answers beside a limit for each analyst: whoever reads pays, from the own account and once."""

import pytest

from discreet.errors import BudgetExceeded
from discreet.kernel.ledger import Request
from discreet.kernel.losses import PureDP


def ask(question, analyst):
    return Request(loss=PureDP(0.5), question=question, analyst=analyst)


def open_shared(world, **more):
    return world.open(budget=PureDP(5), answers="shared", **{"per_analyst": PureDP(0.5), **more})


def test_a_reader_of_shared_answers_sees_no_more_than_the_own_budget_allows(world):
    ledger = open_shared(world)
    for number in range(3):
        ledger.answer(ledger.charge(ask(f"SELECT {number}", f"helper {number}")), b"42")
    assert ledger.charge(ask("SELECT 0", "mallory")).answer == b"42"
    for _ in range(2):  # what was read is read again for nothing
        assert ledger.charge(ask("SELECT 0", "mallory")).answer == b"42"
    assert ledger.remaining_for("mallory").epsilon == 0
    with pytest.raises(BudgetExceeded, match="analyst/mallory"):
        ledger.charge(ask("SELECT 1", "mallory"))
    assert ledger.spent == PureDP(1.5)  # the data set's own account pays once for each answer
    ledger.verify()


def test_it_is_not_called_free_before_it_is_paid(world):
    ledger = open_shared(world)
    ledger.answer(ledger.charge(ask("SELECT 1", "ann")), b"42")
    assert ledger.find_answer(ask("SELECT 1", "ann")) == b"42"
    assert ledger.find_answer(ask("SELECT 1", "bob")) is None
    ledger.charge(ask("SELECT 1", "bob"))
    assert ledger.find_answer(ask("SELECT 1", "bob")) == b"42"


def test_without_a_limit_for_each_analyst_reading_is_free(world):
    ledger = open_shared(world, per_analyst=None)
    ledger.answer(ledger.charge(ask("SELECT 1", "ann")), b"42")
    assert ledger.find_answer(ask("SELECT 1", "bob")) == b"42"
    entries = ledger.verify().entries
    assert ledger.charge(ask("SELECT 1", "bob")).answer == b"42"
    assert ledger.verify().entries == entries


def test_who_read_it_is_remembered_after_a_restart(world):
    ledger = open_shared(world)
    ledger.answer(ledger.charge(ask("SELECT 1", "ann")), b"42")
    ledger.charge(ask("SELECT 1", "bob"))
    ledger = open_shared(world)
    assert ledger.charge(ask("SELECT 1", "bob")).answer == b"42"
    assert ledger.remaining_for("bob").epsilon == 0
    ledger.verify()
