"""Intervals without an end, by every way out: REST, CSV, pages, PostgreSQL's protocol, and read again."""

import csv
import io
import json
import math
import struct

import httpx
import pytest

from postgres.raw import Raw, query, rows
from server.pages.visiting import Visitor
from server.running import UNHURRIED, promptly, write_policy

ASKED = "SELECT city, COUNT(*) AS n, SUM(debt) AS s FROM town GROUP BY city"
ROWS_EACH = 20


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """Everybody has twenty rows, and one counts."""
    folder = tmp_path_factory.mktemp("town")
    policy = write_policy(folder, people=300, epsilon=10_000)
    head, *lines = (folder / "town.csv").read_text().splitlines()
    (folder / "town.csv").write_text("\n".join([head, *lines * ROWS_EACH]) + "\n")
    policy.write_text(policy.read_text().replace("max_groups = 2", "limit = 1").replace("[0,", "[-1000,"))
    with promptly(policy, limits=UNHURRIED) as served:
        yield served


def asked(town, **more):
    return town.ask(ASKED, epsilon=50, **more)


def test_rest_and_csv_say_that_there_is_no_end(town):
    found = asked(town)
    assert found.status == 200, found.body
    told = json.loads(found.body, parse_constant=pytest.fail)  # no Infinity: JSON has none
    for ends in told["intervals"]:
        assert ends["n"][0] is not None
        assert ends["n"][1] is None
        assert ends["s"] == [None, None]
    again = asked(town).json
    assert not again["charged"]
    assert (again["rows"], again["intervals"]) == (told["rows"], told["intervals"])
    charge = told["receipt"]["charge"]
    token = {"authorization": f"Bearer {town.tokens['ann']}"}
    text = httpx.get(f"{town.url}/datasets/town/answers/{charge}.csv", headers=token).text
    (first, *_) = csv.DictReader(line for line in io.StringIO(text) if not line.startswith("#"))
    assert (float(first["n_upper"]), float(first["s_lower"])) == (float("inf"), float("-inf"))


def test_postgresql_has_infinities_in_text_and_binary(town):
    asked(town)
    with Raw(town.postgres.port) as client:
        client.log_in("ann", town.tokens["ann"], **{"discreet.epsilon": "50"})
        client.ask(query("SET discreet.intervals = on"))
        plain = rows(client.ask(query(ASKED)))
        assert all(row[3] == "Infinity" and row[5:] == ("-Infinity", "Infinity") for row in map(tuple, plain))
        copied = client.ask(query(f"COPY ({ASKED}) TO STDOUT (FORMAT binary)"))
        numbers = [payload for kind, payload in copied if kind == b"d"][:-1]
        assert len(numbers) == len(plain)
        assert all(each.endswith(struct.pack("!d", math.inf)) for each in numbers)


def test_pages_show_what_is_known(town):
    charges = [asked(town).json["receipt"]["charge"], town.ask(ASKED, epsilon=60).json["receipt"]["charge"]]
    with Visitor(town) as visitor:
        visitor.signed_in("ann")
        shown = visitor.get(f"/datasets/town/answers/{charges[0]}")
        pair = visitor.get(f"/datasets/town/compare?one={charges[0]}&other={charges[1]}")
    for page in (shown, pair):
        assert page.status_code == 200
        assert " or more" in page.text
        assert ">inf" not in page.text
        assert "nan" not in page.text.lower().replace("finance", "")
    assert ">yes<" not in pair.text
