from fractions import Fraction

import pytest

from discreet.asking.policy import Policy, each_row, from_arguments, from_policy, from_toml, ledger_of_policy
from discreet.errors import InvalidParameter

TEXT = """
[dataset]
id = "bank"
version = "2026-11"
population = 100000
budget = { epsilon = 1, delta = 1e-6 }
[tables.bank]
source = "bank.parquet"
unit = "person"
max_groups = 3
max_rows = 10
[tables.bank.columns]
debt = { type = "number", bounds = [0, 10000000] }
city = { type = "text", keys = ["Ottawa", "Toronto"] }
"""


def test_the_file_and_the_arguments_make_the_same_object():
    opened = from_arguments(
        sources={"bank": "elsewhere.parquet"},
        id="bank",
        unit="person",
        budget={"epsilon": 1, "delta": 1e-6},
        types={"debt": "number", "city": "text"},
        bounds={"debt": (0, 10_000_000)},
        keys={"city": ["Ottawa", "Toronto"]},
        max_groups=3,
        max_rows=10,
        population=100_000,
        version="2026-11",
    )
    assert opened == from_toml(TEXT)
    assert opened.digest == from_toml(TEXT).digest


def test_sources_lie_beside_the_file(tmp_path):
    (tmp_path / "bank.toml").write_text(TEXT)
    assert from_policy(tmp_path / "bank.toml").tables[0].source == str(tmp_path / "bank.parquet")


PARTS = """
per_analyst = { epsilon = 0.5, delta = 0 }
per_question = { epsilon = 0.1 }
share_answers = true
[ledger]
place = "kept/bank.ledger"
anchor = { publish = ["ssh", "elsewhere", "keep"], latest = ["ssh", "elsewhere", "show"] }
key_file = "/etc/bank.key"
"""


def test_budgets_by_analyst_and_question_and_the_ledgers_place_are_the_policys(tmp_path):
    text = TEXT.replace("\n[tables.bank]", PARTS + "[tables.bank]", 1)
    (tmp_path / "bank.toml").write_text(text)
    stated = from_policy(tmp_path / "bank.toml")
    assert dict(stated.per_analyst) == {"epsilon": Fraction(1, 2), "delta": 0}
    assert dict(stated.per_question) == {"epsilon": Fraction(1, 10)}
    assert stated.share_answers is True
    assert stated.ledger.place == str(tmp_path / "kept/bank.ledger")
    assert stated.ledger.anchor.latest == ("ssh", "elsewhere", "show")
    assert stated.ledger.key_file == "/etc/bank.key"
    assert ledger_of_policy(tmp_path / "bank.toml") == stated.ledger
    assert stated.digest != from_toml(TEXT).digest


def test_where_the_ledger_lies_is_no_part_of_what_the_policy_is(tmp_path):
    (tmp_path / "bank.toml").write_text(TEXT)
    assert from_policy(tmp_path / "bank.toml").ledger.place == str(tmp_path / "bank.ledger")
    moved = from_toml(TEXT + '[ledger]\nplace = "postgresql://elsewhere/bank"\n')
    assert (moved, moved.digest) == (from_toml(TEXT), from_toml(TEXT).digest)
    assert moved.ledger.place == "postgresql://elsewhere/bank"
    assert "elsewhere" not in repr(moved)


