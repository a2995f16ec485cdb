"""The rules, on every store."""

import math
from fractions import Fraction

import pytest

from discreet.errors import BudgetExceeded, EngineFailure, InvalidParameter, LedgerConflict, PolicyViolation
from discreet.kernel.ledger import Request
from discreet.kernel.losses import GDP, ZCDP, ApproxDP, PureDP, gaussian, laplace


def ask(price=0.1, question="SELECT 1", **more):
    return Request(loss=PureDP(price), question=question, **more)


def spend(ledger, names, *prices):
    for price, question in zip(prices, names, strict=False):
        ledger.answer(ledger.charge(ask(price, question)), b"answer")


def test_ten_tenths_fit_one_exactly_and_an_eleventh_does_not(world, names):
    ledger = world.open()
    spend(ledger, names, *[0.1] * 10)
    assert ledger.remaining.epsilon == 0
    with pytest.raises(BudgetExceeded):
        ledger.charge(ask(Fraction(1, 2**60)))


def test_a_tenth_and_two_tenths_fit_three_tenths(world, names):
    ledger = world.open(budget=PureDP(0.3))
    spend(ledger, names, 0.1, 0.2)
    assert ledger.spent == PureDP(0.3)


def test_what_was_spent_is_remembered(world, names):
    spend(world.open(), names, 0.25, 0.5)
    assert world.open().remaining == PureDP(0.25)


def test_a_failed_charge_changes_nothing(world, names):
    ledger = world.open()
    spend(ledger, names, 0.9)
    before = (ledger.remaining, len(ledger.history()), ledger.verify())
    with pytest.raises(BudgetExceeded, match=r"epsilon 0\.1 is left of epsilon 1"):
        ledger.charge(ask(0.2))
    assert (ledger.remaining, len(ledger.history()), ledger.verify()) == before


def test_the_same_question_is_answered_again_for_nothing(world):
    ledger = world.open()
    ledger.answer(ledger.charge(ask()), b"42")
    assert ledger.find_answer(ask()) == b"42"
    assert ledger.charge(ask()).answer == b"42"
    assert ledger.spent == PureDP(0.1)


@pytest.mark.parametrize(
    "other",
    [ask(0.2), ask(question="SELECT 2"), ask(policy="other"), ask(analyst="eve")],
    ids=["price", "question", "policy", "analyst"],
)
def test_another_price_question_policy_or_analyst_is_charged(world, other):
    ledger = world.open()
    ledger.answer(ledger.charge(ask()), b"42")
    assert ledger.find_answer(other) is None
    assert ledger.charge(other).answer is None


def test_what_an_earlier_version_answered_failed_or_promised_is_found_by_its_own_name(world):
    """Requests of today call the policy "new"; the ledger holds what was asked when it was called "old"."""
    ledger = world.open()
    today = {"policy": "new", "formerly": "old"}
    ledger.answer(ledger.charge(ask(policy="old", key="k")), b"42")
    assert ledger.find_answer(ask(**today)) == b"42"
    assert ledger.charge(ask(**today)).answer == b"42"
    assert ledger.charge(ask(**today, key="k")).answer == b"42"  # a retry across the change
    ledger.abandon(ledger.charge(ask(policy="old", question="SELECT 2")))
    with pytest.raises(EngineFailure, match="not run again"):
        ledger.charge(ask(**today, question="SELECT 2"))
    assert ledger.find_answer(ask(policy="new", formerly="other")) is None
    assert ledger.spent == PureDP(0.2)
    ledger.answer(ledger.charge(ask(**today, question="SELECT 3")), b"3")
    assert ledger.find_answer(ask(policy="new", question="SELECT 3")) == b"3"
    assert ledger.find_answer(ask(policy="old", question="SELECT 3")) is None


def test_answers_are_shared_where_the_owner_says_so(world):
    ledger = world.open(answers="shared")
    ledger.answer(ledger.charge(ask(analyst="alice")), b"42")
    assert ledger.charge(ask(analyst="bob")).answer == b"42"


