"""Rows and groups are chosen evenly: every row of a person is as likely to be kept as any other, equal rows
included, and so is every group. Each engine with the hash it has in use, each time under a fresh salt.

Everybody has the same rows in the same groups, so how often each is kept is compared with an even choice by
Pearson's chi-square. Its critical value is that of 1e-12, a thousand times beyond the 1e-9 that a false alarm
may have, because the law is a limit (at least 200 are expected in each place). With n things kept in all, and
shares that are off by r (relative, in the quadratic mean), the statistic is n r^2 larger: where that is 150
for 3 or 8 things, or 300 for 100, the test notices with probability 0.999 or more. That is 27 % for 2,000
people who keep one of three groups, 9 % for the 20,000 of DuckDB; 0.50, 0.25, 0.25 is off by 35 %.
"""

import contextlib
import secrets

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chi2
from sqlglot import exp

from discreet.asking.engines import (
    DuckDBEngine,
    MemoryEngine,
    PostgresEngine,
    SparkEngine,
    memory,
)
from discreet.asking.engines.duckdb.dialect import DuckDBDialect
from discreet.asking.engines.sql import binary, bounding, call, cast, relations, whole
from discreet.asking.engines.sql.bounding import Statement
from discreet.asking.planning import plan_exact
from discreet.asking.policy import from_toml
from discreet.asking.queries import read_question
from engines.registry import NumberingDuckDB, fill

FALSE_ALARM = 1e-12
PEOPLE = {"duckdb": 20_000, "numbered": 20_000}
FEW = 2_000  # elsewhere
COPIES = (1, 9, 90)  # of the values 0, 1, 2
MOST = 20  # rows of a person are kept
GROUPS = {3: 1, 8: 3, 100: 20}  # how many there are, and how many are kept
TEXT = f"""
[dataset]
id = "even"
budget = {{ epsilon = 1, delta = 1e-6 }}
[tables.rows]
unit = "u"
max_rows = {MOST}
[tables.rows.columns]
u = {{ type = "integer" }}
v = {{ type = "number", bounds = [0, 2] }}
[tables.people]
unit = "u"
[tables.people.columns]
u = {{ type = "integer" }}
"""
for groups, kept in GROUPS.items():
    TEXT += f"""
[tables.t{groups}]
unit = "u"
max_groups = {kept}
[tables.t{groups}.columns]
u = {{ type = "integer" }}
g = {{ type = "integer" }}
k = {{ type = "integer", keys = {list(range(groups))} }}
"""
POLICY = from_toml(TEXT)
EACH = ", ".join(f"COUNT(*) FILTER (WHERE v = {value}) AS n{value}" for value in range(len(COPIES)))
SUMS = f"SELECT {EACH} FROM rows"
TALLY = "SELECT MEDIAN(v) AS m FROM rows"
JOINED = f"SELECT {EACH} FROM rows JOIN people ON rows.u = people.u"


