"""Failures are counted in the transaction that ends the charge, and rationed until the owner has looked."""

import pytest

from discreet.errors import (
    EngineFailure,
    InvalidParameter,
    LedgerConflict,
    PolicyViolation,
    Rationed,
)
from discreet.kernel.ledger import LedgerFile, Ration, Request, failing
from discreet.kernel.losses import GDP, ZCDP, ApproxDP, PureDP


def ask(question="SELECT 1", price=0.01, analyst="ann", **more):
    return Request(loss=PureDP(price), question=question, analyst=analyst, **more)


def fail(ledger, names, *, analyst="ann", times=1):
    for _ in range(times):
        ledger.abandon(ledger.charge(ask(next(names), analyst=analyst)))


def kinds(ledger):
    return [
        entry.facts["kind"] for entry in ledger._store.read(lambda transaction: list(transaction.entries()))
    ]


def test_after_the_allowance_asking_waits_for_the_owner(world, names):
    ledger = world.open()
    fail(ledger, names, times=3)
    before = ledger.spent
    with pytest.raises(Rationed, match="3 of them yours"):
        ledger.charge(ask(next(names)))
    assert ledger.spent == before
    ledger.charge(ask(next(names), analyst="bob"))  # others are not concerned
    assert ledger.release_failures(reason="a broken disk", analyst="ann") == 3
    ledger.charge(ask(next(names)))
    assert [record.kind for record in ledger.history()].count("release") == 1
    ledger.verify()


def test_a_failure_is_one_entry_with_the_end_of_its_charge(world, names):
    ledger = world.open()
    fail(ledger, names)
    assert kinds(ledger)[-2:] == ["charge", "failure"]
    assert (ledger.failures("ann"), ledger.failures_left("ann"), ledger.failures()) == (1, 2, 1)
    assert (ledger.failures("bob"), ledger.failures_left("bob")) == (0, 3)
    assert [record.state for record in ledger.history(analyst="ann")] == ["failed"]


def test_after_ten_in_a_data_set_who_has_failed_waits_and_others_have_one_left(world, names):
    ledger = world.open()
    for analyst in ("a", "b", "c", "d", "e"):
        fail(ledger, names, analyst=analyst, times=2)
    assert {name: ledger.failures_left(name) for name in "aez"} == {"a": 0, "e": 0, "z": 1}
    with pytest.raises(Rationed):
        ledger.charge(ask(next(names), analyst="a"))
    running = ledger.charge(ask(next(names), analyst="z"))
    with pytest.raises(Rationed, match="at most 1 of your questions"):
        ledger.charge(ask(next(names), analyst="z"))
    ledger.abandon(running)
    with pytest.raises(Rationed, match="owner"):
        ledger.charge(ask(next(names), analyst="z"))
    assert ledger.release_failures(reason="all looked at") == 11
    assert ledger.failures_left("a") == 3
    ledger.verify()


def test_no_more_run_at_once_than_may_still_fail(world, names):
    ledger = world.open()
    fail(ledger, names)
    running = [ledger.charge(ask(next(names))) for _ in range(2)]
    with pytest.raises(Rationed) as refused:
        ledger.charge(ask(next(names)))
    assert refused.value.fields == {"state": "running"}
    ledger.answer(running[0], b"42")
    ledger.charge(ask(next(names)))


@pytest.mark.parametrize("key", [None, "k"])
def test_the_same_question_again_is_the_same_failure_free_and_counted_once(world, key):
    ledger = world.open()
    ledger.abandon(ledger.charge(ask(key=key)))
    before = (ledger.spent, kinds(ledger))
    for again in (ask(key=key), ask(key="another"), ask()):
        with pytest.raises(EngineFailure, match="not run again"):
            ledger.charge(again)
    assert (ledger.spent, kinds(ledger)) == before
    ledger.release_failures(reason="looked")
    if key is not None:  # a key stands for one charge, for ever
        with pytest.raises(LedgerConflict, match="Use a new key"):
            ledger.charge(ask(key=key))
    assert ledger.charge(ask(key="anew")).answer is None
    assert ledger.spent == PureDP(0.02)


