"""The catalogue: answered from the policy alone, by an engine that has no data, no files and no functions
beside a list."""

import pytest

from discreet.apps.postgres import catalogue_sql
from discreet.apps.postgres.catalogue import Catalogue
from discreet.apps.postgres.failures import Refused
from discreet.asking.curator import Curator
from server.running import write_policy

FACTS = catalogue_sql.Facts("ann", "town", "PostgreSQL 14.0 (discreet)", {"timezone": "UTC"})
HOSTILE = [
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT getenv('HOME')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT repeat('x', 1000000000)",
    "SELECT * FROM glob('/*')",
    "SELECT * FROM duckdb_settings()",
    "SELECT * FROM pg_catalog.duckdb_tables",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT pg_sleep(10)",
    "SELECT random()",
    "SELECT now()",
    "SELECT query('SELECT 1')",
    "SELECT * FROM query('SELECT 1')",
    "SELECT lo_import('/etc/passwd')",
    "SELECT * FROM pg_ls_dir('/')",
    "SELECT nextval('x')",
    "SELECT set_config('a', 'b')",
    "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT * FROM r",
    "SELECT * FROM generate_series(1, 1000000000)",
    "SELECT * FROM information_schema.nothing",
    "SELECT * FROM catalogue.pg_class",
    "SELECT * FROM other.pg_class",
    "SELECT (SELECT * FROM pg_class)",
    "SELECT unnest(1)",
    "SELECT 1 / 0 FROM pg_class WHERE oid = 'x'",
]


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory):
    curator = Curator.from_policy(write_policy(tmp_path_factory.mktemp("town")))
    made = Catalogue(curator.resources.known, ["town", "other"])
    yield made
    made.close()
    curator.close()


def ask(catalogue, sql):
    tree = catalogue_sql.parse(sql)
    return catalogue_sql.run(tree, catalogue, FACTS)


@pytest.mark.parametrize("sql", HOSTILE)
def test_nothing_outside_the_list_runs(catalogue, sql):
    tree = catalogue_sql.parse(sql)
    if tree is None or not catalogue_sql.about_catalogue(tree, catalogue.policy):
        return  # a question then, for the parser of questions to refuse
    with pytest.raises(Refused) as caught:
        catalogue_sql.run(tree, catalogue, FACTS)
    assert caught.value.state in ("0A000", "42P01", "54000", "57014")
    assert "/etc" not in caught.value.message


def test_it_holds_no_row_of_the_data(catalogue):
    assert ask(catalogue, "SELECT * FROM town LIMIT 0").rows == []
    assert catalogue.run('SELECT COUNT(*) FROM "town"').rows == [(0,)]  # past every check: there is nothing


def test_it_reaches_no_file_even_without_the_list(catalogue):
    for sql in ("SELECT * FROM read_text('/etc/passwd')", "COPY (SELECT 1) TO '/tmp/x'", "ATTACH '/tmp/x.db'",
                "INSTALL httpfs", "SET enable_external_access = true"):  # fmt: skip
        with pytest.raises(Refused):
            catalogue.run(sql)


def test_a_long_question_about_the_catalogue_is_stopped(catalogue):
    many = ", ".join(f"pg_type t{number}" for number in range(8))
    with pytest.raises(Refused) as caught:
        ask(catalogue, f"SELECT COUNT(*) FROM {many}")
    assert caught.value.state == "57014"
    assert ask(catalogue, "SELECT 1").rows == [(1,)]


def test_what_tools_ask(catalogue):
    assert ask(catalogue, "SELECT datname FROM pg_database ORDER BY 1").rows == [("other",), ("town",)]
    assert ask(catalogue, "SELECT current_schema(), version()").rows == [("public", FACTS.version)]
    keys = "SELECT DISTINCT city FROM town LIMIT 1000"
    assert catalogue_sql.declared_keys(catalogue_sql.parse(keys), catalogue.policy).rows == [
        ("Ottawa",),
        ("Toronto",),
    ]
    filtered = catalogue_sql.parse("SELECT DISTINCT city FROM town WHERE debt > 5")
    assert catalogue_sql.declared_keys(filtered, catalogue.policy) is None  # a question
    with pytest.raises(Refused, match="declares no keys"):
        catalogue_sql.declared_keys(catalogue_sql.parse("SELECT DISTINCT shop FROM town"), catalogue.policy)
    types = "SELECT oid::regtype::text FROM pg_type WHERE typname = 'int8'"
    assert ask(catalogue, types).rows == [("bigint",)]
    assert ask(catalogue, "SELECT relname FROM pg_class WHERE oid = 'town'::regclass").rows == [("town",)]


@pytest.mark.parametrize(
    ("sql", "free"),
    [
        ("SELECT 1", True), ("SELECT * FROM pg_class", True), ("SELECT * FROM town LIMIT 0", True),
        ("SELECT * FROM town WHERE 1 = 0", True), ("SELECT * FROM town WHERE false", True),
        ("SELECT COUNT(*) FROM town WHERE 1 = 0", False), ("SELECT * FROM town LIMIT 1", False),
        ("SELECT * FROM town WHERE 1 = 1", False), ("SELECT (SELECT COUNT(*) FROM town)", False),
        ("SELECT * FROM town WHERE debt = 0", False),
        ("WITH pg_x AS (SELECT * FROM town) SELECT * FROM pg_x", False),
    ],
)  # fmt: skip
def test_what_is_free_asks_for_no_row(catalogue, sql, free):
    assert catalogue_sql.about_catalogue(catalogue_sql.parse(sql), catalogue.policy) is free
