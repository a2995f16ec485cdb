"""Invented tables for the bank policy, small enough to meet every corner: ties, duplicates, missing values,
NaN, infinities, ids at 2^53, empty tables, one person who owns half the rows."""

import datetime
import math
import random

import pyarrow as pa
from hypothesis import strategies as st

ARROW = {
    "integer": pa.int64(),
    "number": pa.float64(),
    "text": pa.string(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
}
BIG = 2**53

PEOPLE = st.one_of(st.none(), st.integers(1, 4), st.sampled_from([BIG, BIG + 1, -1, 0]))
NUMBERS = st.one_of(
    st.none(),
    st.sampled_from(
        [0.0, -0.0, 0.5, 1.0, 1e7, 1e308, -1e308, 5e-324, math.inf, -math.inf, math.nan, 1000.25]
    ),
    st.floats(-1e7, 2e7),
)
WHOLE = st.one_of(st.none(), st.integers(-3, 130), st.sampled_from([2**63 - 1, -(2**63), BIG + 1]))
TEXTS = st.one_of(
    st.none(),
    st.sampled_from(
        ["Ottawa", "Toronto", "Québec", "ottawa", "", "baker", "AB1", "5", "+7", "1e3", " 1", "NaN", "🦆é"]
    ),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=4),
)
DATES = st.one_of(
    st.none(),
    st.dates(datetime.date(2019, 12, 1), datetime.date(2021, 2, 1)),
    st.sampled_from([datetime.date(1, 1, 1), datetime.date(9999, 12, 31)]),
)
MOMENTS = st.one_of(
    st.none(),
    st.datetimes(datetime.datetime(2019, 12, 1), datetime.datetime(2021, 2, 1)).map(
        lambda moment: moment.replace(fold=0)  # of time zones, which there are none of
    ),
    st.sampled_from([datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31, 23, 59, 59, 999999)]),
)
FLAGS = st.one_of(st.none(), st.booleans())
IDS = st.integers(0, 12)

COLUMNS = {
    "accounts": {
        "person": PEOPLE,
        "debt": NUMBERS,
        "income": NUMBERS,
        "age": WHOLE,
        "children": WHOLE,
        "city": TEXTS,
        "job": TEXTS,
        "active": FLAGS,
        "opened": DATES,
        "seen": MOMENTS,
        "code": TEXTS,
    },
    "payments": {"account": st.one_of(st.none(), IDS), "amount": NUMBERS, "shop": TEXTS, "paid": DATES},
    "visits": {
        "visitor": PEOPLE,
        "branch": st.sampled_from(["north", "south", "west", None]),
        "minutes": WHOLE,
    },
    "survey": {"score": WHOLE, "remark": TEXTS},
}
CITIES = [
    {"city": "Ottawa", "province": "Ontario", "size": 1_000_000, "region": 1},
    {"city": "Toronto", "province": "Ontario", "size": 3_000_000, "region": 1},
    {"city": "Québec", "province": "Quebec", "size": 500_000, "region": 2},
    {"city": None, "province": "Quebec", "size": None, "region": None},
]
REGIONS = [{"region": 1, "label": "x"}, {"region": 2, "label": None}]


@st.composite
def tables(draw, most=14):
    """Rows of every table; the ids of accounts differ, rows may be equal otherwise, and may be repeated."""
    made = {"cities": CITIES, "regions": REGIONS}
    for name, columns in COLUMNS.items():
        rows = draw(st.lists(st.fixed_dictionaries(columns), max_size=most))
        copies = draw(st.integers(1, 3))
        made[name] = [dict(row) for row in rows for _ in range(copies)]
    for index, row in enumerate(made["accounts"]):
        row["id"] = index
    return made


BIRTHS = [None, datetime.date(1, 1, 1), datetime.date(9999, 12, 31)]
BIRTHS += [datetime.date(2020, 1, 1) + datetime.timedelta(days=37 * index) for index in range(12)]
DRAWN = {
    id(PEOPLE): [None, 1, 2, 3, BIG, BIG + 1, -1, *[4] * 7],  # one person owns half the rows
    id(NUMBERS): [None, 0.0, -0.0, 0.5, 1e7, 1e308, -1e308, 5e-324, math.inf, -math.inf, math.nan, 1e3, 77.7],
    id(WHOLE): [None, *range(-3, 125, 7), 2**63 - 1, -(2**63), BIG + 1],
    id(TEXTS): [None, *["Ottawa", "Toronto", "Québec"] * 2, "", "baker", "5", "+7", "1e3", "NaN", "🦆é"],
    id(DATES): BIRTHS,
    id(MOMENTS): [each and datetime.datetime.combine(each, datetime.time.max) for each in BIRTHS],
    id(FLAGS): [None, True, False],
}  # fmt: skip


def crowd(seed, size=300):
    """Rows of every table, drawn from the corners above, always the same for a seed."""
    draw = random.Random(seed)
    made = {"cities": CITIES, "regions": REGIONS}
    for name, columns in COLUMNS.items():
        made[name] = [
            {
                column: draw.choice(DRAWN.get(id(strategy), [None, *range(13)]))
                for column, strategy in columns.items()
            }
            for _ in range(size)
        ]
    for index, row in enumerate(made["accounts"]):
        row["id"] = index
    for row in made["visits"]:
        row["branch"] = draw.choice(["north", "south", "west", None])
    return made


def as_arrow(policy, rows):
    """The same rows as Arrow tables, typed as the policy says."""
    frames = {}
    for table in (*policy.tables, *policy.public):
        fields = {column.name: ARROW[column.type] for column in table.columns}
        data = {name: [row.get(name) for row in rows[table.name]] for name in fields}
        frames[table.name] = pa.table(
            {name: pa.array(values, fields[name], from_pandas=False) for name, values in data.items()}
        )
    return frames
