"""Fuzzed prices: what is charged is exactly the price that the session shows, and nothing without one."""

import random
import re
from fractions import Fraction

import pytest

from postgres.raw import SYNC, Raw, bind, describe, errors, execute, parse, query, rows
from postgres.test_fuzz import CORPUS, STATES, check, drain, mutate, states
from server.running import promptly, write_policy

LEAST = Fraction(1, 100)  # the least price of a budget of 100
SETTINGS = [
    "SET discreet.epsilon = 0.01",
    "SET SESSION discreet.epsilon TO '0.02'",
    "SET discreet.epsilon = '1e-2'",
    "SELECT set_config('discreet.epsilon', '0.03', false)",
    "SET discreet.rho = 0.01",
    "SET discreet.within = 'n = 900'",
    "SET discreet.delta = 1e-9",
    "SET discreet.confidence = 0.9",
    "SET discreet.bounds = auto",
    "SET discreet.intervals = on",
    "BEGIN; SET LOCAL discreet.epsilon = 0.02; SAVEPOINT a; SET discreet.epsilon = 9; ROLLBACK TO a",
    "SET discreet.epsilon = 0.04; RESET discreet.epsilon",
    "SET discreet.epsilon = 0.05; DISCARD ALL",
]
NUMBER = re.compile(r"[+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    with promptly(write_policy(tmp_path_factory.mktemp("town"), epsilon=100)) as served:
        yield served


def spent(town):
    return town.spent().epsilon


def change(text: str, chance: random.Random) -> bytes:
    """A statement with a few letters changed, as a simple query or prepared."""
    letters = list(text)
    for _ in range(chance.randint(0, 2)):
        place = chance.randrange(len(letters))
        letters[place : place + chance.randint(0, 2)] = chance.choice(
            [
                "",
                "0",
                "9",
                ".",
                "-",
                "e",
                "'",
                "''",
                " ",
                "\0",
                "1e400",
                "NaN",
                "inf",
                "0x1",
                "½",
                "١",
                ";",
                "$1",
            ]
        )
    said = "".join(letters)
    if chance.random() < 0.3:
        return parse(said) + bind() + describe(b"P") + execute() + SYNC
    return query(said)


def shown(client: Raw) -> dict[str, str]:
    """The session's prices as it says them; none where the connection or its transaction has ended."""
    found = {}
    for name in ("epsilon", "rho", "within"):
        answered = client.ask(query(f"SHOW discreet.{name}"))
        found[name] = rows(answered)[0][0] if rows(answered) else ""
    return found


def attack_prices(town, seed: int, count: int) -> int:
    """Set a mutated price and ask a good question; returns how many were charged."""
    chance, charged = random.Random(seed), 0
    for number in range(count):
        with Raw(town.postgres.port) as client:
            client.log_in("ann", town.tokens["ann"])
            try:
                for _ in range(chance.randint(1, 3)):
                    client.ask(change(chance.choice(SETTINGS), chance))
                client.ask(query("ROLLBACK" if chance.random() < 0.3 else "SELECT 2"))
                prices, before = shown(client), spent(town)
                asked = f"SELECT COUNT(*) AS n FROM town WHERE debt > {seed}.{number:04}1"
                answered = client.ask(query(asked))
            except (OSError, EOFError):
                continue
            paid = spent(town) - before
            assert {each["C"] for each in errors(answered)} <= STATES
            if errors(answered) or not rows(answered):
                assert paid == 0, (seed, number, prices)
                continue
            stated = [name for name, value in prices.items() if value]
            assert stated, (seed, number)
            charged += 1
            if stated == ["epsilon"]:
                assert NUMBER.fullmatch(prices["epsilon"]), prices
                assert paid == Fraction(prices["epsilon"]), (seed, number, prices)
            assert paid >= LEAST
    return charged


def attack_questions(town, seed: int, count: int) -> None:
    """Mutated messages after a good price: what they are charged is at most that price each."""
    chance = random.Random(seed)
    for _ in range(count):
        with Raw(town.postgres.port) as client:
            client.log_in("ann", town.tokens["ann"]).ask(query(f"SET discreet.epsilon = {float(LEAST)}"))
            before, several = spent(town), chance.randint(1, 3)
            sent = [mutate(chance.choice(CORPUS), chance) for _ in range(several)]
            try:
                client.send(*sent)
            except OSError:
                continue
            received = drain(client)
            check(received)
            assert states(received) <= STATES, (seed, sent)
            asks = sum(each.count(b"SELECT") + each.count(b"E\0\0\0") for each in sent)
            assert spent(town) - before <= LEAST * asks, (seed, sent)
            assert (spent(town) - before) % LEAST == 0


def is_well(town) -> None:
    with Raw(town.postgres.port) as client:
        assert rows(client.log_in("ann", town.tokens["ann"]).ask(query("SELECT 1"))) == [("1",)]
    town.service.datasets["town"]._curator.ledger.verify()


@pytest.mark.parametrize("seed", range(2))
def test_mutated_prices(town, seed):
    assert attack_prices(town, seed, 60) >= 5
    attack_questions(town, seed, 20)
    is_well(town)


def test_a_price_that_is_read_otherwise_than_it_is_shown_is_seen(town, monkeypatch):
    """A planted fault: a session whose price is not what it says."""
    from discreet.apps.postgres.settings import Settings

    terms = Settings.terms

    def doubled(self):
        found = terms(self)
        return found | ({"epsilon": 2 * found["epsilon"]} if "epsilon" in found else {})

    monkeypatch.setattr(Settings, "terms", doubled)
    with pytest.raises(AssertionError):
        attack_prices(town, 77, 40)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 110))
def test_thousands_of_mutated_prices(town, seed):
    attack_prices(town, seed, 300)
    attack_questions(town, seed, 200)
    is_well(town)