def test_what_a_crash_leaves_unfinished_counts_and_a_clean_stop_does_not(world, names):
    ledger = world.open()
    ledger.charge(ask(next(names)))
    world.crash()
    ledger = world.open()
    assert ledger.failures("ann") == 1
    ledger.charge(ask(next(names)))
    world.close()
    ledger = world.open()
    assert ledger.failures("ann") == 1
    assert kinds(ledger)[-1] == "stopped"
    ledger.verify()


def test_who_crashes_again_and_again_is_stopped(world, names):
    for _ in range(3):
        world.open().charge(ask(next(names)))
        world.crash()
    with pytest.raises(Rationed):
        world.open().charge(ask(next(names)))


def test_a_dead_process_of_the_same_analyst_is_noticed_by_the_next_charge(placed_world, names):
    alive = placed_world.open()
    other = type(placed_world)(placed_world.path)
    for _ in range(3):
        other.open().charge(ask(next(names)))
        ledger, other._open = other._open[0], []
        ledger._store.close()
    with pytest.raises(Rationed, match="owner has looked"):
        alive.charge(ask(next(names)))
    assert alive.failures("ann") == 3


def test_a_retry_under_the_key_of_a_crashed_charge_is_that_failure(world):
    world.open().charge(ask(key="k"))
    world.crash()
    ledger = world.open()
    for _ in range(2):
        with pytest.raises(EngineFailure):
            ledger.charge(ask(key="k"))
    assert ledger.failures() == 1


def test_a_stored_answer_is_still_given_to_who_waits(world, names):
    ledger = world.open()
    ledger.answer(ledger.charge(ask("SELECT 99")), b"42")
    fail(ledger, names, times=3)
    assert ledger.charge(ask("SELECT 99")).answer == b"42"


def test_the_owner_looks_through_the_file_alone(placed_world, names):
    fail(placed_world.open(), names, times=3)
    placed_world.close()
    with LedgerFile(placed_world.path) as file:
        assert file.failures("bank") == {"ann": 3}
        assert file.release_failures("bank", reason="looked") == 3
        with pytest.raises(InvalidParameter, match="a failure to release"):
            file.release_failures("bank", reason="again")
        file.verify()


def test_the_owner_gives_a_reason(world, names):
    ledger = world.open()
    fail(ledger, names)
    with pytest.raises(InvalidParameter, match="reason"):
        ledger.release_failures(reason=" ")
    assert ledger.failures() == 1


def test_a_decision_is_an_entry(world):
    ledger = world.open()
    facts = {
        "analyst": "ann",
        "question": "SELECT 1",
        "price": {"epsilon": "1"},
        "by": "olga",
        "approval": "7",
    }
    ledger.record_decision("approved", **facts)
    with pytest.raises(InvalidParameter):
        ledger.record_decision("perhaps", **facts)
    record = ledger.history()[-1]
    assert (record.kind, record.analyst, record.state) == ("decision", "ann", "approved")
    ledger.verify()


# --- watches ----------------------------------------------------------------------------------------------


def watch(analyst="ann", **more):
    return Request(loss=PureDP(0.1), analyst=analyst, **more)


@pytest.mark.parametrize("end", ["close", "crash"])
def test_an_open_watch_is_settled_and_its_processes_end_counts_nothing(world, end):
    ledger = world.open()
    for _ in range(5):  # none of them is under way
        ledger.open_watch(watch())
    getattr(world, end)()
    ledger = world.open()
    assert ledger.failures() == 0
    assert {record.state for record in ledger.history(analyst="ann")} == {"answered"}
    ledger.verify()


def test_a_key_opens_one_watch(world):
    ledger = world.open()
    ledger.open_watch(watch(key="k"))
    with pytest.raises(LedgerConflict, match="one watch"):
        ledger.open_watch(watch(key="k"))
    assert ledger.spent == PureDP(0.1)