def columns(people):
    """The tables' columns: each value in its copies, each group once, for everybody."""
    values = np.repeat(np.arange(len(COPIES), dtype=float), COPIES)
    some = max(people // 10, FEW // 2)  # have a hundred rows, or are in a hundred groups
    found = {"rows": {"u": np.repeat(np.arange(some), len(values)), "v": np.tile(values, some)}}
    found["people"] = {"u": np.arange(some)}
    for groups in GROUPS:
        count = some if groups == 100 else people
        labels = np.tile(np.arange(groups), count)
        found[f"t{groups}"] = {"u": np.repeat(np.arange(count), groups), "g": labels, "k": labels}
    return found


def as_rows(tables):
    """The same as rows."""
    made = {}
    for name, table in tables.items():
        listed = zip(*(each.tolist() for each in table.values()), strict=True)
        made[name] = [dict(zip(table, row, strict=True)) for row in listed]
    return made


@contextlib.contextmanager
def opened(name, request):
    tables = columns(PEOPLE.get(name, FEW))
    if name == "memory":
        yield MemoryEngine(POLICY, as_rows(tables))
        return
    if name == "postgresql":
        address = request.getfixturevalue("postgres_database")
        fill(address, POLICY, as_rows(tables))
        made = PostgresEngine(POLICY, address=address)
    else:
        frames = {each: pa.table(table) for each, table in tables.items()}
        kinds = {"duckdb": DuckDBEngine, "numbered": NumberingDuckDB, "spark": SparkEngine}
        options = {"session": request.getfixturevalue("spark_session")} if name == "spark" else {}
        made = kinds[name](POLICY, frames, **options)
    with contextlib.closing(made) as engine:
        yield engine


@pytest.fixture(scope="module")
def duckdb_engine():
    with opened("duckdb", None) as engine:
        yield engine


def plan_of(text):
    return plan_exact(read_question(text, POLICY), salt=secrets.randbits(63))[0].plans[0]


def kept_rows(engine, text):
    """How often each value was kept; one row of everybody is."""
    plan = plan_of(text)
    table = engine.run(plan)
    if plan.tally is None:
        return np.array(table.totals[0])
    numbers = sorted(table.tallies[0])
    return np.array([table.tallies[0][number] for number in numbers])


def kept_groups(engine, groups, key):
    """How often each group was kept."""
    text = f"SELECT {key}, COUNT(DISTINCT u) AS n FROM t{groups} GROUP BY {key}"
    table = engine.run(plan_of(text))
    assert table.groups == tuple((label,) for label in range(groups))
    return np.array([totals[0] for totals in table.totals])


def is_even(found, shares, kept):
    """Whether an even choice of `kept` out of sum(shares) things at a time could have given these numbers.

    They vary less than those of one at a time, by the factor (things - kept)/(things - 1).
    """
    things = sum(shares)
    expected = found.sum() * np.array(shares) / things
    assert expected.min() >= 200
    statistic = (things - 1) / (things - kept) * ((found - expected) ** 2 / expected).sum()
    return statistic < chi2.isf(FALSE_ALARM, len(found) - 1)


def groups_are_even(engine, groups, key):
    return is_even(kept_groups(engine, groups, key), [1] * groups, GROUPS[groups])


def rows_are_even(engine, text):
    return is_even(kept_rows(engine, text), COPIES, MOST)


@pytest.mark.parametrize("name", ["memory", "duckdb", "numbered", "postgresql", "spark"])
def test_rows_and_groups_are_chosen_evenly(name, request):
    with opened(name, request) as engine:
        slow = name == "memory"  # and all ways are one there
        for text in (SUMS, JOINED) if slow else (SUMS, TALLY, JOINED):
            assert rows_are_even(engine, text), text
        for groups in GROUPS:
            for key in "k" if slow else "kg":
                assert groups_are_even(engine, groups, key)


def test_all_that_may_be_kept_is_kept(duckdb_engine):
    people = PEOPLE["duckdb"]
    for text in (SUMS, TALLY, JOINED):
        assert kept_rows(duckdb_engine, text).sum() == MOST * people // 10
    assert kept_groups(duckdb_engine, 3, "k").sum() == people


@pytest.mark.parametrize("text", [SUMS, TALLY])
def test_the_check_would_notice_rows_kept_in_blocks(text, duckdb_engine, monkeypatch):
    monkeypatch.setattr(Statement, "_ordinal", lambda self, table: whole(0))
    assert not rows_are_even(duckdb_engine, text)


def test_the_check_would_notice_blocks_in_the_reference(monkeypatch, request):
    monkeypatch.setattr(memory, "ordinals", lambda rows: [0 for _ in rows])
    with opened("memory", request) as engine:
        assert not rows_are_even(engine, SUMS)


def test_the_check_would_notice_a_cap_in_the_order_of_values(duckdb_engine, monkeypatch):
    monkeypatch.setattr(relations, "hash_of", lambda dialect, hashing, salt, values: whole(7))
    assert not rows_are_even(duckdb_engine, JOINED)


def unmixed(self, salt, values):
    """The hashes of several values, combined and not mixed."""
    combined = call("hash", whole(salt, "HUGEINT"), *(value for value, _ in values))
    return cast(binary(exp.BitwiseRightShift, combined, whole(32, "UBIGINT")), "BIGINT")


@pytest.mark.parametrize("key", ["k", "g"])
def test_the_check_would_notice_hashes_that_are_not_mixed(key, duckdb_engine, monkeypatch):
    monkeypatch.setattr(DuckDBDialect, "fast_hash", unmixed)
    assert not groups_are_even(duckdb_engine, 100, key)


def shuffle(dialect, hashing, salt, values):
    """A unit's groups in the order of a x + b modulo 127, a and b from the unit's hash."""
    hashed = dialect.fast_hash(salt, [values[0]])
    factor = binary(exp.Add, whole(1), binary(exp.Mod, hashed, whole(126)))
    shift = binary(exp.IntDiv, hashed.copy(), whole(126))
    return binary(exp.Mod, binary(exp.Add, binary(exp.Mul, factor, values[1][0]), shift), whole(127))


@pytest.mark.parametrize("groups", [3, 8])
def test_the_check_would_notice_an_affine_shuffle(groups, duckdb_engine, monkeypatch):
    monkeypatch.setattr(bounding, "hash_of", shuffle)
    assert not groups_are_even(duckdb_engine, groups, "k")
