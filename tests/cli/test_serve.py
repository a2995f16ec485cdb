"""discreet serve, as a process: its start, its stop, and who may come in."""

import contextlib
import http.client
import json
import os
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import pytest

import discreet as dp
from server.process import Process
from server.running import write_policy

COLD_START_S = 3.0


def run(*words):
    done = subprocess.run(
        [sys.executable, "-m", "discreet", *map(str, words)], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def test_the_demo_opens_a_ready_house_with_tokens_and_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with Process("--demo") as demo:
        analyst = dp.connect(demo.facts["address"], token=demo.facts["tokens"]["analyst"])
        plan = analyst.explain("SELECT city, COUNT(*) AS n FROM people GROUP BY city", epsilon=0.5)
        assert any("times the limit that is found" in line for line in plan.sentences())
        owner = dp.connect(demo.facts["address"], token=demo.facts["tokens"]["owner"])
        assert owner.policy.id == "demo"
        assert [table.name for table in owner.policy.tables] == ["people"]
        assert demo.stop() == 0
    assert list(tmp_path.iterdir()) == []


def test_an_empty_folder_is_served_and_its_owners_token_printed_once(tmp_path):
    folder = tmp_path / "house"
    with Process("--folder", str(folder)) as house:
        token = house.facts["tokens"]["owner"]
        assert house.facts["datasets"] == []
        request = urllib.request.Request(
            house.facts["address"] + "/api/datasets", headers={"authorization": f"Bearer {token}"}
        )
        assert json.loads(urllib.request.urlopen(request).read())["datasets"] == []
        house.stop()
    assert folder.stat().st_mode & 0o777 == 0o700
    with Process("--folder", str(folder)) as again:
        assert again.facts["tokens"] == {}
        again.stop()


def test_a_start_that_fails_keeps_no_token_from_its_owner(tmp_path):
    """Shown once means that it is shown: where a port is taken, the next start makes it."""
    folder = tmp_path / "house"
    with Process("--demo") as demo:
        code, _, err = run("serve", "--folder", folder, "--port", str(demo.port))
        assert (code, "free" in err) == (2, True)
    with Process("--folder", str(folder)) as house:
        assert house.facts["tokens"]["owner"]
        house.stop()


def test_a_cold_start_takes_less_than_three_seconds():
    """In processor time of the server: what a machine that does nothing else would take at most.

    The best of three at most: on a machine whose caches others use, the same work takes longer.
    """
    assert any(start_and_stop() < COLD_START_S for _ in range(3))


def start_and_stop():
    before = os.times()
    with Process("--demo") as demo:
        urllib.request.urlopen(demo.facts["address"] + "/health").read()
        demo.stop()
    after = os.times()
    return (after.children_user + after.children_system) - (before.children_user + before.children_system)


def test_people_are_added_listed_given_tokens_and_revoked(tmp_path):
    policy = write_policy(tmp_path)
    code, out, _ = run("serve", "people", "add", "ann", "--role", "owner", "--policy", policy, "--json")
    token = json.loads(out)["token"]
    assert code == 0
    code, _, refusal = run("serve", "people", "revoke", "ann", "--policy", policy)
    assert (code, "last owner" in refusal) == (4, True)
    assert run("serve", "people", "add", "bob", "--role", "owner", "--policy", policy)[0] == 0
    with Process(policy) as server:
        address = server.facts["address"]
        assert dp.connect(address, token=token).remaining.epsilon == 100
        assert run("serve", "people", "revoke", "ann", "--policy", policy)[1] == "1 tokens of ann revoked\n"
        request = urllib.request.Request(f"{address}/api/me", headers={"authorization": f"Bearer {token}"})
        with pytest.raises(urllib.error.HTTPError, match="401") as refused:
            urllib.request.urlopen(request)
        refused.value.close()
        again = run("serve", "people", "token", "ann", "--policy", policy)[1].strip()
        assert dp.connect(address, token=again).history
        listed = json.loads(run("serve", "people", "list", "--policy", policy, "--json")[1])
        assert listed == [{"name": name, "role": "owner", "tokens": 1} for name in ("ann", "bob")]
        server.stop()


def test_a_taken_port_no_policy_and_a_missing_file_are_refused_in_words(tmp_path):
    code, _, err = run("serve")
    assert (code, "policies, a --folder" in err) == (2, True)
    code, _, err = run("serve", "--demo", "--folder", tmp_path / "house")
    assert (code, "--demo alone" in err) == (2, True)
    assert not (tmp_path / "house").exists()
    code, _, err = run("serve", tmp_path / "nowhere.toml")
    assert (code, "readable file" in err) == (2, True)
    with Process("--demo") as demo:
        code, _, err = run("serve", "--demo", "--port", str(demo.port))
        assert (code, "free" in err) == (2, True)


def test_a_killed_server_keeps_its_charges_and_abandons_what_ran(tmp_path):
    policy = write_policy(tmp_path, deadline_s=30)
    _, out, _ = run("serve", "people", "add", "ann", "--policy", policy)
    request = urllib.request.Request(
        "http://", method="POST", headers={"authorization": f"Bearer {out.strip()}"},
        data=json.dumps({"sql": "SELECT COUNT(*) AS n FROM town", "epsilon": 2}).encode(),
    )  # fmt: skip
    with Process(policy) as server, dp.Curator.from_policy(policy) as watching:
        request.full_url = server.facts["address"] + "/api/datasets/town/ask"
        asking = threading.Thread(target=ask_and_wait, args=(request,))
        asking.start()
        while not any(record.kind == "charge" for record in watching.history):
            time.sleep(0.05)
        server.kill()
        asking.join()
    with dp.Curator.from_policy(policy) as curator:
        assert curator.remaining.epsilon == 98
        assert [record.state for record in curator.history if record.kind == "charge"] == ["failed"]
        assert curator.ledger.failures("ann") == 1


def ask_and_wait(request):
    with contextlib.suppress(OSError, http.client.HTTPException):
        urllib.request.urlopen(request, timeout=60)
