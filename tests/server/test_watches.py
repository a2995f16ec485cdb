import time

import pytest

from discreet.server.limits import Limits
from server.running import running, write_policy

COUNT = "SELECT COUNT(*) FROM town"


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    with running(write_policy(tmp_path_factory.mktemp("town"), deadline_s=0.5)) as served:
        yield served


def open_watch(town, **terms):
    reply = town.send("POST", "/api/datasets/town/watch", body={"threshold": 100, "epsilon": 2, **terms})
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


def test_a_test_leaves_when_due(town):
    path = open_watch(town)
    start = time.monotonic()
    town.send("POST", path, body={"sql": f"{COUNT} WHERE person < 0"})
    assert time.monotonic() - start >= 0.5


def test_a_grouped_question_is_refused_and_the_watch_goes_on(town):
    path = open_watch(town)
    refused = town.send("POST", path, body={"sql": "SELECT city, COUNT(*) FROM town GROUP BY city"})
    assert (refused.status, refused.code) == (422, "unsupported_query")
    assert town.send("POST", path, body={"sql": COUNT}).json["above"] is True


def test_a_test_that_is_not_done_when_due_ends_the_watch(town, monkeypatch):
    path = open_watch(town)
    engine = town.house.datasets["town"]._curator._holdings.engine()
    watch = town.house.datasets["town"]._watches._sessions[path.split("/")[-2]].watch
    monkeypatch.setattr(watch, "_run", lambda plan: time.sleep(1.0) or engine.run(plan))
    late = town.send("POST", path, body={"sql": COUNT})
    assert (late.status, late.code) == (503, "engine_failure")
    assert town.send("POST", path, body={"sql": COUNT}).status == 404


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
