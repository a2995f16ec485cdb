"""Public labels of expressions."""

from discreet.asking.queries import read_question
from queries.bank import BANK


def test_whole_numbers_beyond_64_bits_are_no_labels():
    text = "SELECT CAST(FLOOR(1e300) AS BIGINT) AS k, COUNT(*) AS n FROM accounts GROUP BY k"
    (key,) = read_question(text, BANK).keys
    assert key.domain is None
