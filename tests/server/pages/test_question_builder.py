"""What the builder offers is what the planner takes; labels and names are SQL."""

import pytest

from discreet.apps.server.pages.dataset_pages import examples
from discreet.apps.server.pages.question_builder import building_blocks, sql_name, sql_value, uses_of
from discreet.asking.planning import plan_asked
from discreet.asking.policy import from_arguments

COLUMNS = {
    "types": {
        "person": "integer",
        "shop": "text",
        "new": "boolean",
        "when": "date",
        "free text": "text",
        "age": "integer",
    },
    "bounds": {"debt": (0, 100), "day": ("2025-01-01", "2025-12-31"), "age": (0, 99)},
    "keys": {"city": ["Ottawa", "O'Brien's", "Київ"]},
}


def policy(**budget):
    bounds = {**COLUMNS["bounds"]}
    return from_arguments(
        sources={"t": None}, id="t", unit="person", budget={"epsilon": 1, **budget}, population=1000,
        **{**COLUMNS, "bounds": bounds, "types": {**COLUMNS["types"], "day": "date"}},
    )  # fmt: skip


@pytest.mark.parametrize("budget", [{}, {"delta": 1e-6}], ids=["pure", "with delta"])
def test_every_question_that_can_be_built_is_taken(budget):
    declared = policy(**budget)
    (table,) = building_blocks(declared)
    for group in [None, *table["groups"]]:
        for measure in table["measures"]:
            key = "" if group is None else f"{group['sql']}{' AS ' + group['as'] if group['as'] else ''}, "
            by = "" if group is None else f" GROUP BY {group['as'] or group['sql']}"
            sql = f"SELECT {key}{measure['sql']} AS {measure['as']} FROM {table['sql']}{by}"
            assert plan_asked(sql, declared, epsilon=1), sql
    for column in table["filters"]:
        for _, value in column["labels"]:
            sql = f"SELECT COUNT(*) AS n FROM t WHERE {column['sql']} = {value}"
            assert plan_asked(sql, declared, epsilon=1), sql


def test_only_what_is_allowed_is_offered():
    (pure,), (found,) = (building_blocks(policy(**more)) for more in ({}, {"delta": 1e-6}))
    names = {"city", "day", "age", "new", "month of day", "year of day"}
    assert {each["text"] for each in pure["groups"]} == names
    assert "shop (labels found, costs δ)" in {each["text"] for each in found["groups"]}
    assert not any("person" in each["text"] for each in pure["groups"] + pure["filters"])


def test_the_column_for_says_what_the_planner_does():
    declared = policy(delta=1e-6)
    uses = {each.name: uses_of(each, declared.tables[0], declared) for each in declared.tables[0].columns}
    assert uses["city"] == "filter, group by, all labels shown"
    assert uses["age"] == "filter, group by, all labels shown, sum, average, quantiles"
    assert uses["shop"] == "filter, group by, labels found for δ: rare ones are hidden"
    without = policy()
    assert uses_of(without.tables[0].column("shop"), without.tables[0], without) == "filter"


@pytest.mark.parametrize("name", ["order", "select", "From", "group", "all", "true", "current_date", "any"])
def test_a_name_that_is_a_word_of_sql_is_a_name_all_the_same(name):
    given = from_arguments(
        id="t",
        sources={name: None},
        unit=name,
        budget={"epsilon": 1},
        types={name: "text"},
        keys={"in": ["a"]},
        bounds={"not": (0, 5)},
    )
    for _, question in examples(given):
        plan_asked(question, given, epsilon=0.1)


def test_names_and_values_are_quoted_where_sql_needs_it():
    assert sql_name("SELECTed thing") == '"SELECTed thing"'
    assert sql_value("it's", "text") == "'it''s'"
    assert sql_value(True, "boolean") == "TRUE"
