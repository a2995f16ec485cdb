"""One person more or less: everything that a client sees is the same, but for noisy numbers."""

import re
import time
from concurrent.futures import ThreadPoolExecutor

from discreet.apps.postgres import client_session
from postgres.raw import SYNC, Raw, bind, describe, execute, parse, query
from server.running import UNHURRIED, running, write_policy

QUESTIONS = (
    "SELECT city, COUNT(*) AS n FROM town GROUP BY city",
    "SELECT SUM(debt) AS s, AVG(debt) AS a FROM town",
    "SELECT MEDIAN(debt) AS m FROM town",
    "SELECT COUNT(*) AS n FROM town WHERE person = 7",
    "SELECT COUNT(*) AS z FROM town WHERE debt / (person - 7) < 3",
    "SELECT person, COUNT(*) AS n FROM town GROUP BY person",
    "SELECT DISTINCT shop FROM town",
    "SELECT * FROM town WHERE person = 7 LIMIT 0",
    "SELECT reltuples FROM pg_class",
    "SELECT n_live_tup FROM pg_stat_user_tables",
    "SELECT 1 / (person - 7) FROM town",
)
DEADLINE_S = 2.0


def observe(policy):
    with running(policy, limits=UNHURRIED) as town:
        town.service.open_all()
        seen = []
        with Raw(town.postgres.port) as client:
            client.log_in(
                "ann", town.tokens["ann"], **{"discreet.epsilon": "2", "discreet.delta": "0.0000001"}
            )
            for _ in range(2):
                for sql in QUESTIONS:
                    described = client.ask(parse(sql), describe(b"S"), SYNC)
                    start = time.monotonic()
                    found = client.ask(parse(sql), bind(), describe(b"P"), execute(), SYNC)
                    waited = time.monotonic() - start >= DEADLINE_S
                    explained = client.ask(query(f"EXPLAIN {sql}"))
                    seen.append((described, [public(*each) for each in found], waited, explained))
            client.ask(query("SET discreet.intervals = on"))
            seen.append([public(*each) for each in client.ask(query(QUESTIONS[0]))])
    return seen


def public(kind, payload):
    """A message without its noisy numbers: of a row, which cells are missing."""
    if kind != b"D":
        return kind, payload
    return kind, len(re.findall(b"\xff\xff\xff\xff", payload)), payload[:2]


def test_one_person_more_or_less_changes_nothing_but_noisy_numbers(tmp_path):
    policies = [write_policy(tmp_path / str(gone), without=gone, deadline_s=DEADLINE_S) for gone in (None, 7)]
    with ThreadPoolExecutor(2) as both:
        seen, without = both.map(observe, policies)
    assert seen == without
    assert sum(waited for _, _, waited, _ in seen[:-1]) >= 5


def test_the_comparison_sees_a_notice_that_tells(tmp_path, monkeypatch):
    """A planted fault: the price next to an answer carries a count of the rows that were read."""
    seen = []
    for gone in (None, 7):
        policy = write_policy(tmp_path / str(gone), without=gone, deadline_s=0.5)
        with running(policy, limits=UNHURRIED) as town, Raw(town.postgres.port) as client:
            count = (town.folder / "town.csv").read_text().count("\n")
            monkeypatch.setattr(client_session, "FREE", f"free, of {count} rows")
            client.log_in("ann", town.tokens["ann"], **{"discreet.epsilon": "1"})
            client.ask(query(QUESTIONS[0]))
            seen.append([public(*each) for each in client.ask(query(QUESTIONS[0]))])
    assert seen[0] != seen[1]
