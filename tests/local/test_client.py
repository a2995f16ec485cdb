"""One person's device: kept reports, limits, permanent answers; and several questions for one price."""

import json
import subprocess
import sys
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import discreet as dp

DRINK = dp.local.choice(domain=50, epsilon=1)
BIT = dp.local.choice(values=["a", "b", "c"], epsilon=1)


@pytest.fixture
def client(tmp_path):
    return dp.local.Client(tmp_path / "kept.json", per_survey=2, in_all=3)


def test_a_report_is_kept_and_sent_again_byte_for_byte(client, tmp_path):
    first = client.answer("june", DRINK, 3)
    assert set(json.loads(first)) == {"survey", "report"}
    for _ in range(30):
        again = dp.local.Client(tmp_path / "kept.json", per_survey=2, in_all=3)
        assert again.answer("june", DRINK, 4) == first  # even if the answer has changed
    assert client.spent == 1
    assert (tmp_path / "kept.json").stat().st_mode & 0o077 == 0


def test_nothing_is_drawn_beyond_the_limits(client):
    dear = dp.local.choice(domain=50, epsilon=Fraction(5, 2))
    with pytest.raises(dp.BudgetExceeded):
        client.answer("dear", dear, 3)
    for survey in ("1", "2", "3"):
        client.answer(survey, DRINK, 3)
    with pytest.raises(dp.BudgetExceeded):
        client.answer("4", DRINK, 3)
    assert client.spent == 3


def test_a_report_that_cannot_be_stored_does_not_leave(client, monkeypatch):
    def broken(*_):
        raise OSError

    monkeypatch.setattr("os.fsync", broken)
    with pytest.raises(OSError):  # noqa: PT011 the operating system's own
        client.answer("june", DRINK, 3)
    monkeypatch.undo()
    assert client.spent == 0
    with pytest.raises(dp.InvalidParameter):
        client.answer(7, DRINK, 3)
    client._path.write_text("no json")
    with pytest.raises(dp.InvalidParameter):
        client.answer("june", DRINK, 3)


ANSWER = """
import sys, discreet as dp
client = dp.local.Client(sys.argv[1], per_survey=1, in_all=1)
print(client.answer("june", dp.local.choice(domain=50, epsilon=1), 3).decode())
"""


def test_processes_that_answer_at_once_send_one_report(tmp_path):
    words = [sys.executable, "-c", ANSWER, str(tmp_path / "kept.json")]
    running = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    assert len({process.communicate(timeout=60)[0] for process in running}) == 1
    assert all(process.returncode == 0 for process in running)


def test_a_permanent_answer_costs_epsilon_for_each_value_ever_held(client):
    first = client.answer_permanently("mood", BIT, "a")
    assert {client.answer_permanently("mood", BIT, "a") for _ in range(30)} == {first}
    client.answer_permanently("mood", BIT, "b")
    assert client.values_held("mood") == client.spent == 2
    with pytest.raises(dp.BudgetExceeded):
        client.answer_permanently("mood", BIT, "c")
    with pytest.raises(dp.InvalidParameter):
        client.answer("mood", BIT, "a")
    assert client.answer_permanently("mood", BIT, "a") == first


def test_the_loss_of_permanent_answers_is_exactly_epsilon_for_each_value_held():
    """The whole channel of a device that held a value three times and then another: 2ε for the same changes;
    against other changes no ε bounds it as well, because equal reports tell them. A coin that is kept for the
    device instead of for the value (the planted fault) breaks 2ε."""
    rows = BIT.channel()
    k = range(3)

    def law(values):
        """Of the reports for the values at three times, from independent reports for each different value."""
        found = {}
        for drawn in product(k, repeat=3):
            chance = np.prod([float(rows[v][drawn[v]]) for v in k])
            seen = tuple(drawn[v] for v in values)
            found[seen] = found.get(seen, 0.0) + chance
        return found

    def largest(first, second):
        a, b = law(first), law(second)
        return max(np.log(p / b[seen]) if seen in b else np.inf for seen, p in a.items())

    same = max(largest(f, s) for f in product(k, k) for s in product(k, k) if f[0] != f[1] and s[0] != s[1])
    assert same <= 2 + 1e-12
    assert largest((0, 0, 1), (2, 2, 0)) == pytest.approx(2)
    assert largest((0, 1, 1), (0, 0, 1)) == np.inf  # the time of a change is not hidden

    def reused(first, second):
        """One coin for both values: either both reports are true or both are lies."""
        own = float(BIT.own)

        def chance(values, seen):
            true = own * all(v == s for v, s in zip(values, seen, strict=True))
            lie = (1 - own) * all(v != s for v, s in zip(values, seen, strict=True)) / 4
            return true + lie

        with np.errstate(divide="ignore"):
            return max(
                np.log(np.divide(chance(first, seen), chance(second, seen)))
                for seen in product(k, repeat=2)
                if chance(first, seen)
            )

    assert reused((0, 1), (2, 1)) == np.inf


