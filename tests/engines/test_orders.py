"""Questions through two foreign keys and public tables, against what plain DuckDB says without any limits."""

import datetime
import random

import duckdb
import pyarrow as pa
import pytest

from discreet.asking.engines import DuckDBEngine
from discreet.asking.planning import Sum, plan_exact
from discreet.asking.policy import from_toml
from discreet.asking.queries import read_question

POLICY = from_toml("""
[dataset]
id = "shop"
budget = { rho = 1 }
[tables.customer]
unit = "customer"
[tables.orders]
unit = { through = "customer", on = { buyer = "customer" } }
[tables.lines]
unit = { through = "orders", on = { part_of = "number" } }
max_groups = 50
max_rows = 10000
[tables.lines.columns]
price = { type = "number", bounds = [0, 1000] }
discount = { type = "number", bounds = [0, 0.1] }
flag = { type = "text", keys = ["A", "N", "R"] }
[public.supplier]
key = "supplier"
[public.nation]
key = "nation"
""")
QUESTIONS = [
    "SELECT flag, SUM(price * (1 - discount)) AS revenue, COUNT(*) AS n FROM lines "
    "WHERE shipped <= DATE '1998-12-01' - INTERVAL '90' DAY GROUP BY flag ORDER BY flag",
    "SELECT 'all' AS k, SUM(price * discount) AS revenue, COUNT(*) AS n FROM lines "
    "WHERE discount BETWEEN 0.06 - 0.01 AND 0.06 + 0.01 GROUP BY k",
    "SELECT name, SUM(price * (1 - discount)) AS revenue, COUNT(*) AS n "
    "FROM customer, orders, lines, supplier, nation WHERE customer.customer = buyer AND part_of = number "
    "AND lines.sold_by = supplier AND home = seat AND seat = nation AND ordered >= DATE '1994-01-01' "
    "AND ordered < DATE '1994-01-01' + INTERVAL '4' YEAR GROUP BY name ORDER BY name",
]


@pytest.fixture(scope="module")
def shop():
    draw = random.Random(7)
    day = [datetime.date(1994, 1, 1) + datetime.timedelta(days=draw.randrange(2000)) for _ in range(900)]
    return {
        "customer": pa.table({"customer": range(60), "home": [draw.randrange(4) for _ in range(60)]}),
        "orders": pa.table({"number": range(200), "buyer": [draw.randrange(60) for _ in range(200)],
                            "ordered": day[:200]}),
        "lines": pa.table({"part_of": [draw.randrange(200) for _ in range(900)], "shipped": day,
                           "sold_by": [draw.randrange(9) for _ in range(900)],
                           "price": [draw.randrange(4000) / 4 for _ in range(900)],
                           "discount": [draw.randrange(11) / 100 for _ in range(900)],
                           "flag": [draw.choice("ANR") for _ in range(900)]}),
        "supplier": pa.table({"supplier": range(9), "seat": [draw.randrange(4) for _ in range(9)]}),
        "nation": pa.table({"nation": range(4), "name": ["CHINA", "INDIA", "JAPAN", "VIETNAM"]}),
    }  # fmt: skip


@pytest.mark.parametrize("text", QUESTIONS)
def test_with_limits_that_bind_nobody_the_answer_is_the_plain_one(text, shop):
    engine = DuckDBEngine(POLICY, shop)
    (plans,) = plan_exact(read_question(text, engine.policy), salt=1)
    (plan,) = plans.plans
    found = engine.run(plan)
    engine.close()
    with duckdb.connect() as plain:
        for name, table in shop.items():
            plain.register(name, table)
        expected = {row[0]: row[1:] for row in plain.execute(text).fetchall()}
    sums = next(index for index, each in enumerate(plan.measures) if isinstance(each, Sum))
    counts = plans.parts[1].measures[0]
    step = float(plan.measures[sums].lattice.step)
    assert {group[0] for group in found.groups} == set(expected)
    for group, totals in zip(found.groups, found.totals, strict=True):
        revenue, count = expected[group[0]]
        assert totals[counts] == count
        assert totals[sums] * step == pytest.approx(float(revenue), abs=step * count)
