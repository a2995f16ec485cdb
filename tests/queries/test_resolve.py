from dataclasses import replace

import pytest

from discreet.asking.policy import UnitColumn
from discreet.asking.queries import Joined, Name, PerUnit, Slot, evaluate, read_question, scans, unit_scan
from discreet.errors import UnsupportedQuery
from queries.bank import BANK


def ask(text):
    return read_question(text, BANK)


def test_ranges_follow_expressions():
    question = ask("SELECT SUM(debt / 1000) AS a, SUM(-age) AS b, SUM(income) AS c FROM accounts")
    assert [each.range for each in question.measures] == [(0, 10_000), (-120, 0), None]


def test_a_case_takes_the_hull_of_its_branches_and_never_less():
    question = ask("SELECT SUM(CASE WHEN person = 42 THEN debt * 1e9 ELSE 0 END) AS s FROM accounts")
    assert question.measures[0].range == (0, 10**16)


def test_a_redefined_column_has_the_range_of_its_new_meaning():
    question = ask("SELECT SUM(age) AS s FROM (SELECT debt AS age FROM accounts) AS t")
    assert question.measures[0].range == (0, 10_000_000)


@pytest.mark.parametrize(
    ("key", "domain"),
    [
        ("city", ("Ottawa", "Toronto", "Québec")),
        ("active", (False, True)),
        ("age > 3", (False, True)),
        ("FLOOR(age / 50)", (0.0, 1.0, 2.0)),
        ("children % 3", (0, 1, 2)),
        ("EXTRACT(quarter FROM seen)", (1, 2, 3, 4)),
        ("EXTRACT(year FROM opened)", (2020,)),
        ("UPPER(SUBSTR(city, 1, 1))", ("O", "Q", "T")),
        ("CASE WHEN age > 3 THEN 'a' WHEN age > 2 THEN 'b' END", ("a", "b", None)),
        ("COALESCE(city, 'none')", ("Ottawa", "Toronto", "Québec", "none")),
        ("WIDTH_BUCKET(debt, 0, 10, 2)", (0, 1, 2, 3)),
        ("job", None),
        ("debt", None),
        ("LENGTH(job)", None),
        ("EXTRACT(year FROM seen)", None),
        ("COALESCE(job, 'none')", None),
    ],
)
def test_labels_come_from_the_policy_and_the_question_alone(key, domain):
    assert ask(f"SELECT {key} AS k, COUNT(*) AS n FROM accounts GROUP BY {key}").keys[0].domain == domain


def test_a_cte_that_shadows_a_table_means_the_nearest_definition():
    question = ask("WITH visits AS (SELECT age FROM accounts) SELECT COUNT(*) AS n FROM visits")
    assert [scan.table for scan in scans(question.rows)] == ["accounts"]

    question = ask("WITH accounts AS (SELECT 7 AS x FROM accounts) SELECT COUNT(*) AS n FROM accounts")
    assert unit_scan(question.rows).unit == "person"


def test_the_unit_is_carried_by_the_tree_and_not_by_name():
    question = ask("SELECT COUNT(*) AS n FROM (SELECT id AS person, 7 AS id FROM accounts) AS t")
    assert unit_scan(question.rows).unit == "person"
    with pytest.raises(UnsupportedQuery):
        ask("SELECT COUNT(DISTINCT person) AS n FROM (SELECT id AS person FROM accounts) AS t")
    ask("SELECT COUNT(DISTINCT who) AS n FROM (SELECT person AS who FROM accounts) AS t")


def test_a_left_out_foreign_key_is_joined_by_the_planner():
    rows = ask("SELECT SUM(amount) AS s FROM payments").rows
    assert isinstance(rows, Joined)
    assert [scan.table for scan in scans(rows)] == ["payments", "accounts"]
    assert unit_scan(rows).table == "accounts"


def test_a_written_foreign_key_is_not_joined_twice():
    rows = ask("SELECT SUM(amount) AS s FROM payments JOIN accounts ON account = id").rows
    assert [scan.table for scan in scans(rows)] == ["payments", "accounts"]


def test_the_limits_are_those_of_the_table_whose_rows_are_counted():
    assert ask("SELECT SUM(amount) AS s FROM accounts JOIN payments ON id = account").max_rows == 5
    assert ask("SELECT COUNT(*) AS n FROM accounts").max_rows == 10
    assert ask("SELECT COUNT(*) AS n FROM (SELECT person FROM accounts GROUP BY person) AS t").max_rows == 1


def test_a_join_on_the_unit_caps_both_sides_first():
    rows = ask("SELECT COUNT(*) AS n FROM visits JOIN accounts ON visitor = person").rows
    assert isinstance(rows, Joined)
    assert rows.cap == 30


def test_one_row_a_unit_expects_as_many_rows_as_the_policy_lets_count():
    question = ask(
        "SELECT SUM(t) AS s FROM (SELECT person, SUM(debt) AS t FROM accounts GROUP BY person) AS e"
    )
    assert isinstance(question.rows, PerUnit)
    assert question.measures[0].range == (0, 30 * 10_000_000)


def test_post_processing_is_over_slots_and_repeated_aggregates_are_one():
    question = ask(
        "SELECT city, SUM(debt) / COUNT(*) AS mean, COUNT(*) AS n FROM accounts GROUP BY city HAVING n > 3"
    )
    assert len(question.measures) == 2
    values = {0: "Ottawa", 1: 10.0, 2: 4}
    row = [evaluate(expression, lambda slot: values[slot.index]) for _, expression in question.columns]
    assert row == ["Ottawa", 2.5, 4]
    assert evaluate(question.having, lambda slot: values[slot.index]) is True


def test_a_group_by_name_means_the_column_before_the_output():
    question = ask("SELECT age AS city, COUNT(*) AS n FROM accounts GROUP BY age")
    assert question.columns[0] == ("city", Slot(0))
    assert question.keys[0].expression == Name("age", "accounts")


def test_refusals_underline_the_place():
    with pytest.raises(UnsupportedQuery) as caught:
        ask("SELECT COUNT(*)\nFROM accounts WHERE dept > 3")
    assert caught.value.message.endswith("\n  FROM accounts WHERE dept > 3\n                      ^^^^")
    assert "Did you mean 'debt'?" in caught.value.message


def test_arithmetic_on_written_numbers_is_decimal():
    folded = ask("SELECT COUNT(*) FILTER (WHERE debt <= 0.06 + 0.01) AS n FROM accounts")
    plain = ask("SELECT COUNT(*) FILTER (WHERE debt <= 0.07) AS n FROM accounts")
    assert folded.measures == plain.measures
    assert 0.06 + 0.01 != 0.07


def test_a_union_never_mixes_the_ids_of_two_kinds_of_people():
    visits = replace(BANK.table("visits"), unit=UnitColumn("branch"))
    policy = replace(BANK, tables=(BANK.table("accounts"), visits))
    text = "SELECT COUNT(*) AS n FROM (SELECT age FROM accounts UNION ALL SELECT minutes FROM visits) AS u"
    with pytest.raises(UnsupportedQuery, match="one type"):
        read_question(text, policy)


def test_only_numbers_are_folded():
    ask("SELECT COUNT(*) FILTER (WHERE DATE '2020-03-01' - DATE '2020-02-01' > 3) AS n FROM accounts")
    ask("SELECT COUNT(*) FILTER (WHERE 1 / 0 > 3) AS n FROM accounts")
    ask("SELECT COUNT(*) FILTER (WHERE 9223372036854775807 + 1 > 3) AS n FROM accounts")
