"""What an owner changes on the page holds at once, is in file and ledger, and changes nothing else."""

import re
import tomllib
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

import discreet as dp
from discreet.errors import InvalidParameter, PolicyViolation
from server.pages.visiting import COUNT, Visitor
from server.running import UNHURRIED, promptly, running, write_policy

RAISE = "/owner/datasets/town/budget"
CHANGE = "/owner/datasets/town/policy"


@pytest.fixture
def town(tmp_path):
    policy = write_policy(tmp_path / "town", epsilon=10)
    policy.write_text(policy.read_text().replace("max_groups = 2", 'limit = 2   # rows of a "person"'))
    with promptly(policy) as served:
        yield served


@pytest.fixture
def olga(town):
    with Visitor(town) as visitor:
        yield visitor.signed_in("olga")


def written(town):
    return tomllib.loads((town.folder / "town.toml").read_text())


def budget(town, who="olga"):
    return town.send("GET", "/api/datasets/town/budget", who=who).json


def test_a_raised_budget_is_one_number_everywhere_and_outlives_a_restart(town, olga):
    town.ask(COUNT, epsilon=1)
    fields = {"epsilon": "12.5", "delta": "0.000001", "reason": "the second year"}
    reply = olga.send_form(RAISE, seen_at="/owner", **fields)
    assert reply.headers["location"] == "/owner?done=raised#budgets"
    assert (budget(town)["budget"]["epsilon"], budget(town)["remaining"]["epsilon"]) == (12.5, 11.5)
    assert budget(town, "ann")["remaining"]["epsilon"] == 11.5
    assert 'discreet_budget{dataset="town",measure="epsilon"} 12.5' in metrics(town)
    assert written(town)["dataset"]["budget"] == {"epsilon": 12.5, "delta": 1e-6}
    assert town.send("GET", "/api/datasets/town", who="ann").json["budget"]["epsilon"] in (12.5, "25/2")
    assert town.ask(COUNT, epsilon=1).json["charged"] is False  # what was answered stays free
    with running(town.folder / "town.toml", limits=UNHURRIED) as again:
        curator = again.service.datasets["town"]._curator
        assert curator.remaining.epsilon == 11.5
        curator.for_analyst("ann").ask(COUNT, epsilon=1)  # and free after a restart, too
        assert curator.remaining.epsilon == 11.5


def metrics(town):
    return town.send("GET", "/metrics", who="olga").body.decode()


@pytest.mark.parametrize(
    "fields",
    [
        {"epsilon": "9", "delta": "0.000001", "reason": "less"},
        {"epsilon": "12", "reason": "no delta"},
        {"epsilon": "12", "delta": "0.000001", "reason": " "},
        {"epsilon": "lots", "delta": "0.000001", "reason": "why"},
    ],
)
def test_a_budget_that_cannot_be_changes_nothing(town, olga, fields):
    before = (town.folder / "town.toml").read_bytes()
    reply = olga.send_form(RAISE, seen_at="/owner", **fields)
    assert 400 <= reply.status_code < 500
    assert budget(town)["budget"]["epsilon"] == 10
    assert (town.folder / "town.toml").read_bytes() == before


def test_a_budget_that_the_file_says_otherwise_is_raised_and_the_owner_told(town, olga):
    path = town.folder / "town.toml"
    path.write_text(
        path.read_text()
        .replace("budget = { epsilon = 10, delta = 1e-6 }", "")
        .replace("[server]", "[dataset.budget]\nepsilon = 10\ndelta = 1e-6\n[server]")
    )
    fields = {"epsilon": "11", "delta": "0.000001", "reason": "more"}
    reply = olga.send_form(RAISE, seen_at="/owner", **fields)
    assert "done=raised_alone" in reply.headers["location"]
    assert budget(town)["budget"]["epsilon"] == 11
    assert "Write the same in the policy file" in olga.get(reply.headers["location"]).text


def test_a_new_version_makes_new_answers_and_keeps_the_old(town, olga):
    first = town.ask(COUNT, epsilon=1).json
    reply = olga.send_form(CHANGE, seen_at="/owner", **{"dataset.version": "2026-12"})
    assert reply.status_code == 303
    again = town.ask(COUNT, epsilon=1).json
    assert (first["charged"], again["charged"]) == (True, True)
    assert budget(town)["remaining"]["epsilon"] == 8
    kept = olga.get(f"/datasets/town/answers/{first['receipt']['charge']}.json").json()
    assert kept["receipt"]["version"] == "1"
    assert written(town)["dataset"]["version"] == "2026-12"
    records = town.send("GET", "/api/datasets/town/history", who="olga").json["history"]
    assert "opened with other labels" in [each.get("reason") for each in records]


