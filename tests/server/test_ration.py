"""Over HTTP an analyst who fails on purpose is stopped after the allowance, until an owner has looked."""

import pytest

from server.faults import failing, planted, slow
from server.running import promptly, running, write_policy

RELEASE = "/api/datasets/town/failures/release"
BUDGET = "/api/datasets/town/budget"


def question(number):
    return f"SELECT COUNT(*) AS n FROM town WHERE debt > {number}"


@pytest.fixture
def town(tmp_path):
    with promptly(write_policy(tmp_path)) as served:
        yield served


def test_after_the_allowance_asking_waits_for_an_owner(town):
    with planted(town, failing):
        replies = [town.ask(question(number), epsilon=0.1) for number in range(3)]
    assert {(reply.status, reply.code) for reply in replies} == {(503, "engine_failure")}
    spent = town.spent()
    refused = town.ask(question(50), epsilon=0.1)
    assert (refused.status, refused.code) == (403, "rationed")
    assert "yours" in refused.json["error"]["message"]
    assert town.spent() == spent
    assert town.ask(question(50), epsilon=0.1, who="bob").status == 200
    assert town.send("GET", BUDGET).json["failures"] == {"counted": 3, "left": 0}
    assert town.send("GET", BUDGET, who="olga").json["failures"]["by_analyst"] == {"ann": 3}
    assert town.send("POST", RELEASE, body={"reason": "please"}).status == 403  # not an owner
    released = town.send("POST", RELEASE, who="olga", body={"reason": "a broken disk", "analyst": "ann"})
    assert (released.status, released.json) == (200, {"released": 3})
    assert town.ask(question(50), epsilon=0.1).status == 200
    kinds = [
        record["kind"]
        for record in town.send("GET", "/api/datasets/town/history", who="olga").json["history"]
    ]
    assert kinds.count("release") == 1


def test_the_same_question_or_key_again_is_the_same_failure_and_free(town):
    with planted(town, failing):
        first = town.ask(question(1), epsilon=0.1, key="k")
    spent = town.spent()
    again = [town.ask(question(1), epsilon=0.1, key=key) for key in ("k", "other", None)]
    assert [reply.body for reply in again] == [first.body] * 3
    assert town.spent() == spent
    assert town.send("GET", BUDGET).json["failures"]["counted"] == 1


def test_what_is_late_counts_when_it_is_due(tmp_path):
    with running(write_policy(tmp_path, deadline_s=0.3)) as town:
        town.ask("SELECT COUNT(*) AS warm FROM town", epsilon=0.1)
        ledger = town.service.datasets["town"]._curator.ledger
        before = ledger.failures("ann")  # on a busy machine the first may have been late as well
        with planted(town, slow, seconds=0.6):
            late = town.ask(question(1), epsilon=0.1)
        assert (late.status, late.code) == (503, "engine_failure")
        assert ledger.failures("ann") == before + 1


def test_a_test_of_a_watch_that_fails_is_counted_and_the_watch_is_gone(town):
    for number in range(3):
        opened = town.send("POST", "/api/datasets/town/watch", body={"threshold": 100, "epsilon": 1})
        path = f"/api/datasets/town/watch/{opened.json['watch']}/test"
        with planted(town, failing):
            assert town.send("POST", path, body={"sql": question(number)}).status == 503
        assert town.send("POST", path, body={"sql": question(number)}).status == 404
    assert town.ask(question(50), epsilon=0.1).code == "rationed"
    refused = town.send("POST", "/api/datasets/town/watch", body={"threshold": 100, "epsilon": 1})
    assert (refused.status, refused.code) == (403, "rationed")


def test_a_price_below_the_least_is_refused_unpaid(town):
    refused = town.ask(question(1), epsilon=0.001)  # of 100
    assert (refused.status, refused.code) == (403, "policy_violation")
    assert town.spent().epsilon == 0


def test_a_decision_on_an_approval_is_an_entry_of_the_chain(tmp_path):
    with promptly(write_policy(tmp_path, server="approve_above = { epsilon = 1 }")) as town:
        waiting = town.ask(question(1), epsilon=2).json["approval"]
        path = f"/api/datasets/town/approvals/{waiting}"
        for _ in range(2):  # what was decided is decided once
            assert town.send("POST", path, who="olga", body={"decision": "approved"}).status == 200
        history = town.send("GET", "/api/datasets/town/history", who="olga").json["history"]
        (decision,) = [record for record in history if record["kind"] == "decision"]
        assert (decision["analyst"], decision["state"]) == ("ann", "approved")
        assert town.ask(question(1), epsilon=2).status == 200
        assert town.send("GET", "/api/datasets/town/verify", who="olga").status == 200
