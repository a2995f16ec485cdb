"""Generated FROM clauses: tables and subqueries under any alias, their columns renamed, joined in any way."""

import itertools

from hypothesis import strategies as st

COLUMNS = {
    "accounts": ["person", "id", "age", "city"],
    "payments": ["account", "amount", "shop"],
    "visits": ["visitor", "branch", "minutes"],
    "cities": ["city", "size", "region"],
    "regions": ["region", "label"],
}
EVERY = sorted(set(itertools.chain(*COLUMNS.values())))
ALIASES = [*COLUMNS, "a", "b"]
FITTING = [
    *(("account", "id"), ("person", "person"), ("person", "visitor"), ("visitor", "visitor")),
    *(("city", "city"), ("shop", "city"), ("region", "region")),
    *(("account", "account"), ("id", "person"), ("account", "age")),  # these do not
]


@st.composite
def members(draw):
    """A table, or a subquery that gives its columns under the names of others: SQL, alias and columns."""
    table = draw(st.sampled_from(list(COLUMNS)))
    alias = draw(st.sampled_from([table, table, *ALIASES]))
    if draw(st.integers(0, 2)):
        return f"{table} AS {alias}", alias, COLUMNS[table]
    names = draw(st.lists(st.sampled_from(EVERY), min_size=1, max_size=4, unique=True))
    own = [name if name in COLUMNS[table] else "1" for name in names]
    given = [draw(st.sampled_from([*COLUMNS[table], each, each])) for each in own]
    outputs = ", ".join(f"{column} AS {name}" for column, name in zip(given, names, strict=True))
    if table == "accounts" and draw(st.booleans()):
        by_person = "SELECT person, COUNT(*) AS account, MAX(age) AS id FROM accounts GROUP BY person"
        return f"({by_person}) AS {alias}", alias, ["person", "account", "id"]
    return f"(SELECT {outputs} FROM {table}) AS {alias}", alias, names


@st.composite
def joined_questions(draw):
    """COUNT(*) of two or three members, joined by columns that often fit."""
    parts = draw(st.lists(members(), min_size=2, max_size=3, unique_by=lambda part: part[1]))
    text = parts[0][0]
    for place, (source, alias, columns) in enumerate(parts[1:], 1):
        before = [(other, column) for _, other, known in parts[:place] for column in known]
        pairs = list(itertools.product(before, columns))
        fitting = [(left, right) for left, right in pairs
                   if (left[1], right) in FITTING or (right, left[1]) in FITTING]  # fmt: skip
        (table, column), right = draw(st.sampled_from(fitting or pairs))
        text += f" JOIN {source} ON {table}.{column} = {alias}.{right}"
    return f"SELECT COUNT(*) AS n FROM {text}"
