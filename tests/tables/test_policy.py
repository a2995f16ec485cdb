from dataclasses import FrozenInstanceError, replace

import pytest

from discreet.asking.policy import (
    Column,
    Policy,
    PublicTable,
    Table,
    Through,
    UnitColumn,
    from_toml,
    read_budget,
)
from discreet.errors import InvalidParameter, PolicyViolation

BUDGET = read_budget({"epsilon": 1, "delta": 1e-6})


def policy(**changes):
    table = Table(name="accounts", unit=UnitColumn("person"))
    return Policy(**({"id": "bank", "budget": BUDGET, "tables": (table,)} | changes))


def test_a_policy_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        policy().version = "2"


def test_where_the_data_lies_is_no_part_of_its_identity():
    here = policy(tables=(Table(name="t", unit=UnitColumn("p"), source="a.csv"),))
    there = policy(tables=(Table(name="t", unit=UnitColumn("p"), source="b.csv"),))
    assert here.digest == there.digest
    assert here == there


@pytest.mark.parametrize(
    "changes",
    [
        {"version": "2"},
        {"id": "other"},
        {"relation": "replace"},
        {"population": 10},
        {"budget": read_budget({"rho": 1})},
        {"filter": "advanced"},
        {"tables": (Table(name="accounts", unit=UnitColumn("person"), max_rows=2),)},
        {"tables": (Table(name="accounts", unit=UnitColumn("person"), max_groups=2),)},
        {"tables": (Table(name="accounts", unit=UnitColumn("owner")),)},
        {"public": (PublicTable(name="cities", key="city"),)},
    ],
)
def test_everything_that_changes_meaning_or_price_changes_the_digest(changes):
    assert policy(**changes).digest != policy().digest


@pytest.mark.parametrize(
    "changes",
    [
        {"population": 10},
        {"budget": read_budget({"epsilon": 2, "delta": 1e-5})},
        {"per_analyst": read_budget({"epsilon": 0.5})},
        {"per_question": read_budget({"epsilon": 0.5})},
    ],
)
def test_what_may_be_spent_and_how_many_people_there_are_decide_no_answer(changes):
    assert policy(**changes).answers_digest == policy().answers_digest


@pytest.mark.parametrize(
    "changes",
    [
        {"version": "2"},
        {"id": "other"},
        {"relation": "replace"},
        {"budget": read_budget({"rho": 1})},
        {"filter": "advanced"},
        {"share_answers": True},
        {"tables": (Table(name="accounts", unit=UnitColumn("person"), limit=2),)},
        {"tables": (Table(name="accounts", unit=UnitColumn("person"), columns=(Column.read("a"),)),)},
        {"public": (PublicTable(name="cities", key="city"),)},
    ],
)
def test_everything_that_decides_an_answer_changes_its_digest(changes):
    assert policy(**changes).answers_digest != policy().answers_digest


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "3", 2**31])
def test_limits_are_small_whole_numbers(wrong):
    with pytest.raises(InvalidParameter):
        Table(name="t", unit=UnitColumn("p"), max_rows=wrong)
    with pytest.raises(InvalidParameter):
        Table(name="t", unit=UnitColumn("p"), max_groups=wrong)


@pytest.mark.parametrize("kind", ["number", "boolean", "date", "timestamp"])
def test_a_unit_is_never_a_type_that_merges_people(kind):
    column = Column.read("person", type=kind)
    with pytest.raises(InvalidParameter, match="integer or text"):
        Table(name="t", unit=UnitColumn("person"), columns=(column,))


def test_columns_and_tables_differ_in_more_than_case():
    with pytest.raises(InvalidParameter, match="twice"):
        Table(name="t", unit=UnitColumn("p"), columns=(Column.read("A"), Column.read("a")))
    with pytest.raises(InvalidParameter, match="twice"):
        policy(public=(PublicTable(name="ACCOUNTS", key="k"),))


def test_foreign_keys_lead_to_a_unit_without_a_circle():
    first = Table(name="a", unit=Through("b", (("x", "y"),)))
    second = Table(name="b", unit=Through("a", (("x", "y"),)))
    for tables in ((first,), (first, second)):
        with pytest.raises(PolicyViolation):
            policy(tables=tables)


def test_the_path_to_the_unit_is_followed():
    text = """
    [dataset]
    id = "shop"
    budget = { rho = 0.1 }
    [tables.customer]
    unit = "c"
    [tables.orders]
    unit = { through = "customer", on = { c = "c" } }
    [tables.lines]
    unit = { through = "orders", on = { o = "o" } }
    """
    shop = from_toml(text)
    assert [table.name for table in shop.path_to_unit(shop.tables[2])] == ["lines", "orders", "customer"]


def test_a_schema_adds_columns_and_never_overrides_a_declared_type():
    table = Table(
        name="t",
        unit=UnitColumn("person"),
        columns=(Column.read("debt", bounds=(0, 10)), Column.read("code", type="text")),
    )
    schema = {"t": {"person": "integer", "debt": "integer", "code": "integer"}}
    read = policy(tables=(table,)).with_schema(schema).tables[0]
    assert [(each.name, each.type) for each in read.columns] == [
        ("debt", "integer"),
        ("code", "text"),
        ("person", "integer"),
    ]


def test_a_schema_whose_unit_merges_people_is_refused():
    with pytest.raises(InvalidParameter, match="integer or text"):
        policy().with_schema({"accounts": {"person": "number"}})


def test_names_are_found_in_any_case():
    assert policy().table("ACCOUNTS") is policy().tables[0] or policy().table("ACCOUNTS").name == "accounts"
    assert policy().table("nothing") is None


@pytest.mark.parametrize("wrong", ["local", "swap", None])
def test_relations_are_the_two_of_the_central_model(wrong):
    with pytest.raises(InvalidParameter, match="relation"):
        replace(policy(), relation=wrong)