def test_a_new_version_is_charged_and_recorded_and_the_spending_stays(world):
    ledger = world.open()
    ledger.answer(ledger.charge(ask()), b"42")
    ledger = world.open(version="2")
    assert ledger.find_answer(ask()) is None
    assert ledger.remaining == PureDP(0.9)
    assert ledger.history()[-1].kind == "owner"


def test_a_charge_without_a_question_is_never_found_again(world):
    ledger = world.open()
    for _ in range(2):
        ledger.answer(ledger.charge(Request(loss=PureDP(0.1))), b"watched")
    assert ledger.spent == PureDP(0.2)


# --- one answer at most -----------------------------------------------------------------------------------


def test_a_charge_is_answered_once(world):
    ledger = world.open()
    charge = ledger.charge(ask())
    ledger.answer(charge, b"first")
    with pytest.raises(LedgerConflict, match="running"):
        ledger.answer(charge, b"second")
    assert ledger.find_answer(ask()) == b"first"


def test_an_abandoned_charge_is_not_answered_and_not_refunded(world):
    ledger = world.open()
    charge = ledger.charge(ask())
    ledger.abandon(charge)
    with pytest.raises(LedgerConflict):
        ledger.answer(charge, b"late")
    assert ledger.remaining == PureDP(0.9)


@pytest.mark.parametrize(("end", "state"), [("close", "stopped"), ("crash", "failed")])
def test_after_a_restart_a_charge_without_an_answer_is_abandoned(world, end, state):
    charge = world.open().charge(ask())
    getattr(world, end)()
    ledger = world.open()
    assert [record.state for record in ledger.history() if record.kind == "charge"] == [state]
    with pytest.raises(LedgerConflict):
        ledger.answer(charge, b"from before")
    ledger.verify()


# --- idempotency ------------------------------------------------------------------------------------------


def test_the_same_key_gives_the_same_answer(world):
    ledger = world.open()
    first = ledger.charge(Request(loss=PureDP(0.1), key="k"))
    ledger.answer(first, b"42")
    again = world.open().charge(Request(loss=PureDP(0.1), key="k"))
    assert (again.id, again.answer) == (first.id, b"42")


@pytest.mark.parametrize("other", [ask(0.2, key="k"), ask(question="SELECT 2", key="k")])
def test_the_same_key_with_another_request_is_refused(world, other):
    ledger = world.open()
    ledger.answer(ledger.charge(ask(key="k")), b"42")
    with pytest.raises(LedgerConflict, match="one request"):
        ledger.charge(other)
    assert ledger.spent == PureDP(0.1)


def test_a_key_is_remembered_even_where_the_answer_was_free(world):
    ledger = world.open()
    ledger.answer(ledger.charge(ask()), b"42")
    assert ledger.charge(ask(key="k")).answer == b"42"
    with pytest.raises(LedgerConflict, match="one request"):
        ledger.charge(ask(question="SELECT 2", key="k"))


def test_a_key_belongs_to_one_analyst(world):
    ledger = world.open()
    ledger.answer(ledger.charge(ask(key="k", analyst="alice")), b"42")
    assert ledger.charge(ask(key="k", analyst="bob")).answer is None


def test_a_running_request_is_not_run_twice(world):
    ledger = world.open()
    ledger.charge(ask(key="k"))
    with pytest.raises(LedgerConflict, match="still running"):
        ledger.charge(ask(key="k"))
    assert ledger.spent == PureDP(0.1)


def test_an_abandoned_request_is_never_run_again_under_its_key(world):
    world.open().charge(ask(key="k"))
    ledger = world.open()
    with pytest.raises(LedgerConflict, match="abandoned"):
        ledger.charge(ask(key="k"))
    ledger.verify()


# --- accounts ---------------------------------------------------------------------------------------------


