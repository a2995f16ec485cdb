"""What a plan must not exceed is refused before anything is charged, and what just fits is planned."""

from dataclasses import replace
from fractions import Fraction

import pytest

from discreet.asking.planning import plan_asked
from discreet.asking.planning.exact import Lattice
from discreet.asking.planning.widths import check_widths
from discreet.errors import UnsupportedQuery
from planning.frozen import plan_of
from queries.bank import BANK

BY_CITY = "SELECT city, COUNT(*) AS n, SUM(debt) AS d, AVG(age) AS a FROM accounts GROUP BY city"


def nested(depth):
    return f"SELECT COUNT(*) AS n FROM accounts WHERE {'FLOOR(' * depth}age{')' * depth} > 3"


def unions(count):
    every = " UNION ALL ".join(["SELECT person, age FROM accounts"] * count)
    return f"SELECT COUNT(*) AS n FROM ({every}) a JOIN ({every}) b ON a.person = b.person"


def reason(text, policy=BANK):
    """Why a question is refused; None where it is planned."""
    try:
        plan_asked(text, policy, epsilon=1)
    except UnsupportedQuery as error:
        return error.fields["reason"]
    return None


def test_rows_of_one_unit_take_no_longer_than_their_limit():
    assert reason(nested(4)) is None
    assert reason(nested(8)) == "work"  # each level is written three times: 3^8 parts of a statement


def test_a_join_multiplies_what_both_sides_may_have():
    accounts, *others = BANK.tables
    many = replace(BANK, tables=(replace(accounts, max_groups=100, max_rows=100), *others))
    assert reason(unions(2)) is None
    assert reason(unions(1), many) == "work"


@pytest.mark.parametrize(("cells", "expected"), [(9, None), (8, "cells")])
def test_cells_are_groups_times_columns(cells, expected):
    text = "SELECT city, COUNT(*) AS n, SUM(debt) AS d FROM accounts GROUP BY city"  # 3 cities, 3 columns
    assert reason(text, replace(BANK, serving=replace(BANK.serving, max_cells=cells))) == expected


@pytest.mark.parametrize(("largest", "fits"), [(2**62, True), (2**62 + 1, False)])
def test_what_is_tallied_keeps_64_bits(largest, fits):
    (plan,) = plan_of("SELECT MEDIAN(age) AS m FROM accounts", BANK, epsilon=1).sets[0].reads
    wide = replace(plan, tally=replace(plan.tally, lattice=Lattice(Fraction(1), 0, largest, "integer")))
    if fits:
        check_widths(wide)
    else:
        with pytest.raises(UnsupportedQuery, match="38 digits"):
            check_widths(wide)
