"""Of a stored text its first thousand letters are read, and what is looked for is found in one pass: so no
text makes a question late. Whose a row is, is read in full."""

import contextlib
import random
import re
import time

import pytest

from discreet.asking.engines import MemoryEngine
from discreet.asking.engines.sql.dialect import Dialect
from discreet.asking.planning import plan_exact
from discreet.asking.policy import LONGEST_TEXT, from_toml
from discreet.asking.queries import Call, Literal, read_question
from discreet.asking.queries.evaluate import evaluate, like_grammar
from discreet.errors import InvalidParameter
from engines.registry import MAKERS

POLICY = """
[dataset]
id = "notes"
budget = { epsilon = 1, delta = 1e-6 }
[tables.notes]
unit = "person"
max_groups = 9
max_rows = 9
[tables.notes.columns]
person = { type = "text" }
place = { type = "integer" }
note = { type = "text" }
"""
LONG = "p" * LONGEST_TEXT
NOTES = ["", "a", "aaab", "xaxaxab", "a_b%", None, "é" * (LONGEST_TEXT - 1), "🦆" * LONGEST_TEXT,
         LONG.replace("p", "a"), "a" * LONGEST_TEXT + "b", "a" * 5000 + "c", "🦆é" * 3000,
         "b" * (LONGEST_TEXT // 2) + "é" * 2000]  # fmt: skip
PATTERNS = ("a%", "%b", "%a%a%a%b", "%a_%a%_b%", "_", "%🦆_%é%", "a_b_", "%%", "b%é%é%é%c")


def rows(people):
    """A row for each note, of so many people."""
    return {"notes": [{"person": LONG + str(place % people), "place": place, "note": note}
                      for place, note in enumerate(NOTES)]}  # fmt: skip


@pytest.fixture(params=["memory", "duckdb", "postgresql", "spark"])
def opened(request):
    """Opens an engine."""

    def open_engine(policy, found):
        if request.param == "memory":
            return contextlib.closing(MemoryEngine(policy, found))
        return MAKERS[request.param](request, policy, found)

    return open_engine


def matches(text, pattern):
    """LIKE by its definition, one letter at a time."""
    reached = {0}
    for each in pattern:
        if each == "%":
            reached = set(range(min(reached), len(text) + 1)) if reached else reached
        else:
            reached = {at + 1 for at in reached if at < len(text) and each in ("_", text[at])}
    return len(text) in reached


@pytest.mark.parametrize("letters", ["ab", "a.🦆", "(\n\\$"])
def test_a_pattern_is_found_where_its_definition_says(letters):
    draw = random.Random(7)
    for _ in range(4000):
        text = "".join(draw.choices(letters, k=draw.randrange(9)))
        pattern = "".join(draw.choices(letters.replace("\\", "") + "%_%", k=draw.randrange(8)))
        found = re.fullmatch(like_grammar(pattern), text, re.DOTALL) is not None
        assert found == matches(text, pattern), (text, pattern)


def tables(engine, policy, expressions):
    """For each expression: how many rows have each of its values."""
    for each in expressions:
        text = f"SELECT {each} AS e, COUNT(*) AS n FROM notes GROUP BY e"
        (found,) = plan_exact(read_question(text, policy), salt=5)
        table = engine.run(found.plans[0])
        yield {group[0]: totals[0] for group, totals in zip(table.groups, table.totals, strict=True)}


def counted(values):
    found = list(values)
    return {each: found.count(each) for each in found}


def test_the_beginning_of_a_long_text_is_read_on_every_engine(opened):
    policy = from_toml(POLICY)
    read = [note and note[:LONGEST_TEXT] for note in NOTES]
    expressions = ["LENGTH(note)", "note", *(f"note LIKE '{each}'" for each in PATTERNS)]
    with opened(policy, rows(len(NOTES))) as engine:
        lengths, notes, *liked = tables(engine, policy, expressions)
    assert lengths == counted(None if each is None else len(each) for each in read)
    assert notes == counted(read)
    for pattern, found in zip(PATTERNS, liked, strict=True):
        told = counted(matches(each, pattern) for each in read if each is not None)
        assert found == {False: 0, True: 0} | told, pattern


def test_people_with_long_names_alike_are_two_people(opened):
    policy = from_toml(
        POLICY.replace("max_rows = 9", "max_rows = 1").replace("max_groups = 9", "max_groups = 1")
    )
    persons = "SELECT person, LENGTH(person) AS l FROM notes GROUP BY person"
    questions = [
        "SELECT COUNT(DISTINCT person) AS n FROM notes",
        f"SELECT COUNT(*) AS n FROM ({persons}) AS q WHERE l = {LONGEST_TEXT}",
    ]
    plans = [plan_exact(read_question(each, policy), salt=5)[0].plans[0] for each in questions]
    with opened(policy, rows(3)) as engine:
        assert [engine.run(plan).totals for plan in plans] == [((3,),)] * 2


def test_a_key_that_no_text_could_equal_is_refused():
    with pytest.raises(InvalidParameter, match="1,000 letters"):
        from_toml(
            POLICY.replace('note = { type = "text" }', f'note = {{ type = "text", keys = ["{LONG}x"] }}')
        )


@pytest.mark.parametrize("text", ["a" * 20_000, "ab" * 10_000 + "a"])
def test_what_is_looked_for_is_found_in_one_pass(text):
    before = time.process_time()
    asked = Call("like", (Literal(text), Literal("%a%a_%a%c")))
    assert evaluate(asked, None) is False
    assert time.process_time() - before < 0.5  # by going back it would be years


def test_a_text_that_is_read_in_full_is_noticed(request, monkeypatch):
    monkeypatch.setattr(Dialect, "cut", lambda self, value: value)
    policy = from_toml(POLICY)
    with MAKERS["duckdb"](request, policy, rows(len(NOTES))) as engine:
        (lengths,) = tables(engine, policy, ["LENGTH(note)"])
    assert max(filter(None, lengths)) > LONGEST_TEXT