def test_limits_hold_from_the_next_question(town, olga):
    fields = {"server.approve_above": "0.5", "tables.town.limit": "3", "dataset.population": "400"}
    assert olga.send_form(CHANGE, seen_at="/owner", **fields).status_code == 303
    assert town.ask(COUNT, epsilon=0.6).status == 202
    assert town.ask(COUNT, epsilon=0.5).status == 200
    text = (town.folder / "town.toml").read_text()
    assert "limit = 3" in text
    assert '# rows of a "person"' in text
    assert written(town)["server"]["approve_above"] == {"epsilon": 0.5, "delta": 1e-6}
    emptied = {"server.approve_above": "", "dataset.population": ""}
    assert olga.send_form(CHANGE, seen_at="/owner", **emptied).status_code == 303
    assert town.ask(COUNT, epsilon=0.7).status == 200
    assert "population" not in written(town)["dataset"]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"dataset.population": "many"}, "population must be a number"),
        ({"tables.town.limit": "0"}, "limit"),
        ({"server.deadline_s": "0"}, "deadline_s"),
        ({"server.approve_above": '1 }\nid = "x"'}, "approve_above must be a number"),
    ],
)
def test_what_cannot_be_changes_nothing(town, olga, fields, said):
    before = (town.folder / "town.toml").read_bytes()
    reply = olga.send_form(CHANGE, seen_at="/owner", **fields)
    assert 400 <= reply.status_code < 500
    assert said in reply.text
    assert (town.folder / "town.toml").read_bytes() == before
    assert town.ask(COUNT, epsilon=1).status == 200


def test_nothing_else_of_the_policy_can_be_sent(town, olga):
    before = (town.folder / "town.toml").read_bytes()
    fields = {
        "dataset.id": "other",
        "tables.town.unit": "city",
        "dataset.per_analyst": "1",
        "ledger.place": "x",
    }
    assert olga.send_form(CHANGE, seen_at="/owner", **fields).status_code == 303
    assert (town.folder / "town.toml").read_bytes() == before
    with Visitor(town) as ann:
        ann.signed_in("ann")
        sent = ann.send_form(CHANGE, seen_at="/datasets", **{"dataset.version": "9"})
        assert sent.status_code == 403
    assert (town.folder / "town.toml").read_bytes() == before


def test_an_open_watch_is_not_ended_by_a_change(town, olga):
    with Visitor(town) as ann:
        ann.signed_in("ann")
        sent = ann.send_form(
            "/datasets/town/watches",
            seen_at="/datasets/town/watches",
            threshold="9",
            epsilon="1",
            count="1",
            key="k",
        )
        assert sent.status_code == 303
        refused = olga.send_form(CHANGE, seen_at="/owner", **{"dataset.version": "2"})
        assert refused.status_code == 400
        assert "no watch is open" in refused.text
        assert "Above 9?" in ann.get("/datasets/town/watches").text


def test_a_budget_in_mu_is_raised_in_mu(tmp_path):
    policy = write_policy(tmp_path / "town")
    policy.write_text(policy.read_text().replace("{ epsilon = 100, delta = 1e-6 }", "{ mu = 2 }"))
    with promptly(policy) as served, Visitor(served) as owner:
        owner.signed_in("olga")
        assert 'placeholder="now 2"' in owner.get("/owner").text  # mu itself, though its square adds up
        assert owner.send_form(RAISE, seen_at="/owner", mu="3", reason="more").status_code == 303
        assert written(served)["dataset"]["budget"] == {"mu": 3}
        assert 'placeholder="now 3"' in owner.get("/owner").text


def test_of_two_owners_none_undoes_the_others_change_unseen(town, olga):
    page = olga.get("/owner").text
    (seen,) = re.findall('name="seen" value="([0-9a-f]+)"', page)
    first = {"dataset.version": "2", "server.deadline_s": "1", "seen": seen}
    assert olga.send_form(CHANGE, seen_at="/owner", **first).status_code == 303
    second = {"dataset.version": "1", "server.deadline_s": "3", "seen": seen}
    refused = olga.send_form(CHANGE, seen_at="/owner", **second)
    assert (refused.status_code, "changed since" in refused.text) == (400, True)
    assert written(town)["dataset"]["version"] == "2"


