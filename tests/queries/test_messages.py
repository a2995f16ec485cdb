"""What a beginner writes first, and what the refusal says: the place underlined, and what to write."""

import pytest

from discreet.asking.planning import plan_asked
from discreet.errors import UnsupportedQuery
from queries.bank import BANK

WRONG = [  # the question, what is underlined, what the refusal says
    ("SELECT COUNT(*) FROM acounts", "acounts", "There are: accounts"),
    ("SELECT COUNT(*) FROM accounts WHERE cty = 'Ottawa'", "cty", "Did you mean 'city'?"),
    ('SELECT COUNT(*) FROM accounts WHERE city = "Gatineau"', '"Gatineau"', "A text is written 'Gatineau'"),
    ("SELECT a.city, COUNT(*) FROM accounts GROUP BY city", "a.city", "Table 'a' is not in FROM"),
    ("SELECT city, COUNT(*) FROM accounts", "city", "neither in GROUP BY nor in an aggregate. Write it"),
    ("SELECT city, COUNT(*) AS n FROM accounts GROUP BY city ORDER BY debt", "debt", "in one of them"),
    ("SELECT COUNT(*) FROM accounts WHERE age = '42'", "age = '42'", "numbers without quotes"),
    ("SELECT COUNT(*) FROM accounts WHERE active = 1", "active = 1", "Write TRUE or FALSE"),
    ("SELECT COUNT(*) FROM accounts WHERE opened > 2020", "opened > 2020", "EXTRACT(year FROM x)"),
    ("SELECT COUNT(*) FROM accounts WHERE age BETWEEN 1 AND 'x'", "age BETWEEN 1 AND 'x'", "one type"),
    ("SELECT SUM(income) FROM accounts", "SUM(income", "bounds = [0, 1000]"),
    ("SELECT MIN(city) FROM accounts", "city", "GROUP BY it"),
    ("SELECT AVG(job) FROM accounts", "job", "'job' is text until its owner declares bounds or another type"),
    ("SELECT SUM(2 * job) FROM accounts", "job", "'job' is text until"),
    ("SELECT COUNT(*) FROM accounts WHERE job", "job", "'job' is text until"),
    ("SELECT COUNT(*) FROM accounts WHERE job > 3", "job > 3", "'job' is text until"),
    ("SELECT person, COUNT(*) FROM accounts GROUP BY person", "person", "FROM (SELECT unit, COUNT(*)"),
    ("SELECT QUANTILE(debt) FROM accounts", "debt", "takes one constant p"),
    ("SELECT m FROM (SELECT COUNT(*) AS n FROM accounts) AS t", "m", "There are: n"),
    ("SELECT city, SUM(city) OVER () AS s, COUNT(*) FROM accounts GROUP BY city", "city", "sum(VARCHAR)"),
    ("SELECT AVG(LN(debt)) FROM accounts", "LN(debt", "LN(AVG(x))"),
    ("SELECT COUNT(*) FROM accounts WHERE city IN ()", "city", "at least one constant"),
    ("SELECT COUNT(*) FROM accounts WHERE city IN ('a', NULL)", "city IN ('a'", "Write x IS NULL"),
    ("SELECT COUNT(*) FORM accounts", "accounts", "before this or in it"),
    ("SELEC COUNT(*) FROM accounts", "SELEC", "begin with SELECT"),
    ("DROP TABLE accounts", "DROP", "begin with SELECT"),
    ("SELECT COUNT(*) FROM accounts WHERE city = 'Ottawa", None, "a quote or a comment is not closed"),
    ("", None, "got none"),
    ("-- only a remark", None, "got none"),
]


@pytest.mark.parametrize(("text", "underlined", "says"), WRONG)
def test_a_refusal_underlines_the_place_and_says_what_to_write(text, underlined, says):
    with pytest.raises(UnsupportedQuery) as caught:
        plan_asked(text, BANK, epsilon=1)
    message = caught.value.message
    assert says in message
    if underlined is not None:
        _, line, marks = message.split("\n")
        start = marks.index("^")
        assert line[start : start + marks.count("^")].startswith(underlined)


def test_a_line_that_fits_is_shown_whole():
    text = "SELECT city, COUNT(*) AS n FROM accounts GROUP BY city HAVING detb > 3"
    with pytest.raises(UnsupportedQuery) as caught:
        plan_asked(text, BANK, epsilon=1)
    assert f"  {text}\n" in caught.value.message
