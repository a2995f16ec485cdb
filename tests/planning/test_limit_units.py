"""A declared limit is of rows: how many of a question's counts one row is in, and what that costs."""

import pytest

from planning.test_one_limit import ROWS, opened

__all__ = ["opened"]


def test_a_declared_limit_is_of_rows_however_many_counts_one_row_is_in(opened):
    """Four rows a person are declared, and nobody has more: no count is cut, so that a share is right."""
    share = (
        "SELECT COUNT(*) AS n, COUNT(*) FILTER (WHERE cost > 15) AS dear, COUNT(cost) AS known FROM visits"
    )
    (row,) = opened(limit=4).ask(share, epsilon=9000)
    dear = sum(cost > 15 for _, _, cost, _ in ROWS)
    assert row == {
        "n": pytest.approx(len(ROWS), abs=2),
        "dear": pytest.approx(dear, abs=2),
        "known": pytest.approx(len(ROWS), abs=2),
    }


def test_counts_of_different_labels_share_the_limit_that_one_of_them_has(opened):
    one = "SELECT COUNT(*) FILTER (WHERE ward = 'a') AS a FROM visits"
    three = one.replace(" FROM", ", COUNT_IF(ward = 'b') AS b, COUNT_IF(ward = 'c') AS c FROM")
    known = opened(limit=4)
    errors = [known.explain(text, epsilon=1).errors["a"] for text in (one, three)]
    assert errors[1] == pytest.approx(errors[0])
    both = known.explain(three.replace("ward = 'b'", "ward <> 'a'"), epsilon=1).errors["a"]
    assert both == pytest.approx(2 * errors[0])
