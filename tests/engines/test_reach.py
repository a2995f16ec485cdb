"""A live engine is reached before the charge: an outage found there is neither charged nor counted."""

import psycopg
import pytest

import discreet as dp
from discreet.errors import EngineFailure, Rationed
from servers.postgres import PASSWORD


@pytest.fixture
def curator(postgres_database, tmp_path, monkeypatch):
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    with psycopg.connect(postgres_database) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT n AS person, n % 7 AS debt FROM generate_series(1, 50) n"
        )
    place = postgres_database.replace(f":{PASSWORD}@", "@")
    with dp.Curator.open(
        "people", engine=place, unit="person", budget=dp.PureDP(1), ledger=tmp_path / "people.ledger"
    ) as opened:
        yield opened


def question(number):
    return f"SELECT COUNT(*) AS n FROM people WHERE debt > {number}"


def test_a_server_that_is_gone_costs_nothing_and_one_that_is_back_answers(curator, postgres_server):
    ann = curator.for_analyst("ann")
    ann.ask(question(1), epsilon=0.1)
    watch = ann.watch(threshold=1000, epsilon=0.1)
    postgres_server.stop()
    try:
        for number in range(5):
            with pytest.raises(EngineFailure, match="could not be reached"):
                ann.ask(question(10 + number), epsilon=0.1)
        with pytest.raises(EngineFailure, match="could not be reached"):
            watch.test(question(1))
    finally:
        postgres_server.start()
    assert (curator.ledger.failures(), curator.ledger.spent) == (0, dp.PureDP(0.2))
    ann.ask(question(2), epsilon=0.1)
    assert watch.test(question(1)) is False


def test_a_table_that_is_dropped_after_the_charge_is_a_failure_and_the_fourth_is_refused(
    curator, postgres_database
):
    ann = curator.for_analyst("ann")
    ann.ask(question(1), epsilon=0.1)
    with psycopg.connect(postgres_database) as connection:
        connection.execute("DROP TABLE people")
    for number in range(3):
        with pytest.raises(EngineFailure, match="could not run the plan"):
            ann.ask(question(10 + number), epsilon=0.1)
    with pytest.raises(Rationed):
        ann.ask(question(20), epsilon=0.1)
    assert (curator.ledger.failures("ann"), curator.ledger.spent) == (3, dp.PureDP(0.4))
