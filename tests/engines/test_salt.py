"""A new salt for each answer: nobody can arrange rows so that chosen ones are kept."""

import pandas
import pytest

import discreet as dp
from discreet.asking.engines import DuckDBEngine

TABLE = pandas.DataFrame({"person": [1, 1, 2, 3], "city": list("abab"), "debt": [1, 2, 3, 4]})
MANY = "SELECT city, COUNT(*) AS n, MEDIAN(debt) AS m FROM t GROUP BY ROLLUP (city)"


@pytest.fixture
def salts(monkeypatch):
    """The salts that the engine was given, one for each exact plan."""
    found, run = [], DuckDBEngine.run

    def recorded(self, plan):
        found.append(plan.salt)
        return run(self, plan)

    monkeypatch.setattr(DuckDBEngine, "run", recorded)
    return found


@pytest.fixture
def curator(tmp_path):
    with dp.Curator.open(
        TABLE,
        name="t",
        unit="person",
        budget=dp.PureDP(100),
        bounds={"debt": (0, 10)},
        keys={"city": ["a", "b"]},
        ledger=tmp_path / "t.ledger",
    ) as opened:
        yield opened


def fresh(salts):
    """63 random bits each: of a few salts two are equal, or one is small, with probability below 1e-9."""
    return len(set(salts)) == len(salts) and min(salts) > 2**24


def test_each_answer_has_a_salt_of_its_own_and_all_its_plans_have_that(curator, salts):
    of_answers = []
    for price in (1, 2, 3):
        curator.ask(MANY, epsilon=price)
        assert len(salts) > 1
        (salt,) = set(salts)
        of_answers.append(salt)
        salts.clear()
    assert fresh(of_answers)


def test_the_questions_of_a_list_share_a_charge_and_no_small_salt(curator, salts):
    curator.ask(["SELECT COUNT(*) AS n FROM t", "SELECT SUM(debt) AS s FROM t"], epsilon=1)
    assert fresh(set(salts))


def test_each_watch_has_a_salt_of_its_own(curator, salts):
    of_watches = []
    for _ in range(3):
        watch = curator.watch(threshold=10**6, epsilon=1)
        for text in ("SELECT COUNT(*) AS n FROM t", "SELECT COUNT(*) AS n FROM t WHERE debt > 2"):
            watch.test(text)
        (salt,) = set(salts)
        of_watches.append(salt)
        salts.clear()
    assert fresh(of_watches)


def test_the_check_would_notice_a_release_that_forgets_its_salt(curator, salts, monkeypatch):
    monkeypatch.setattr("discreet.asking.release.replace", lambda plan, **changes: plan)
    for price in (1, 2):
        curator.ask("SELECT COUNT(*) AS n FROM t", epsilon=price)
    assert not fresh(salts)