def test_two_changes_at_once_are_both_made(town, olga):
    def change(fields):
        with Visitor(town) as owner:
            return owner.signed_in("olga").send_form(CHANGE, seen_at="/owner", **fields).status_code

    fields = [{"dataset.version": "2"}, {"dataset.population": "400"}, {"tables.town.limit": "3"}]
    with ThreadPoolExecutor(3) as threads:
        assert list(threads.map(change, fields)) == [303] * 3
    found = written(town)
    assert found["dataset"]["version"] == "2"
    assert found["dataset"]["population"] == 400
    assert found["tables"]["town"]["limit"] == 3
    now = town.service.datasets["town"].policy
    assert (now.version, now.population, now.tables[0].limit) == ("2", 400, 3)


def test_no_watch_is_opened_while_a_policy_changes(town):
    """It would be charged under one policy, and its questions read by another."""
    terms = {"threshold": 9, "epsilon": 1}
    dataset = town.service.datasets["town"]
    with dataset.changing():
        assert town.send("POST", "/api/datasets/town/watch", body=terms).status == 429
    assert town.send("POST", "/api/datasets/town/watch", body=terms).status == 201
    with pytest.raises(InvalidParameter, match="no watch is open"), dataset.changing():
        pass


def test_a_watch_that_no_one_used_for_long_ends_with_its_policy(town, olga):
    opened = town.send("POST", "/api/datasets/town/watch", body={"threshold": 9, "epsilon": 1}).json["watch"]
    for each in town.service.datasets["town"]._watches._sessions.values():
        each.used -= 10_000
    assert olga.send_form(CHANGE, seen_at="/owner", **{"dataset.version": "2"}).status_code == 303
    path = f"/api/datasets/town/watch/{opened}/test"
    assert town.send("POST", path, body={"sql": "SELECT COUNT(*) FROM town"}).status == 404


def test_a_connected_program_goes_on_after_a_change(town, olga):
    remote = dp.connect(town.url, token=town.tokens["ann"], dataset="town")
    remote.ask(COUNT, epsilon=1)
    change = {"tables.town.limit": "3", "dataset.version": "2"}
    assert olga.send_form(CHANGE, seen_at="/owner", **change).status_code == 303
    assert len(remote.ask(COUNT, epsilon=1)) == 2
    assert remote.policy.version == "2"
    assert olga.send_form(CHANGE, seen_at="/owner", **{"tables.town.limit": "5"}).status_code == 303
    assert any("5" in each for each in remote.explain(COUNT, epsilon=1).sentences())


def test_a_file_that_was_replaced_is_not_read_until_it_has_a_new_version(town, olga):
    """Workers that start later would read it, and those of before have the old rows."""
    path = town.folder / "town.csv"
    path.write_text(path.read_text() + "999,5,Ottawa,shop1\n")
    refused = town.ask(COUNT, epsilon=1)
    assert (refused.status, "one of its files has changed" in refused.body.decode()) == (403, True)
    assert budget(town)["remaining"]["epsilon"] == 10
    assert olga.send_form(CHANGE, seen_at="/owner", **{"dataset.version": "2"}).status_code == 303
    assert town.ask(COUNT, epsilon=1).json["charged"]


def test_a_worker_opens_the_files_that_were_opened_or_none(town):
    resources = town.service.datasets["town"]._curator.resources
    opening = resources.opening()
    opening().close()
    path = town.folder / "town.csv"
    path.write_text(path.read_text() + "999,5,Ottawa,shop1\n")
    with pytest.raises(PolicyViolation, match="files have changed"):
        opening()


def test_psql_sees_the_columns_of_today(town, olga):
    place = {"host": "127.0.0.1", "port": town.postgres.port, "user": "ann", "password": town.tokens["ann"]}
    listed = "SELECT column_name FROM information_schema.columns WHERE table_name = 'town'"

    def columns():
        with psycopg.connect(**place, dbname="town", autocommit=True) as connection:
            return {name for (name,) in connection.execute(listed)}

    assert columns() == {"person", "debt", "city", "shop"}
    path = town.folder / "town.csv"
    path.write_text(path.read_text().replace("\n", ",new\n"))
    assert olga.send_form(CHANGE, seen_at="/owner", **{"dataset.version": "2"}).status_code == 303
    assert columns() == {"person", "debt", "city", "shop", "new"}
