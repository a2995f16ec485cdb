"""Spark lost in the middle of a question: one constant error or the right answer, the charge kept, no part of
an answer; and asking again works."""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from servers.spark import PATIENCE_S, ConnectServer, small_settings

ROWS, PEOPLE, FILES = 5_000, 1_000, 4
IN_FLIGHT_S = 3  # what is paused is killed when the question is certainly under way
CONSTANT = "The engine could not run the plan. Nothing was released; the charge is kept."


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Where the rows lie, in files for several tasks, and how many are in each group (no limit binds)."""
    folder = tmp_path_factory.mktemp("rows") / "t.parquet"
    folder.mkdir()
    ids = np.arange(ROWS)
    groups = (ids * 7919 // PEOPLE) % 5
    rows = pa.table({"person": ids % PEOPLE, "g": groups, "amount": (ids % 10).astype(float)})
    for index in range(FILES):
        part = rows.slice(index * ROWS // FILES, ROWS // FILES)
        pq.write_table(part, folder / f"part{index}.parquet")
    counted = Counter(groups.tolist())
    return folder, [counted[group] for group in range(5)]


class Client:
    """A curator in a process of its own."""

    def __init__(self, engine, path, folder):
        program = Path(__file__).with_name("spark_client.py")
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", program, engine, path, folder / "t.ledger"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env=os.environ | small_settings(folder),
        )  # fmt: skip
        assert self.answer() == {"ready": True}

    def say(self, line):
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def answer(self):
        return json.loads(self._process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.wait(PATIENCE_S)
        self._process.stdout.close()


def assert_answered(answer, counts):
    assert "counts" in answer, answer
    assert all(abs(ours - true) <= 2 for ours, true in zip(answer["counts"], counts, strict=True))


def assert_failed(answer):
    assert (answer["error"], answer["message"], answer["cause"]) == ("engine_failure", CONSTANT, "None")
    assert answer["remaining"] == "9500"  # charged


def assert_answers_again(client, counts):
    client.say("ask 400")
    again = client.answer()
    assert_answered(again, counts)
    assert again["remaining"] == "9100"


def test_a_worker_killed_in_mid_question_costs_an_answer_at_most(spark_cluster, table, tmp_path):
    path, counts = table
    with Client(spark_cluster.address, path, tmp_path) as client:
        spark_cluster.pause_worker()
        client.say("ask 500")
        time.sleep(IN_FLIGHT_S)
        spark_cluster.kill_worker()
        first = client.answer()
        if "error" in first:
            assert_failed(first)
        else:
            assert_answered(first, counts)  # the other worker did what was lost again
        assert first["remaining"] == "9500"  # charged either way
        assert_answers_again(client, counts)  # on the worker that is left


def test_a_driver_killed_in_mid_question_is_one_constant_and_comes_again(table, tmp_path):
    path, counts = table
    with Client("local[2]", path, tmp_path) as client:
        client.say("die 500")
        assert_failed(client.answer())
        assert_answers_again(client, counts)


def test_a_lost_connection_is_one_constant_and_comes_again(table, tmp_path):
    path, counts = table
    with ConnectServer() as server, Client(server.address, path, tmp_path) as client:
        client.say("wait 500")
        assert client.answer() == {"under way": True}
        server.pause()
        time.sleep(IN_FLIGHT_S)
        server.kill()
        assert_failed(client.answer())
        with ConnectServer(server.port):
            assert_answers_again(client, counts)
