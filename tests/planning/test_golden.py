"""Every golden question with its whole plan, and nothing of the language left without one.

`python -m planning.golden` (from the folder tests) writes the plans anew, to be read before they are kept.
"""

import re
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

import discreet
from discreet.asking.planning import PASSES
from discreet.asking.queries import read_sql
from discreet.asking.queries.functions import FUNCTIONS
from discreet.asking.queries.nodes import AggregateName, Call, Case, Expression, Literal, Name, Node
from planning.golden import DESCRIBE, PLANS, kept_at, read_plans, write_pass, written
from queries.test_read import ACCEPTED, AFTER, REFUSED

EVERY = read_plans()


def nodes(tree):
    """All nodes of a tree, whatever holds them."""
    if isinstance(tree, tuple):
        for part in tree:
            yield from nodes(part)
    elif is_dataclass(tree):
        yield tree
        for field in fields(tree):
            yield from nodes(getattr(tree, field.name))


TREES = [each for text in (*ACCEPTED, *AFTER) for each in nodes(read_sql(text))]


@pytest.mark.slow
@pytest.mark.parametrize("text", ACCEPTED)
def test_a_golden_question_has_the_plan_that_was_read_and_kept(text):
    assert written(text) == EVERY[text]


@pytest.mark.slow
@pytest.mark.parametrize("name", DESCRIBE)
def test_a_pass_adds_what_was_read_and_kept(name):
    assert write_pass(name) == kept_at(name).read_text(encoding="utf-8")


def test_every_pass_has_its_golden_file_and_its_own_module():
    assert [take.__name__ for take in PASSES] == list(DESCRIBE)
    assert {path.stem for path in kept_at("bound").parent.iterdir()} == set(DESCRIBE)
    assert [take.__module__.rsplit(".", 1)[-1] for take in PASSES] == list(DESCRIBE)


def test_no_plan_is_kept_for_a_question_that_is_gone():
    assert set(EVERY) == set(ACCEPTED)
    assert PLANS.exists()


def test_every_function_is_in_a_golden_question():
    used = {each.function for each in TREES if isinstance(each, Call)}
    assert set(FUNCTIONS) - used == set()


def test_every_aggregate_is_in_a_golden_question():
    used = {each.function for each in TREES if hasattr(each, "fraction")}
    assert set(AggregateName.__args__) - used == {"count_distinct"}  # made of count_units by resolving


def test_every_kind_of_node_is_in_a_golden_question():
    used = {type(each).__name__ for each in TREES if isinstance(each, Node)}
    wanted = {each.__name__ for each in subclasses(Node)} - {
        "Expression",
        "Slot",
    }  # a slot is made by resolving
    assert wanted - used == set()
    assert {Call, Case, Literal, Name} <= set(subclasses(Expression))


def subclasses(kind):
    for each in kind.__subclasses__():
        yield each
        yield from subclasses(each)


def test_every_refusal_code_has_a_golden_question():
    folder = Path(discreet.__file__).parent
    codes = set()
    for place in (*folder.glob("queries/*.py"), *folder.glob("planning/*.py")):
        source = place.read_text(encoding="utf-8")
        codes |= set(re.findall(r'refuse\(\s*"([a-z_]+)"', source)) | set(
            re.findall(r'reason="([a-z_]+)"', source)
        )
    shown = {reason for reason, _ in REFUSED}
    # Of a watch and of a price (tests/test_curator.py), of too many groups (test_bound.py), and of what
    # no line can show (tests/queries/test_read.py, test_size.py and tests/planning/test_work.py).
    sizes = {"too_many_tables", "labels", "cells", "work"}
    elsewhere = {"watch", "within", "groups", "too_long", "too_deep", "text", *sizes}
    assert codes - shown - elsewhere == set()