ASKED = {"drink": {"values": ["tea", "coffee", "milk"]}, "age": {"bounds": (0, 100)}, "city": {"domain": 500}}


def test_questions_are_sampled_or_split_whichever_errs_less():
    few = dp.local.Questions(ASKED, epsilon=1)
    assert few.asked == 1
    many = dp.local.Questions({"a": {"bounds": (0, 1)}, "b": {"bounds": (0, 1)}}, epsilon=14)
    assert many.asked == 2  # at a large price two reports at half of it err less than half of the people
    for asked, each in ((1, few), (2, many)):
        assert all(p.epsilon == each.epsilon / asked for p in each.protocols.values())
        assert each.loss.epsilon(delta=0) == pytest.approx(float(each.epsilon))
    assert "1 of 3 questions" in few.describe()


def test_reports_of_several_questions_are_estimated_apart():
    survey = dp.local.Questions(ASKED, epsilon=4)
    people = [{"drink": "tea", "age": 30, "city": i % 2} for i in range(6000)]
    reports = json.loads(json.dumps(survey.randomize(people)))
    assert {len(report) for report in reports} == {survey.asked}
    found = survey.estimate(reports, confidence=1 - 1e-9)
    assert 1 in found["drink"]["tea"].interval
    assert 30 in found["age"].interval
    assert 0.5 in found["city"][1].interval
    assert 0.2 not in found["drink"]["tea"].interval
    asked = [sum(name in report for report in reports) for name in ASKED]
    assert min(asked) > 6000 * survey.asked / 3 - 300  # 8 standard deviations
    for wrong in ({"drink": "tea"}, {**people[0], "drink": "milk?"}, {**people[0], "age": None}, 3):
        with pytest.raises(dp.InvalidParameter):
            survey.randomize([wrong])
    for wrong in ([{}], [reports[0], {"other": 1}], "x", [3], []):
        with pytest.raises(dp.InvalidParameter):
            survey.estimate(wrong)
    with pytest.raises(dp.InvalidParameter):
        dp.local.Questions({}, epsilon=1)
    with pytest.raises(dp.InvalidParameter):
        dp.local.Questions({"a": {"bins": 3}}, epsilon=1)


def test_a_whole_report_keeps_its_price_and_answering_all_questions_in_full_does_not():
    """The unit is a person with all answers. 20,000 reports of each; false alarms below 1e-9."""
    asked = {"a": {"values": ["x", "y"]}, "b": {"values": ["x", "y"]}}
    survey = dp.local.Questions(asked, epsilon=1)
    pair = ({"a": "x", "b": "x"}, {"a": "y", "b": "y"})

    def honest(data, n):
        return [tuple(sorted(report.items())) for report in survey.randomize([data] * n)]

    def broken(data, n):
        columns = [dp.local.choice(values=["x", "y"], epsilon=1).randomize([data[q]] * n) for q in "ab"]
        return list(zip(*columns, strict=True))

    setting = {"claim": 1, "neighbours": [pair], "samples": 20_000, "confidence": 1 - 1e-9}
    assert dp.audit(honest, **setting).verdict == "not refuted"
    assert dp.audit(broken, **setting).verdict == "violated"
