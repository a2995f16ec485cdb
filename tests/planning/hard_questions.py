"""Questions that work an engine as hard as they may: generated, from a number that says which."""

import random

from discreet.asking.policy import from_toml

POPULATION, GROUPS, ROWS = 10, 3, 10
SHOPS = [f"shop {number}" for number in range(8)]
POLICY = from_toml(
    f"""
[dataset]
id = "work"
population = {POPULATION}
budget = {{ epsilon = 1, delta = 1e-6 }}
[tables.buys]
unit = "person"
max_groups = {GROUPS}
max_rows = {ROWS}
[tables.buys.columns]
person = {{ type = "integer" }}
paid = {{ type = "number", bounds = [0, 1000] }}
age = {{ type = "integer", bounds = [0, 120] }}
shop = {{ type = "text", keys = {SHOPS} }}
code = {{ type = "text" }}
"""
)
AGGREGATES = (
    "COUNT(*)",
    "SUM({})",
    "AVG({})",
    "VARIANCE({})",
    "MEDIAN({})",
    "COUNT({})",
    "COUNT(DISTINCT person)",
    "MODE(shop)",
)


def rows(people=POPULATION, *, seed=1):
    """People with as many rows as count, all of them: one more person is `people + 1`."""
    draw = random.Random(seed)
    return [
        {
            "person": person,
            "paid": draw.random() * 1000,
            "age": draw.randrange(121),
            "shop": SHOPS[row % GROUPS],
            "code": str(draw.randrange(10**6)),
        }
        for person in range(people)
        for row in range(GROUPS * ROWS)
    ]


def question(number):
    """One question; the same for the same number."""
    draw = random.Random(number)
    source = _source(draw)
    value = _number(draw, draw.choice([0, 1, 3, 6]))
    test = " OR ".join(_test(draw) for _ in range(draw.choice([1, 1, 2, 5])))
    chosen = draw.sample(AGGREGATES, draw.choice([1, 1, 2, 4]))
    asked = [f"{each.format(value)} FILTER (WHERE {test}) AS n{place}" for place, each in enumerate(chosen)]
    keys = draw.choice([[], ["shop"], ["code"], ["shop", "age % 5"]])
    grouped = f" GROUP BY {draw.choice(['{}', 'ROLLUP({})']).format(', '.join(keys))}" if keys else ""
    named = [f"{key} AS k{place}" for place, key in enumerate(keys)]
    return f"SELECT {', '.join([*named, *asked])} FROM {source}{grouped}"


def _source(draw):
    """What is read: the table, once or several times."""
    kind = draw.choice(["table", "filtered", "union", "joined", "doubled"])
    if kind == "table":
        return "buys"
    if kind == "filtered":
        return f"(SELECT * FROM buys WHERE {_test(draw)}) AS s"
    one = "SELECT person, paid, age, shop, code FROM {}"
    if kind == "union":
        return f"({' UNION ALL '.join([one.format('buys')] * draw.choice([2, 3, 8]))}) AS s"
    if kind == "joined":
        pairs = "buys AS l JOIN buys AS r ON l.person = r.person"
        return f"(SELECT l.person, l.paid, r.age, r.shop, l.code FROM {pairs}) AS s"
    two = f"{one.format('buys')} UNION ALL {one.format('buys')}"
    return f"({one.format(f'({two}) AS a')} UNION ALL {one.format(f'({two}) AS b')}) AS s"


def _number(draw, depth):
    if depth == 0:
        return draw.choice(["paid", "age", "2.5", "LENGTH(code)"])
    inner = _number(draw, depth - 1)
    return draw.choice(
        [
            f"({inner} + {draw.randrange(9)})",
            f"({inner} * 0.5)",
            f"({inner} / 3)",
            f"ABS({inner} - 7)",
            f"ROUND({inner})",
            f"COALESCE({inner}, 0)",
            f"CASE WHEN LOWER(code) > '5' THEN {inner} ELSE 1 END",
            f"WIDTH_BUCKET({inner}, 0, 100, 7)",
        ]
    )


def _test(draw):
    text = "SUBSTR(code, 1, 4)"
    for _ in range(draw.choice([1, 1, 3, 8])):
        text = f"{draw.choice(['LOWER', 'UPPER'])}({text})"
    return draw.choice(
        [
            f"{text} = '~'",
            f"{text} LIKE '%7_~%'",
            f"CAST({text} AS BIGINT) = {draw.randrange(10**4)}",
            f"({_number(draw, 1)}) > {draw.randrange(2000)}",
            f"CAST(CAST({text} AS DATE) AS VARCHAR) = '2020-01-01'",
        ]
    )