def test_all_accounts_are_charged_or_none(world, names):
    ledger = world.open(per_analyst=PureDP(0.3), per_question=PureDP(0.15))
    spend(ledger, names, 0.1, 0.1, 0.1)
    with pytest.raises(BudgetExceeded, match="analyst/owner"):
        ledger.charge(ask(0.1, "SELECT 99"))
    ledger.charge(ask(0.1, "SELECT 99", analyst="bob"))
    with pytest.raises(BudgetExceeded, match="question/"):
        ledger.charge(ask(0.1, "SELECT 99", analyst="bob", policy="other"))
    assert ledger.remaining == PureDP(0.6)
    ledger.verify()


def test_many_analysts_share_one_budget_for_the_data_set(world):
    ledger = world.open(per_analyst=PureDP(1))
    for number in range(10):
        ledger.charge(ask(0.1, analyst=f"analyst {number}"))
    with pytest.raises(BudgetExceeded, match="'bank'"):
        ledger.charge(ask(0.1, analyst="one more"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("budget", "rule", "price", "count"),
    [
        (ApproxDP(1, 1e-6), None, ApproxDP(0.1, 1e-7), 10),
        (ApproxDP(10, 1e-6), None, ApproxDP(0.1, 1e-7), 10),
        (ZCDP(1), None, ZCDP(0.1), 10),
        (GDP(1), None, GDP(0.1), 100),
        (ApproxDP(1, 1e-6), "advanced", PureDP(0.01), 333),
    ],
    ids=["epsilon", "delta", "rho", "mu", "advanced"],
)
def test_each_rule_admits_exactly_what_it_should(world, budget, rule, price, count):
    ledger = world.open(budget=budget, filter=rule)
    for _ in range(count):
        ledger.answer(ledger.charge(Request(loss=price)), b"watched")
    with pytest.raises(BudgetExceeded):
        ledger.charge(Request(loss=price))
    assert type(ledger.remaining) is type(budget)
    ledger.verify()


def test_a_loss_is_charged_at_the_price_named_for_it(world):
    ledger = world.open(budget=ApproxDP(1, 1e-6))
    ledger.charge(Request(loss=gaussian(sigma=20, sensitivity=1), price=ApproxDP(0.5, 1e-7)))
    assert ledger.remaining == ApproxDP(0.5, Fraction(9, 10**7))


def test_a_loss_without_a_price_is_charged_what_it_is(world):
    ledger = world.open()
    ledger.charge(Request(loss=3 * laplace(scale=10, sensitivity=1)))
    assert ledger.spent == PureDP(0.3)


GARBAGE = [math.nan, math.inf, -math.inf, -1, 0, -0.0, 1e-320, 1e308, True, "1"]


@pytest.mark.parametrize("garbage", GARBAGE, ids=repr)
def test_garbage_is_refused_before_anything_is_written(world, garbage):
    ledger = world.open(budget=ApproxDP(1, 1e-6))
    before = ledger.verify()
    for request in (
        lambda: Request(loss=PureDP(garbage)),
        lambda: Request(loss=garbage),
        lambda: Request(loss=PureDP(0.1), price=garbage),
    ):
        with pytest.raises(InvalidParameter):
            ledger.charge(request())
    assert ledger.verify() == before


@pytest.mark.parametrize("delta", [1, 1.0000001, math.nan, -1e-9, "0", True])
def test_a_delta_outside_zero_to_one_is_refused_before_anything_is_written(world, delta):
    ledger = world.open(budget=ApproxDP(1, 1e-6))
    before = ledger.verify()
    with pytest.raises(InvalidParameter):
        ledger.charge(Request(loss=ApproxDP(0.1, delta)))
    assert ledger.verify() == before


@pytest.mark.parametrize("budget", [1, 1.0, "1", None, True, (1, 0)])
def test_a_budget_must_be_a_notion(tmp_path, budget):
    from discreet.kernel.ledger import Ledger

    with pytest.raises(InvalidParameter):
        Ledger.open(tmp_path / "x.ledger", dataset="bank", budget=budget)
    assert list(tmp_path.iterdir()) == []


# --- identity ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "other",
    [
        {"budget": PureDP(2)},
        {"budget": PureDP(0.5)},
        {"budget": ApproxDP(1, 1e-6)},
        {"unit": "row"},
        {"relation": "replace"},
        {"per_analyst": PureDP(1)},
    ],
    ids=lambda part: next(iter(part)),
)
def test_opening_with_another_budget_unit_or_relation_is_refused(world, names, other):
    spend(world.open(), names, 0.5)
    with pytest.raises(LedgerConflict, match="ledger's own"):
        world.open(**other)
    assert world.open().remaining == PureDP(0.5)


