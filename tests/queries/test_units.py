"""Whatever is joined with whatever, under any names: each row belongs to the unit it came from."""

import contextlib

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from discreet.asking.policy import Through, UnitColumn
from discreet.asking.queries import (
    Filtered,
    Joined,
    Name,
    PerUnit,
    Scan,
    Slot,
    Stacked,
    read_question,
    resolve_source,
)
from discreet.asking.queries.relations import is_public, scans
from discreet.errors import UnsupportedQuery
from queries.bank import BANK
from queries.sources import joined_questions

ATTACK = """
SELECT COUNT(*) AS n FROM (SELECT 1 AS account, amount FROM payments) AS payments
JOIN accounts ON payments.account = accounts.id
"""


def origin(relation, name):
    """The table and column that a name's values are copied from; None for what is computed."""
    if isinstance(relation, Scan):
        return relation.table, name.name
    if isinstance(relation, Filtered):
        return origin(relation.source, name)
    if isinstance(relation, Joined):
        known = {(field.table, field.name) for field in relation.left.fields}
        return origin(relation.left if (name.table, name.name) in known else relation.right, name)
    if isinstance(relation, Stacked):
        return None
    meant = dict(relation.outputs)[name.name]
    if isinstance(relation, PerUnit):
        return min(units_of(relation.source)) if meant == Slot(0) else None
    return origin(relation.source, meant) if isinstance(meant, Name) else None


def units_of(relation):
    """The tables and columns whose values are the unit of each row."""
    if isinstance(relation, Scan):
        unit = getattr(BANK.table(relation.table), "unit", None)
        return {(relation.table, unit.column)} if isinstance(unit, UnitColumn) else set()
    if isinstance(relation, Joined) and relation.cap is not None:
        return units_of(relation.left) | units_of(relation.right)  # the join made them equal
    if isinstance(relation, Joined):
        return units_of(relation.left if relation.unit_from == "left" else relation.right)
    return units_of(relation.source)


def sides(relation):
    """Every relation inside one."""
    yield relation
    for part in ("source", "left", "right"):
        if hasattr(relation, part):
            yield from sides(getattr(relation, part))


def is_sound(join):
    """Whether a pair of rows has one unit only: by a public key, a declared foreign key, or the unit."""
    pairs = {(origin(join.left, one), origin(join.right, other)) for one, other in join.on}
    if is_public(join.left) or is_public(join.right):
        public, place = (join.right, 1) if is_public(join.right) else (join.left, 0)
        first = scans(public)[0]
        return all(pair[place] == (first.table, first.public_key) for pair in pairs)
    if join.cap is not None:
        return all(one in units_of(join.left) and other in units_of(join.right) for one, other in pairs)
    turned = pairs if join.unit_from == "right" else {(child, parent) for parent, child in pairs}
    return any(turned == declared(table) for table in BANK.tables if isinstance(table.unit, Through))


def declared(table):
    return {((table.name, own), (table.unit.table, other)) for own, other in table.unit.on}


def unsound(text):
    rows = read_question(text, BANK).rows
    return [each for each in sides(rows) if isinstance(each, Joined) and not is_sound(each)]


@given(text=joined_questions())
@settings(
    max_examples=400,
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.generate],
)
def test_no_alias_or_subquery_gives_a_row_to_another_unit(text):
    with contextlib.suppress(UnsupportedQuery):
        assert not unsound(text)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) AS n FROM payments JOIN accounts ON account = id JOIN visits ON person = visitor",
        "SELECT COUNT(*) AS n FROM accounts JOIN visits ON person = visitor JOIN payments ON account = id",
        "SELECT COUNT(*) AS n FROM payments JOIN cities ON shop = cities.city JOIN regions "
        "ON cities.region = regions.region",
        "SELECT COUNT(*) AS n FROM (SELECT person, COUNT(*) AS k FROM accounts GROUP BY person) AS e "
        "JOIN visits ON e.person = visits.visitor",
    ],
)
def test_joins_that_keep_units_apart_are_allowed_and_found_sound(text):
    assert not unsound(text)


def test_a_subquery_under_a_tables_name_is_no_such_table(monkeypatch):
    with pytest.raises(UnsupportedQuery):
        read_question(ATTACK, BANK)
    monkeypatch.setattr(resolve_source, "named_scans", scans)  # the fault: names alone decide
    assert unsound(ATTACK)
