"""Parameters that must be refused, at every entry point: a 4xx, and nothing is charged."""

import json

import pytest

from server.running import promptly, write_policy

NUMBERS = [
    "NaN", "Infinity", "-Infinity", "-1", "0", "-0.0", "1e-320", "1e308", "1e999",
    "1e-999999999", "1e999999999", "true", "false", '"1"', '"1/3"', '"1_0"', "[1]", "{}",
    "1" * 5000, "0." + "1" * 5000, "10001", "٣",
]  # fmt: skip
DELTAS = ["NaN", "-1e-9", "1", "1.0000001", "true", '"0"', "[0]"]
PATHS = ["ask", "explain"]
COUNT = "SELECT COUNT(*) AS n FROM town"
# What is garbage for a price, and a number like any other elsewhere.
REASONABLE = {
    *((name, "10001") for name in ("rho", "within", "count", "sensitivity")),
    *((name, number) for name in ("within", "sensitivity") for number in ("1e308", "1e-320")),
}


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    with promptly(write_policy(tmp_path_factory.mktemp("town"))) as served:
        yield served


def refuse(town, path, body, statuses=(400, 422)):
    before = town.spent()
    reply = town.send("POST", f"/api/datasets/town/{path}", body=body)
    assert town.spent() == before
    assert reply.status in statuses, reply.body
    assert set(reply.json) == {"error"}
    assert set(reply.json["error"]) == {"code", "message", "fields"}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("number", NUMBERS, ids=lambda text: text[:20])
def test_epsilon_and_rho_and_within(town, path, number):
    for name in ("epsilon", "rho", "within"):
        if (name, number) not in REASONABLE:
            refuse(town, path, f'{{"sql": "{COUNT}", "{name}": {number}}}'.encode())
    if ("within", number) not in REASONABLE:
        refuse(town, path, f'{{"sql": "{COUNT}", "within": {{"n": {number}}}}}'.encode())


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("delta", DELTAS)
def test_delta_and_confidence(town, path, delta):
    refuse(town, path, f'{{"sql": "SELECT COUNT(*) FROM town", "epsilon": 1, "delta": {delta}}}'.encode())
    refuse(
        town, path, f'{{"sql": "SELECT COUNT(*) FROM town", "epsilon": 1, "confidence": {delta}}}'.encode()
    )


@pytest.mark.parametrize("number", NUMBERS, ids=lambda text: text[:20])
def test_every_number_of_a_watch(town, number):
    for name in ("epsilon", "sensitivity", "count"):
        if (name, number) in REASONABLE:
            continue
        terms = {"threshold": "1", "epsilon": "0.1", name: number}
        body = "{" + ", ".join(f'"{each}": {value}' for each, value in terms.items()) + "}"
        refuse(town, "watch", body.encode())
    for threshold in ("NaN", "true", '"1"', "1e999999", "[1]"):
        refuse(town, "watch", f'{{"threshold": {threshold}, "epsilon": 0.1}}'.encode())


@pytest.mark.parametrize("path", [*PATHS, "watch", "watch/x/test"])
@pytest.mark.parametrize(
    "body",
    [
        b"", b"null", b"[]", b"1", b"{", b"\xff\xfe", b"{}", b'{"sql": 1, "epsilon": 1}', b'{"sql": null}',
        b'{"sql": "", "epsilon": 1}', b'{"sql": [], "epsilon": 1}', b'{"sql": [""], "epsilon": 1}',
        b'{"sql": "SELECT COUNT(*) FROM town", "epsilon": 1, "epsilon": 0.1}',
        b'{"sql": "SELECT COUNT(*) FROM town", "epsilon": 1, "seed": 7}',
        b'{"sql": "SELECT COUNT(*) FROM town", "epsilon": 1, "analyst": "bob"}',
        b'{"sql": "SELECT COUNT(*) FROM town\\u0000", "epsilon": 1}',
        b'{"sql": "SELECT COUNT(*) AS \\ud800 FROM town", "epsilon": 1}',
        b'{"sql": "SELECT COUNT(*) FROM town"}',
        b'{"sql": "SELECT COUNT(*) FROM town", "epsilon": 1, "rho": 1}',
        b"[" * 50_000, b'{"sql":' * 5_000,
    ],
    ids=lambda body: body[:24],
)  # fmt: skip
def test_bodies(town, path, body):
    refuse(town, path, body, statuses=(400, 404, 422) if path.endswith("test") else (400, 422))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM town", "DROP TABLE town", "SELECT 1; SELECT 2", "COPY town TO 'x'", "(" * 3000,
        "SELECT COUNT(*) FROM read_csv('town.csv')", "SELECT " + "-" * 9999 + "1",
        COUNT + " WHERE " + "NOT " * 4000 + "TRUE", COUNT + " WHERE debt IN (" + ",".join(["1"] * 8000) + ")",
        "SELECT COUNT(*) FROM duckdb_tables()", "x" * 20_001, "SELECT COUNT(*) FROM nowhere",
    ],
    ids=lambda sql: sql[:30],
)  # fmt: skip
def test_questions(town, sql):
    body = json.dumps({"sql": sql, "epsilon": 0.1}).encode()
    refuse(town, "ask", body, statuses=(400, 403, 422))


@pytest.mark.parametrize("key", ["", "x" * 201, "a\tb"])
def test_keys(town, key):
    body = {"sql": "SELECT COUNT(*) FROM town", "epsilon": 0.1}
    reply = town.send("POST", "/api/datasets/town/ask", body=body, idempotency_key=key)
    assert reply.status == 400


@pytest.mark.parametrize("name", ["..", "%2e%2e%2f", "TOWN", "town%00", "a" * 3000, "%ff", "town%2Fask"])
def test_names_of_data_sets(town, name):
    assert town.send("GET", f"/api/datasets/{name}").status in (404, 405)
    assert town.send("GET", f"/api/datasets/town/receipts/{name}").status in (404, 405)


@pytest.mark.parametrize(
    "body",
    [
        {"name": "eve"}, {"name": "eve", "role": "root"}, {"name": "a/b", "role": "owner"}, {"role": "owner"},
        {"name": "eve", "role": "owner", "days": 0}, {"name": "eve", "role": "owner", "days": True},
        {"name": "eve", "role": "owner", "days": 1e300}, {"name": ["eve"], "role": "owner"}, [], None,
    ],
    ids=repr,
)  # fmt: skip
def test_people(town, body):
    before = town.service.people.everyone()
    assert town.send("POST", "/api/people", who="olga", body=body or b"").status == 400
    assert town.service.people.everyone() == before