def test_the_tests_of_a_watch_are_rationed_as_questions_are(world):
    ledger = world.open()
    opened = ledger.open_watch(watch())
    for _ in range(10):
        ledger.answer(ledger.begin_test(opened), b"")
    under_way = [ledger.begin_test(opened) for _ in range(3)]
    with pytest.raises(Rationed, match="at once"):
        ledger.begin_test(opened)
    ledger.abandon(under_way[0])
    world.crash()
    ledger = world.open()
    assert ledger.failures("ann") == 3
    with pytest.raises(Rationed):
        ledger.begin_test(opened)
    assert ledger.spent == PureDP(0.1)
    assert [record.state for record in ledger.history(analyst="ann")] == ["failed"]
    assert ledger.verify().charges == 1


# --- the least price --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("budget", "least", "below", "chosen"),
    [
        (PureDP(2), PureDP(0.0002), PureDP(0.00019), None),
        (ApproxDP(2, 1e-6), PureDP(0.0002), ApproxDP(0.00019, 1e-7), None),
        (ApproxDP(2, 1e-6), PureDP(0.0002), PureDP(0.00019), "advanced"),
        (ZCDP(2), ZCDP(0.0002), ZCDP(0.00019), None),
        (GDP(2), GDP(0.02), GDP(0.019), None),  # mu² adds up: a hundredth of mu is 1e-4 of it
    ],
    ids=["epsilon", "delta", "advanced", "rho", "mu"],
)
def test_a_price_below_the_least_part_of_the_budget_is_refused_before_the_charge(
    world, budget, least, below, chosen
):
    ledger = world.open(budget=budget, filter=chosen)
    for request in (Request(loss=below, question="SELECT 1"), Request(loss=below)):
        with pytest.raises(PolicyViolation, match=r"at least 0\.0001 of the budget"):
            ledger.charge(request)
    with pytest.raises(PolicyViolation):
        ledger.open_watch(Request(loss=below))
    assert "charge" not in kinds(ledger)
    ledger.charge(Request(loss=least))


def test_the_policy_sets_the_ration_and_a_change_is_an_owners_entry(world, names):
    ledger = world.open(ration=Ration(failures=1, least_price=0.5))
    with pytest.raises(PolicyViolation):
        ledger.charge(ask(price=0.4))
    ledger.abandon(ledger.charge(ask(price=0.5)))
    with pytest.raises(Rationed):
        ledger.charge(ask("SELECT 2", price=0.5))
    ledger = world.open(ration=Ration(failures=2))
    assert ledger.history()[-1].kind == "owner"
    ledger.charge(ask("SELECT 2"))
    ledger = world.open()
    assert ledger.failures_left("ann") == 2
    ledger.verify()


@pytest.mark.parametrize(
    "word",
    [
        {"failures": 0},
        {"failures": True},
        {"failures_in_all": 1.5},
        {"watch_tests": -1},
        {"least_price": 0},
        {"least_price": 2},
        {"least_price": "x"},
    ],
    ids=str,
)
def test_a_ration_that_says_nothing_is_refused(word):
    with pytest.raises(InvalidParameter):
        Ration(**word)


# --- planted faults ---------------------------------------------------------------------------------------


def test_verify_refuses_a_charge_beyond_the_allowance(world, names, monkeypatch):
    ledger = world.open()
    monkeypatch.setattr(failing, "left", lambda failures, allowed, analyst: 9)  # the charging side alone
    fail(ledger, names, times=4)
    with pytest.raises(LedgerConflict, match="agree with the entries"):
        ledger.verify()


@pytest.mark.parametrize("edit", ["DELETE FROM failures", "UPDATE failures SET released = 9"])
def test_verify_notices_failures_that_another_hand_removed(sqlite_world, names, edit):
    import sqlite3

    ledger = sqlite_world.open()
    fail(ledger, names, times=3)
    connection = sqlite3.connect(sqlite_world.path)
    with connection:
        connection.execute(edit)
    connection.close()
    with pytest.raises(LedgerConflict, match="every failure"):
        ledger.verify()
