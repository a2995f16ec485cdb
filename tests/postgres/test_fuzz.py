"""Fuzzed bytes and mutated messages: no crash, no charge, no data."""

import random
import socket
import struct

import pytest

from postgres.raw import (
    SSL_REQUEST,
    SYNC,
    Raw,
    bind,
    describe,
    errors,
    execute,
    message,
    parse,
    query,
    rows,
    startup,
)
from server.running import promptly, write_policy

CANARY = "shop0"  # a value of the data that the policy does not know
STATES = {  # the only codes that may be sent
    "08P01", "0A000", "22003", "22023", "22P02", "25006", "25P01", "25P02", "26000", "28000", "28P01",
    "34000", "3B001", "3D000", "42501", "42601", "42702", "42703", "42704", "42804", "42P01", "42P03",
    "42P05", "53300", "53400", "54000", "54001", "55000", "55P02", "57014",
}  # fmt: skip
CORPUS = [
    query("SELECT city, COUNT(*) AS n FROM town GROUP BY city"),
    query("SELECT shop, COUNT(*) AS n FROM town GROUP BY shop"),
    query("SELECT * FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid WHERE c.relname ~ '^(town)$'"),
    query("SELECT typname, oid::regtype::text, unnest(ARRAY[1, 2]) FROM pg_type LIMIT 5"),
    query("EXPLAIN (FORMAT JSON) SELECT COUNT(*) FROM town WHERE shop = 'x'"),
    query("COPY (SELECT city, COUNT(*) AS n FROM town GROUP BY city) TO STDOUT (FORMAT binary)"),
    query("SAVEPOINT a; SET LOCAL x.y = 'z'; ROLLBACK TO a; SHOW ALL; RESET ALL; DISCARD ALL"),
    query("SELECT DISTINCT city FROM town ORDER BY 1 LIMIT 2"),
    query("SELECT * FROM (SELECT debt, shop FROM town) t LIMIT 0"),
    parse("SELECT COUNT(*) AS n FROM town WHERE debt > $1 AND shop = $2", "s", (701, 25))
    + describe(b"S", "s") + bind("p", "s", (b"1.5", b"x")) + describe(b"P", "p") + execute("p", 1) + SYNC,
    parse("SELECT $1::int + 1", "", (0,)) + bind("", "", (b"4",)) + execute() + SYNC,
    message(b"C", b"Ss\0") + message(b"H") + SYNC,
]  # fmt: skip


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    with promptly(write_policy(tmp_path_factory.mktemp("town"), epsilon=100)) as served:
        yield served


def mutate(source: bytes, chance: random.Random) -> bytes:
    """The bytes with a few changes: flipped, cut, doubled, moved, or with another length."""
    found = bytearray(source)
    for _ in range(chance.randint(1, 6)):
        place = chance.randrange(len(found) or 1)
        kind = chance.randrange(6)
        if kind == 0 and found:
            found[place % len(found)] = chance.randrange(256)
        elif kind == 1:
            del found[place : place + chance.randint(1, 8)]
        elif kind == 2:
            found[place:place] = chance.randbytes(chance.randint(1, 8))
        elif kind == 3 and len(found) > 5:
            found[1:5] = struct.pack("!i", chance.choice([-1, 0, 3, 4, 5, len(found), 2**31 - 1, 200_000]))
        elif kind == 4:
            found[place:place] = found[: chance.randint(1, 40)]
        else:
            other = chance.choice(CORPUS)
            found[place:] = other[chance.randrange(len(other)) :]
    return bytes(found)


def check(received: bytes) -> None:
    assert CANARY.encode() not in received
    assert b"Traceback" not in received
    assert b"duckdb" not in received.lower()
    assert b"sqlglot" not in received.lower()


def drain(client: Raw) -> bytes:
    """Everything that still comes, once the client has said its last."""
    found = b""
    try:
        client.socket.shutdown(socket.SHUT_WR)
        while part := client.socket.recv(65536):
            found += part
    except OSError:
        pass
    return found


def states(received: bytes) -> set[str]:
    """The codes of all errors in a stream of messages."""
    found, place = [], 0
    while place + 5 <= len(received):
        (length,) = struct.unpack("!i", received[place + 1 : place + 5])
        found.append((received[place : place + 1], received[place + 5 : place + 1 + length]))
        place += 1 + length
    return {each["C"] for each in errors(found)}


def attack(town, seed: int, count: int) -> None:
    """Mutated messages after a good log-in without a price, so that any charge is one too many."""
    chance = random.Random(seed)
    for _ in range(count):
        with Raw(town.postgres.port) as client:
            client.log_in("ann", town.tokens["ann"])
            sent = b"".join(mutate(chance.choice(CORPUS), chance) for _ in range(chance.randint(1, 3)))
            try:
                client.send(sent)
            except OSError:
                continue
            received = drain(client)
            check(received)
            assert states(received) <= STATES, (seed, sent)
    assert town.spent().epsilon == 0


def attack_strangers(town, seed: int, count: int) -> None:
    """Bytes of strangers, before any log-in."""
    chance = random.Random(seed)
    sources = [
        startup("ann"),
        SSL_REQUEST + startup("ann"),
        struct.pack("!iiiI", 16, 80877102, 1, 7),
        *CORPUS,
    ]
    for _ in range(count):
        with Raw(town.postgres.port) as client:
            try:
                client.send(
                    mutate(chance.choice(sources), chance) if chance.random() < 0.8 else chance.randbytes(200)
                )
                check(drain(client))
            except OSError:
                continue


def is_well(town) -> None:
    with Raw(town.postgres.port) as client:
        assert rows(client.log_in("ann", town.tokens["ann"]).ask(query("SELECT 1"))) == [("1",)]
    assert town.spent().epsilon == 0


@pytest.mark.parametrize("seed", range(3))
def test_mutated_messages(town, seed):
    attack(town, seed, 60)
    attack_strangers(town, seed, 60)
    is_well(town)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 110))
def test_ten_thousand_mutated_messages(town, seed):
    attack(town, seed, 1000)
    attack_strangers(town, seed, 300)
    is_well(town)
