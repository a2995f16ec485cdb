import asyncio
import time

import pytest

from discreet.apps.server.limits import Limits
from server.faults import planted, slow
from server.running import promptly, running, write_policy

COUNT = "SELECT COUNT(*) FROM town"


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    with promptly(write_policy(tmp_path_factory.mktemp("town"))) as served:
        yield served


@pytest.fixture(scope="module")
def punctual(tmp_path_factory):
    with running(write_policy(tmp_path_factory.mktemp("punctual"), deadline_s=0.5)) as served:
        yield served


def open_watch(town, who="ann", **terms):
    body = {"threshold": 100, "epsilon": 2, **terms}
    reply = town.send("POST", "/api/datasets/town/watch", who=who, body=body)
    assert reply.status == 201, reply.body
    return f"/api/datasets/town/watch/{reply.json['watch']}/test"


def test_a_watch_is_charged_whole_when_opened_and_its_tests_are_free(town):
    before = town.spent().epsilon
    path = open_watch(town)
    assert town.spent().epsilon - before == 2
    below = town.send("POST", path, body={"sql": f"{COUNT} WHERE person < 0"}).json
    above = town.send("POST", path, body={"sql": COUNT}).json
    assert below == {"above": False, "finished": False}
    assert above == {"above": True, "finished": True}
    assert town.spent().epsilon - before == 2
    finished = town.send("POST", path, body={"sql": COUNT})
    assert (finished.status, finished.code) == (409, "finished")


def test_a_test_leaves_when_due(punctual):
    path = open_watch(punctual)
    start = time.monotonic()
    punctual.send("POST", path, body={"sql": f"{COUNT} WHERE person < 0"})
    assert time.monotonic() - start >= 0.5


def test_a_grouped_question_is_refused_and_the_watch_goes_on(town):
    path = open_watch(town)
    refused = town.send("POST", path, body={"sql": "SELECT city, COUNT(*) FROM town GROUP BY city"})
    assert (refused.status, refused.code) == (422, "unsupported_query")
    assert town.send("POST", path, body={"sql": COUNT}).json["above"] is True


def test_a_test_that_is_not_done_when_due_ends_the_watch(punctual):
    path = open_watch(punctual)
    with planted(punctual, slow, seconds=1.0):
        late = punctual.send("POST", path, body={"sql": COUNT})
    assert (late.status, late.code) == (503, "engine_failure")
    assert punctual.send("POST", path, body={"sql": COUNT}).status == 404


def test_the_tests_of_a_watch_come_one_at_a_time(town):
    path = open_watch(town)
    turn = town.service.datasets["town"]._watches._sessions[path.split("/")[-2]].turn
    asyncio.run(turn.acquire())  # another is under way
    refused = town.send("POST", path, body={"sql": COUNT})
    turn.release()
    assert (refused.status, refused.code) == (429, "busy")
    assert town.send("POST", path, body={"sql": COUNT}).status == 200


def test_one_person_may_open_so_many_and_one_more_is_refused_unpaid(tmp_path):
    with running(write_policy(tmp_path), limits=Limits(watches=2)) as town:
        for _ in range(2):
            open_watch(town, epsilon=1)
        refused = town.send("POST", "/api/datasets/town/watch", body={"threshold": 1, "epsilon": 1})
        assert refused.status == 429
        assert town.spent().epsilon == 2
        body = {"threshold": 1, "epsilon": 1}
        assert town.send("POST", "/api/datasets/town/watch", who="bob", body=body).status == 201


def test_a_watch_ends_with_its_process(tmp_path):
    policy = write_policy(tmp_path)
    with running(policy) as town:
        path, tokens = open_watch(town, epsilon=3), town.tokens
    (tmp_path / "town.people").unlink()
    with running(policy) as again:
        assert again.spent().epsilon == 3
        assert again.send("POST", path, body={"sql": COUNT}).status == 404
        assert again.send("GET", "/api/me", who=tokens["ann"]).status == 401


def test_a_key_opens_one_watch_and_stands_for_one_request(town):
    before, path = town.spent().epsilon, "/api/datasets/town/watch"
    body = {"threshold": 100, "epsilon": 1}
    replies = [town.send("POST", path, body=body, idempotency_key="monday") for _ in range(2)]
    assert [reply.status for reply in replies] == [201, 201]
    assert replies[0].json == replies[1].json
    assert town.spent().epsilon - before == 1
    other = town.send("POST", path, body={**body, "threshold": 5}, idempotency_key="monday")
    assert (other.status, other.code) == (409, "ledger_conflict")
    theirs = town.send("POST", path, who="bob", body=body, idempotency_key="monday")
    assert theirs.json != replies[0].json
    assert town.spent().epsilon - before == 2


def test_a_key_whose_watch_is_lost_is_refused_and_not_charged_again(town):
    body = {"threshold": 100, "epsilon": 1}
    opened = town.send("POST", "/api/datasets/town/watch", body=body, idempotency_key="lost").json["watch"]
    town.service.datasets["town"]._watches.drop(opened)
    before = town.spent()
    again = town.send("POST", "/api/datasets/town/watch", body=body, idempotency_key="lost")
    assert (again.status, again.code) == (409, "ledger_conflict")
    assert town.spent() == before


def test_ones_own_watches_are_listed_with_their_rounds_and_stopped(town):
    path = open_watch(town, who="bob")
    town.send("POST", path, who="bob", body={"sql": f"{COUNT} WHERE person < 0"})
    listed = town.send("GET", "/api/datasets/town/watch", who="bob").json["watches"]
    (mine,) = (each for each in listed if each["watch"] in path)
    assert mine["terms"] == {"threshold": "100", "epsilon": "2"}
    (only,) = mine["rounds"]
    assert only.pop("time").startswith("20")
    assert only == {"sql": f"{COUNT} WHERE person < 0", "above": False}
    assert mine["watch"] not in town.send("GET", "/api/datasets/town/watch").body.decode()
    stop = path.removesuffix("/test")
    assert town.send("DELETE", stop, who="ann").status == 404
    assert town.send("DELETE", stop, who="bob").json == {"stopped": mine["watch"]}
    assert town.send("POST", path, who="bob", body={"sql": COUNT}).status == 404
