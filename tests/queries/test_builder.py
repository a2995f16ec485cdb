import datetime

import pytest

from discreet.asking.queries import case, column, read_question, read_sql, table
from discreet.errors import InvalidParameter, UnsupportedQuery
from queries.bank import BANK

PAIRS = [
    (
        table("accounts").where(column("debt") > 0).group_by("city").count().sum("debt"),
        "SELECT city, COUNT(*), SUM(debt) FROM accounts WHERE debt > 0 GROUP BY city",
    ),
    (
        table("accounts").count_units("person", name="people").average("age", where=column("active")),
        "SELECT COUNT(DISTINCT person) AS people, AVG(age) FILTER (WHERE active) AS avg_age FROM accounts",
    ),
    (
        table("accounts").group_by(decade=column("age") // 10).median("debt").order_by("-decade").limit(3),
        "SELECT age // 10 AS decade, QUANTILE(debt, 0.5) AS quantile_debt FROM accounts "
        "GROUP BY age // 10 ORDER BY decade DESC LIMIT 3",
    ),
    (
        table("accounts")
        .where(column("age").between(1, 2) & ~column("city").like("O%") | column("job").is_null())
        .where(column("age").is_in(1, 2))
        .minimum(-column("debt"), name="a")
        .maximum(2 * column("debt") - 1, name="b"),
        "SELECT MIN(-debt) AS a, MAX(2 * debt - 1) AS b FROM accounts WHERE "
        "((age BETWEEN 1 AND 2 AND NOT city LIKE 'O%') OR job IS NULL) AND age IN (1, 2)",
    ),
    (
        table("accounts").mode(case((column("opened") < datetime.date(2020, 3, 1), "old"), otherwise="new")),
        "SELECT MODE(CASE WHEN opened < DATE '2020-03-01' THEN 'old' ELSE 'new' END) AS mode FROM accounts",
    ),
]


@pytest.mark.parametrize(("built", "text"), PAIRS)
def test_the_builder_makes_the_tree_that_sql_makes(built, text):
    assert built.query == read_sql(text)
    assert read_question(built, BANK) == read_question(text, BANK)


def test_python_words_that_would_decide_at_once_are_refused():
    with pytest.raises(InvalidParameter, match="combined with"):
        bool(column("a") > 1)


@pytest.mark.parametrize("value", [object(), [1], {"a": 1}, b"x"])
def test_only_plain_values_enter_a_question(value):
    with pytest.raises(InvalidParameter):
        column("a") == value  # noqa: B015


def test_a_column_is_named_by_text():
    with pytest.raises(InvalidParameter):
        column(3)
    assert column("accounts.debt").node.table == "accounts"


@pytest.mark.parametrize("pattern", [column("city"), "%a%b%c%d%", "a" * 101, "a\\b", None])
def test_a_pattern_of_like_is_held_to_the_same_limits_as_in_sql(pattern):
    question = table("accounts").where(column("job").like(pattern)).count()
    with pytest.raises(UnsupportedQuery, match="pattern"):
        read_question(question, BANK)
