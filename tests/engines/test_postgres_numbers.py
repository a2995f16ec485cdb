"""Arithmetic of doubles on PostgreSQL is IEEE's, bit for bit, and never fails."""

import math
import random
import struct
from fractions import Fraction

import psycopg
import pytest
from sqlglot import exp

from discreet.asking.engines.postgres.dialect import PostgresDialect
from discreet.asking.engines.sql import column, named, real
from discreet.asking.engines.sql.relations import place
from discreet.asking.planning import Lattice
from discreet.asking.queries import evaluate
from discreet.asking.queries.evaluate import STRICT
from discreet.asking.queries.nodes import Call, Literal

POWERS = (-1074, -1073, -1023, -1022, -1021, -600, -538, -512, -501, -500, -61, -60, -53, -1, 0, 1, 52, 53)
EDGES = [0.0, math.inf, 5e-324, 1.7976931348623157e308, 2.2250738585072014e-308, 0.49999999999999994, 1e16]
EDGES += [2.0**power for power in (*POWERS, 63, 500, 501, 512, 930, 931, 970, 1022, 1023)]
EDGES += [math.nextafter(each, end) for each in EDGES for end in (0.0, math.inf)]
EDGES += [-each for each in EDGES]


def any_double(draw):
    """A double of any bits that is a number."""
    while True:
        (number,) = struct.unpack("<d", draw.randbytes(8))
        if number == number:  # noqa: PLR0124  # not NaN
            return number


def near_the_tie(draw):
    """Two factors whose product is about half of the smallest double."""
    one = math.ldexp(1 + draw.random(), draw.randrange(-1074, -2))
    if not one:
        return 1.0, 1.0
    other = math.ldexp(2.0**-500 / one, -575)
    for _ in range(draw.randrange(3)):
        other = math.nextafter(other, draw.choice([0.0, 1.0]))
    return one, other


@pytest.fixture(scope="module")
def pairs(postgres_server):
    draw = random.Random(53)
    made = [(one, other) for one in EDGES for other in EDGES]
    made += [(any_double(draw), any_double(draw)) for _ in range(4000)]
    made += [near_the_tie(draw) for _ in range(2000)]
    made += [(None, each) for each in EDGES] + [(each, None) for each in EDGES] + [(None, None)]
    with psycopg.connect(postgres_server.database(), autocommit=True) as connection:
        connection.execute("CREATE TABLE t (n int, x float8, y float8)")
        with connection.cursor().copy("COPY t FROM STDIN") as copy:
            for index, pair in enumerate(made):
                copy.write_row((index, *pair))
        yield made, connection


def computed(connection, built):
    written = PostgresDialect().write(exp.Select().select(built).from_("t").order_by("n"))
    return [row[0] for row in connection.execute(written).fetchall()]


def bits(number):
    """A zero has no sign here: nothing in the language sees it."""
    return (
        None if number is None else struct.pack("<d", number + 0.0) if isinstance(number, float) else number
    )


def expected(function, *values):
    return bits(None if None in values else STRICT[function](*values))


OPERATIONS = {"add": exp.Add, "subtract": exp.Sub, "multiply": exp.Mul}


def applied(function, x, y):
    dialect = PostgresDialect()
    return dialect.divide(x, y) if function == "divide" else dialect.arithmetic(OPERATIONS[function], x, y)


@pytest.mark.parametrize("constant", [0.0, 0.5, 5e-324, 1e300, 2.0**480, 2.0**-480, 1.7976931348623157e308])
@pytest.mark.parametrize("function", ["add", "subtract", "multiply", "divide"])
def test_constants_that_the_planner_sees_fail_nowhere(function, constant, pairs):
    _, connection = pairs
    for flipped in (False, True):
        for how in ("literal", "column"):  # a column that is a constant is one after flattening
            known = real(constant) if how == "literal" else column("c", "t")
            sides = [known, column("x", "t")] if flipped else [column("x", "t"), known]
            source = (
                exp.Select()
                .select("n", "x", named(real(constant), "c"))
                .from_("t")
                .where("y = 1")
                .subquery("t")
            )
            select = exp.Select().select(column("x", "t"), applied(function, *sides)).from_(source)
            for x, got in connection.execute(PostgresDialect().write(select)).fetchall():
                values = (constant, x) if flipped else (x, constant)
                assert bits(got) == expected(function, *values), values


@pytest.mark.parametrize("function", ["add", "subtract", "multiply", "divide"])
def test_sums_products_and_quotients_are_ieee(function, pairs):
    made, connection = pairs
    found = computed(connection, applied(function, column("x", "t"), column("y", "t")))
    wrong = [
        (pair, got) for pair, got in zip(made, found, strict=True) if bits(got) != expected(function, *pair)
    ]
    assert wrong == []


def test_the_pairs_would_find_a_wrong_bound(pairs):
    made, connection = pairs
    naive = exp.Select().select(exp.Mul(this=column("x"), expression=column("y"))).from_("t")
    with pytest.raises(psycopg.errors.NumericValueOutOfRange):
        connection.execute(naive.sql(dialect="postgres"))
    ties = [
        pair for pair in made if None not in pair and abs(pair[0] * 2.0**538 * (pair[1] * 2.0**538)) == 2.0
    ]
    assert {bool(one * other) for one, other in ties} == {True, False}


@pytest.mark.parametrize("how", ["floor", "ceil", "round"])
def test_rounding_is_exact(how, pairs):
    made, connection = pairs
    found = computed(connection, PostgresDialect().rounded(how, column("x", "t")))
    wrong = [(x, got) for (x, _), got in zip(made, found, strict=True) if bits(got) != expected(how, x)]
    assert wrong == []


def test_doubles_become_the_nearest_whole_numbers(pairs):
    made, connection = pairs
    found = computed(connection, PostgresDialect().nearest_whole(column("x", "t")))
    assert found == [evaluate(Call("to_integer", (Literal(x),)), lambda name: None) for x, _ in made]


@pytest.mark.parametrize("power", [-980, -40, -1, 0, 1, 20, 900])
def test_steps_of_any_lattice_are_found(power, pairs):
    made, connection = pairs
    lattice = Lattice(1 / Fraction(2) ** power, -(2**51), 2**51, "number")
    found = computed(connection, place(lattice, column("x", "t"), PostgresDialect()))
    assert found == [lattice.place(x) for x, _ in made]