@pytest.mark.parametrize(
    "wrong",
    [
        '[ledger]\nkey = "secret"',
        '[ledger]\nplace = ""',
        "[ledger]\nanchor = 3",
        '[ledger]\nanchor = { publish = ["x"] }',
        '[ledger]\nanchor = { publish = "x", latest = "y" }',
        '[ledger]\nplace = "postgresql://bank:secret@elsewhere/bank"',
        '[ledger]\nplace = "postgresql://elsewhere/bank?password=secret"',
    ],
)
def test_a_wrong_place_is_refused_and_no_secret_is_repeated(wrong):
    with pytest.raises(InvalidParameter) as refusal:
        from_toml(TEXT + wrong)
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("population = 100000", "per_analyst = { rho = 1 }"),
        ("population = 100000", "per_question = { epsilon = 0 }"),
        ("population = 100000", 'share_answers = "yes"'),
        ("budget = { epsilon = 1, delta = 1e-6 }", ""),
        ("epsilon = 1", "epsilon = 0"),
        ("epsilon = 1", "epsilon = nan"),
        ("epsilon = 1", "epsilon = true"),
        ("epsilon = 1,", "rho = 1, epsilon = 1,"),
        ('id = "bank"', ""),
        ('id = "bank"', "id = 3"),
        ('unit = "person"', ""),
        ('unit = "person"', 'unit = "person"\neach_row = true'),
        ("max_rows = 10", "max_rowz = 10"),
        ("population = 100000", 'population = "many"'),
        ('type = "number", ', 'type = "decimal", '),
        ("bounds = [0, 10000000]", "bounds = [0]"),
        ("bounds = [0, 10000000]", "bounds = [0, inf]"),
        ("[dataset]", "[datasets]"),
        ("[dataset]", "[dataset"),
        ('keys = ["Ottawa", "Toronto"]', "keys = [1, 2]"),
    ],
)
def test_a_missing_or_wrong_setting_is_refused(before, after):
    assert before in TEXT
    with pytest.raises(InvalidParameter):
        from_toml(TEXT.replace(before, after))


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(InvalidParameter, match="readable"):
        from_policy(tmp_path / "none.toml")


def test_several_tables_say_their_units_by_name():
    policy = from_arguments(
        sources={"a": None, "b": None},
        id="x",
        unit={"a": "person", "b": ("a", {"key": "id"})},
        budget={"rho": 1},
        bounds={"a": {"debt": (0, 1)}},
        public={"cities": ("city", None)},
    )
    assert [str(table.unit) for table in policy.tables] == [
        "each person",
        "the unit of a, where key = a.id",
    ]
    assert policy.tables[0].column("debt").type == "number"
    assert policy.public[0].key == "city"
    with pytest.raises(InvalidParameter, match="'b'"):
        from_arguments(sources={"a": None, "b": None}, id="x", unit={"a": "p"}, budget={"rho": 1})


def test_each_row_may_be_the_unit():
    assert (
        from_arguments(sources={"a": None}, id="x", unit=each_row, budget={"mu": 1}).tables[0].unit
        == each_row
    )
    with pytest.raises(InvalidParameter):
        from_arguments(sources={"a": None}, id="x", unit=each_row, budget={"mu": 1}, max_groups=2)
    with pytest.raises(InvalidParameter):
        from_arguments(sources={"a": None}, id="x", unit=None, budget={"mu": 1})


@pytest.mark.parametrize(
    ("stated", "limit"),
    [
        ("", "auto"),
        ('limit = "auto"\nmax_rows = 3', "auto"),
        ("limit = 7", 7),
        ("max_groups = 1", None),
        ("max_rows = 1", None),
        ("each_row = true", None),
    ],
)
def test_a_limit_is_found_where_none_is_stated(stated, limit):
    """And nowhere else: who states how units are bounded gets that, and one row has nothing to find."""
    unit = "" if "each_row" in stated else 'unit = "person"\n'
    dataset = '[dataset]\nid = "t"\nbudget = { epsilon = 1 }\n'
    policy = from_toml(f"{dataset}[tables.t]\n{unit}{stated}\n")
    assert policy.tables[0].limit == limit
    assert Policy.from_json(policy.to_json()) == policy


def test_a_policy_that_was_stored_without_a_limit_still_has_none():
    """Ledgers of earlier versions hold such policies; they are read as they were meant."""
    policy = from_arguments(sources={"t": None}, id="t", unit="person", budget={"epsilon": 1})
    stored = policy.to_json()
    del stored["tables"]["t"]["limit"]
    earlier = Policy.from_json(stored)
    assert earlier.tables[0].limit is None
    assert (earlier.tables[0].max_groups, earlier.tables[0].max_rows) == (1, 1)
    assert earlier.digest != policy.digest
