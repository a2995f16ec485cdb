"""Generated questions: every aggregate over every kind of source, by keys that are public or private."""

from hypothesis import strategies as st

from engines.questions import expressions

BY_PERSON = "(SELECT person, COUNT(*) AS n, MAX(age) AS oldest FROM accounts GROUP BY person) AS each"
SOURCES = {  # what may be averaged there, and what grouped by
    "accounts": (
        ["debt", "age", "children * age", "debt / 7 - age", "CASE WHEN active THEN age ELSE debt END"],
        ["city", "active", "job", "year(opened)", "WIDTH_BUCKET(debt, 0, 1000000, 4)"],
    ),
    "accounts JOIN cities USING (city)": (["debt", "size", "age - size"], ["province", "job"]),
    "payments": (["amount"], ["shop", "year(paid)"]),
    "payments JOIN accounts ON account = id": (["amount", "amount * age"], ["accounts.city", "shop"]),
    "visits JOIN accounts ON visitor = person": (["minutes", "minutes + age"], ["branch", "job", "city"]),
    BY_PERSON: (["oldest", "CASE WHEN n > 3 THEN 3 ELSE n END"], ["n", "n > 2"]),
    "survey": (["score"], ["score", "remark"]),
}
NUMERIC = ["COUNT", "SUM", "AVG", "VARIANCE", "STDDEV", "MEDIAN", "MIN", "MAX"]
OTHERS = ["COUNT(*)", "COUNT(DISTINCT city)", "COUNT(DISTINCT branch)", "MODE(city)", "MODE(branch)"]


@st.composite
def asked(draw):
    """One to three aggregates of one source, in up to two keys, filtered or not, rolled up or not."""
    source = draw(st.sampled_from(list(SOURCES)))
    columns, labels = SOURCES[source]
    numeric = st.builds(lambda name, x: f"{name}({x})", st.sampled_from(NUMERIC), st.sampled_from(columns))
    outputs = draw(st.lists(st.one_of(numeric, st.sampled_from(OTHERS)), min_size=1, max_size=3))
    where = ""
    if source == "accounts" and draw(st.booleans()):
        tests = expressions(1)["boolean"]
        where = f" WHERE {draw(tests)}"
        outputs[0] += f" FILTER (WHERE {draw(tests)})"
    keys = draw(st.lists(st.sampled_from(labels), max_size=2, unique=True))
    listed = ", ".join(f"{text} AS o{place}" for place, text in enumerate([*keys, *outputs]))
    listing = ", ".join(keys)
    groups = draw(st.sampled_from([listing, listing, listing, f"ROLLUP ({listing})"])) if keys else ""
    return f"SELECT {listed} FROM {source}{where}" + (f" GROUP BY {groups}" if groups else "")
