"""Hierarchies in a policy: from a file or from rows, the same object, part of the policy's identity."""

import json

import pytest

from discreet.asking.policy import Policy, from_arguments, from_policy
from discreet.errors import InvalidParameter

PATHS = [("west", "CA", 1), ("east", "NY", 5), ("west", "WA", 3), ("west", "CA", 2)]
CSV = "code,region,state,county\n" + "".join(f"x,{a},{b},{c}\n" for a, b, c in PATHS)


def policy_of(paths=PATHS, name="region > state > county", **more):
    given = {"id": "t", "sources": {"t": None}, "unit": "person", "budget": {"rho": 1}}
    return from_arguments(**(given | {"hierarchies": {name: paths}} | more))


def test_children_of_one_label_stand_side_by_side():
    (table,) = policy_of().tables
    (found,) = table.hierarchies
    assert table.column("county").keys == (1, 2, 3, 5)
    assert found.labels == (("west", "east"), ("CA", "WA", "NY"))
    assert found.starts == ((0, 3), (0, 2, 3))


def test_a_file_says_the_same(tmp_path):
    (tmp_path / "places.csv").write_text(CSV)
    types = {"county": "integer"}
    (read,) = policy_of(tmp_path / "places.csv", types=types).tables
    (stated,) = policy_of(types=types).tables
    assert read == stated
    (tmp_path / "t.toml").write_text(
        '[dataset]\nid = "t"\nbudget = { rho = 1 }\n[tables.t]\nunit = "person"\nsource = "t.csv"\n'
        '[tables.t.hierarchies]\n"region > state > county" = "places.csv"\n'
        '[tables.t.columns]\ncounty = { type = "integer" }\n'
    )
    (table,) = from_policy(tmp_path / "t.toml").tables
    assert (table.hierarchies, table.column("county").keys) == (stated.hierarchies, (1, 2, 3, 5))


def test_paths_are_part_of_the_identity_and_survive_json():
    policy = policy_of()
    assert Policy.from_json(json.loads(json.dumps(policy.to_json()))) == policy
    other = policy_of([("west", "CA", 1), ("west", "NY", 5), ("west", "WA", 3), ("west", "CA", 2)])
    assert other.tables[0].column("county").keys == (1, 2, 5, 3)
    assert len({policy.digest, other.digest, policy_of(name="region > land > county").digest}) == 3
    without = from_arguments(id="t", sources={"t": None}, unit="person", budget={"rho": 1})
    assert "hierarchies" not in json.dumps(without.to_json())  # as the ledgers of before know it


@pytest.mark.parametrize(
    ("paths", "name", "told"),
    [
        (PATHS, "county", "2 to 8 levels"),
        (PATHS, "region > > county", "2 to 8 levels"),
        (PATHS, "region > Region > county", "2 to 8 levels"),
        (PATHS, "region > county", "rows of 2"),
        ([], "region > county", "rows of 2"),
        ([*PATHS, ("east", "CA", 9)], "region > state > county", "one region"),
        ([*PATHS, ("west", "CA", 1)], "region > state > county", "one path"),
        ([("west", "", 1)], "region > state > county", "1 to 1,000"),
        ([("west", "CA", None)], "region > state > county", "a value"),
        ("nothing.csv", "region > state > county", "can be read"),
    ],
)
def test_what_is_no_hierarchy_is_refused(paths, name, told):
    with pytest.raises(InvalidParameter, match=told):
        policy_of(paths, name)


def test_a_file_without_the_levels_and_other_keys_are_refused(tmp_path):
    (tmp_path / "places.csv").write_text("region,county\nwest,1\n")
    with pytest.raises(InvalidParameter, match="with the columns"):
        policy_of(tmp_path / "places.csv")
    with pytest.raises(InvalidParameter, match="labels of its hierarchy"):
        policy_of(keys={"county": [1, 2]})
    assert policy_of(keys={"county": [5, 3, 2, 1]}).tables[0].column("county").keys == (1, 2, 3, 5)
    with pytest.raises(InvalidParameter, match="must map"):
        from_arguments(id="t", sources={"t": None}, unit="person", budget={"rho": 1}, hierarchies=[1])
