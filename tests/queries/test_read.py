from pathlib import Path

import pytest

from discreet.asking.planning.planner import read_whole
from discreet.asking.queries import read_question, read_sql, resolve, to_sql
from discreet.errors import InvalidParameter, UnsupportedQuery
from queries.bank import BANK

FIXTURES = Path(__file__).parent / "fixtures"


def lines(name):
    text = (FIXTURES / name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("--")]


ACCEPTED = lines("accepted.sql")
AFTER = lines("after.sql")
REFUSED = [line.split(": ", 1) for line in lines("refused.sql")]


@pytest.mark.parametrize("text", ACCEPTED)
def test_allowed_questions_resolve_and_read_back_from_their_canonical_text(text):
    tree = read_sql(text)
    canonical = to_sql(tree)
    assert read_sql(canonical) == tree
    assert resolve(tree, BANK) == read_question(canonical, BANK)


@pytest.mark.parametrize("text", AFTER)
def test_what_follows_the_noise_fits_the_answer(text):
    read = read_whole(text, BANK)
    assert read.after is not None
    assert read.question == read_question(read.text, BANK)


@pytest.mark.parametrize(("reason", "text"), REFUSED)
def test_everything_else_is_refused_for_its_reason(reason, text):
    with pytest.raises(UnsupportedQuery) as caught:
        read_whole(text, BANK)
    assert caught.value.fields["reason"] == reason


def test_the_golden_files_are_as_long_as_promised():
    assert len(ACCEPTED) >= 60
    assert len(REFUSED) >= 90


def test_a_question_of_another_kind_is_refused():
    with pytest.raises(InvalidParameter):
        read_question(3, BANK)


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("too_long", "SELECT COUNT(*) FROM accounts WHERE age = 1" + " OR age = 1" * 10_000),
        ("too_long", "SELECT COUNT(*) FROM accounts" + " " * 2_000_000),
        ("too_deep", "SELECT COUNT(*) FROM accounts WHERE " + "(" * 500 + "active" + ")" * 500),
        ("text", "SELECT COUNT(*) FROM accounts WHERE job = 'a\0b'"),
    ],
    ids=["many words", "many characters", "many parentheses", "NUL"],
)
def test_what_no_line_can_show_is_refused_too(reason, text):
    with pytest.raises(UnsupportedQuery) as caught:
        read_question(text, BANK)
    assert caught.value.fields["reason"] == reason
