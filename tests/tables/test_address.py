"""Addresses in policies: names of tables are not paths, and no secret is written down."""

import pytest

from discreet.asking.policy import from_policy
from discreet.errors import InvalidParameter

POLICY = """
[dataset]
id = "bank"
budget = {{ epsilon = 1 }}
engine = "{engine}"
[tables.accounts]
source = "bank.accounts"
unit = "person"
"""


@pytest.fixture
def written(tmp_path):
    def write(engine):
        (tmp_path / "bank.toml").write_text(POLICY.format(engine=engine))
        return tmp_path / "bank.toml"

    return write


def test_a_source_is_a_name_in_a_database_and_a_path_elsewhere(written, tmp_path):
    assert from_policy(written("postgresql://host/bank")).tables[0].source == "bank.accounts"
    assert from_policy(written("duckdb")).tables[0].source == str(tmp_path / "bank.accounts")
    chosen = from_policy(written("duckdb"), engine="postgresql://host/bank")
    assert chosen.tables[0].source == "bank.accounts"


@pytest.mark.parametrize("address", ["postgresql://me:secret@host/bank", "postgresql://h/b?password=secret"])
def test_a_password_in_a_policy_is_refused_and_not_repeated(address, written):
    with pytest.raises(InvalidParameter, match="must not hold a password") as caught:
        from_policy(written(address))
    assert "secret" not in str(caught.value)


def test_an_engine_is_a_name(tmp_path):
    (tmp_path / "bank.toml").write_text(POLICY.format(engine="x").replace('"x"', "7"))
    with pytest.raises(InvalidParameter, match="engine of"):
        from_policy(tmp_path / "bank.toml")


def test_the_address_is_not_shown_with_the_policy(written):
    assert "somewhere" not in repr(from_policy(written("postgresql://somewhere/bank")))