def test_a_raised_budget_is_an_entry_and_the_spending_stays(world, names):
    ledger = world.open()
    spend(ledger, names, 0.75)
    ledger.raise_budget(PureDP(2), reason="a second survey")
    assert (ledger.remaining, ledger.spent) == (PureDP(1.25), PureDP(0.75))
    assert ledger.history()[-1].reason == "a second survey"
    with pytest.raises(LedgerConflict):
        world.open(budget=PureDP(1))
    world.open(budget=PureDP(2)).verify()


@pytest.mark.parametrize("budget", [PureDP(0.5), PureDP(1), ZCDP(9), ApproxDP(9, 1e-6)])
def test_a_budget_is_only_ever_raised(world, budget):
    with pytest.raises(InvalidParameter):
        world.open().raise_budget(budget, reason="no")


def test_an_owners_entry_needs_a_reason(world):
    with pytest.raises(InvalidParameter, match="reason"):
        world.open().amend(reason=" ", unit="household", group_size=1)


def test_changing_who_is_protected_is_an_entry(world, names):
    ledger = world.open()
    spend(ledger, names, 0.5)
    ledger.amend(reason="the column was renamed", unit="customer", group_size=1)
    ledger = world.open(unit="customer")
    assert ledger.remaining == PureDP(0.5)
    ledger.verify()


def test_a_known_schema_under_a_new_id_needs_the_owners_word(world):
    world.open()
    with pytest.raises(PolicyViolation, match="other people"):
        world.open(dataset="bank again")
    ledger = world.open(dataset="bank of another country", other_people="customers abroad")
    assert ledger.remaining == PureDP(1)
    ledger.verify()


def test_no_change_of_columns_leads_to_a_second_budget_for_the_same_people(world):
    """By another file: to columns that another data set has, or away from one's own, for a new name."""
    world.open()
    world.open(dataset="school", schema="grade integer")
    with pytest.raises(PolicyViolation, match="other people"):
        world.open(dataset="school")  # the columns of the bank
    assert world.open(dataset="school", schema="grade integer").remaining == PureDP(1)
    world.open(schema="city text, debt number, opened date", version="2")
    with pytest.raises(PolicyViolation, match="other people"):
        world.open(dataset="bank again")  # the columns that the bank had before
    world.open(schema="grade integer", other_people="customers go to no school", version="3").verify()


def test_who_was_said_to_be_other_people_is_not_asked_about_again(world):
    world.open()
    world.open(dataset="abroad", other_people="customers abroad")
    for dataset in ("bank", "abroad"):  # both get the same new column
        world.open(dataset=dataset, schema="city text, debt number, opened date", version="2").verify()


def test_two_data_sets_keep_their_own_accounts(world, names):
    spend(world.open(), names, 0.5)
    spend(world.open(dataset="school", schema="grade integer"), names, 0.25)
    assert world.open().remaining == PureDP(0.5)
    assert world.open(dataset="school", schema="grade integer").remaining == PureDP(0.75)


def test_no_entry_after_the_charge_carries_a_time(world):
    ledger = world.open()
    ledger.answer(ledger.charge(ask()), b"42")
    entries = ledger._store.read(lambda transaction: list(transaction.entries()))
    assert entries[-1].facts["kind"] == "answered"
    assert "time" not in entries[-1].facts
