"""What is special to the PostgreSQL store: its settings, its tables, lost connections, secrets."""

import os
import threading
import time
import traceback

import psycopg
import pytest

from discreet.errors import InvalidParameter, LedgerConflict
from discreet.kernel.ledger import Ledger, LedgerFile
from discreet.kernel.ledger.postgres import PostgresStore
from discreet.kernel.ledger.postgres.connection import UNREACHABLE
from discreet.kernel.losses import PureDP
from ledger.places import ask, cut_all, schema_of
from ledger.proxy import wire_to
from ledger.tampering import EDITS
from servers.postgres import PASSWORD, PostgresServer

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # forks beside threads, on purpose


# --- settings ---------------------------------------------------------------------------------------------


@pytest.fixture
def set_everywhere(postgres_server):
    """Change the configuration of the running server, and back at the end."""

    def reload(statement, name, value):
        postgres_server.execute(statement)
        postgres_server.execute("SELECT pg_reload_conf()")
        while postgres_server.execute(f"SHOW {name}") != [(value,)]:
            time.sleep(0.01)

    changed = []

    def change(name, value):
        changed.append((name, postgres_server.execute(f"SHOW {name}")[0][0]))
        reload(f"ALTER SYSTEM SET {name} = {value}", name, value)

    yield change
    for name, before in changed:
        reload(f"ALTER SYSTEM RESET {name}", name, before)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("fsync", "off"),
        ("full_page_writes", "off"),
        ("synchronous_commit", "off"),
        ("synchronous_commit", "local"),
    ],
)
def test_a_server_that_could_forget_a_commit_is_refused(open_ledger, set_everywhere, name, value):
    set_everywhere(name, value)
    with pytest.raises(LedgerConflict, match=name):
        open_ledger()


@pytest.mark.parametrize("name", ["fsync", "full_page_writes"])
def test_a_server_that_becomes_unsafe_is_refused_at_the_next_charge(open_ledger, set_everywhere, name):
    ledger = open_ledger()
    ledger.charge(ask())
    set_everywhere(name, "off")
    with pytest.raises(LedgerConflict, match=name):
        ledger.charge(ask("SELECT 2"))
    assert ledger.spent == PureDP(0.1)


def test_a_reloaded_configuration_does_not_loosen_an_open_ledger(
    open_ledger, set_everywhere, postgres_server
):
    ledger = open_ledger()
    ledger.charge(ask())
    set_everywhere("synchronous_commit", "off")
    ledger.charge(ask("SELECT 2"))  # pinned when the connection was made
    seen = ledger._store._session._writer.connection.execute("SHOW synchronous_commit").fetchone()
    assert seen == ("on",)


def test_the_databases_own_defaults_do_not_matter(postgres_server, open_ledger):
    address = postgres_server.database()
    name = address.rpartition("/")[2]
    for setting in ("default_transaction_isolation = 'serializable'", "default_transaction_read_only = on"):
        postgres_server.execute(f'ALTER DATABASE "{name}" SET {setting}')
    postgres_server.execute(f'ALTER DATABASE "{name}" SET search_path = elsewhere')
    ledger = open_ledger(address)
    ledger.answer(ledger.charge(ask()), b"42")
    assert ledger.find_answer(ask()) == b"42"
    assert ledger.verify().answers == 1


def test_a_replica_is_refused():
    with PostgresServer() as server:
        Ledger.open(server.url(), dataset="bank", budget=PureDP(1)).close()
        server.stop()
        (server.folder / "data" / "standby.signal").touch()
        server.start()
        with pytest.raises(LedgerConflict, match="in recovery"):
            Ledger.open(server.url(), dataset="bank", budget=PureDP(1))
        with pytest.raises(LedgerConflict, match="in recovery"):
            LedgerFile(server.url())


# --- tables -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        "CREATE TABLE {0}.more (x INTEGER)",
        "DROP INDEX {0}.stored_answers",
        "ALTER TABLE {0}.charges SET UNLOGGED",
        "ALTER TABLE {0}.accounts DROP CONSTRAINT accounts_check",
        "ALTER TABLE {0}.charges ENABLE ROW LEVEL SECURITY",
        "CREATE RULE quiet AS ON UPDATE TO {0}.accounts DO INSTEAD NOTHING",
        "CREATE FUNCTION {0}.hashtextextended(text, int) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint'",
    ],
)
def test_changed_tables_are_refused(open_ledger, postgres_server, address, change):
    open_ledger().close()
    postgres_server.execute(change.format(schema_of(address)))
    for opening in (open_ledger, lambda: LedgerFile(address)):
        with pytest.raises(LedgerConflict, match="tables"):
            opening()


def test_the_table_itself_refuses_an_overspent_account(open_ledger, postgres_server, address):
    open_ledger()
    for value in (f"{2 * 10**48:064d}", "nan", "", f"{-1:064d}"):
        with pytest.raises(psycopg.errors.CheckViolation):
            postgres_server.execute(f"UPDATE {schema_of(address)}.accounts SET main = '{value}'")


@pytest.mark.parametrize(("end", "major"), [("OLDEST", 99), ("NEWEST", 1)])
def test_other_versions_of_the_server_are_refused(open_ledger, monkeypatch, end, major):
    from discreet.kernel.ledger.postgres import connection as server

    monkeypatch.setattr(server, end, major)
    with pytest.raises(LedgerConflict, match=f"{major}.*, got"):
        open_ledger()


def test_a_newer_ledger_is_refused(open_ledger, postgres_server, address):
    open_ledger().close()
    postgres_server.execute(f"UPDATE {schema_of(address)}.version SET number = 99")
    with pytest.raises(LedgerConflict, match="Update discreet"):
        open_ledger()


def test_an_older_ledger_is_brought_forward_by_its_curator_alone(
    open_ledger, postgres_server, address, monkeypatch
):
    from discreet.kernel.ledger import postgres as postgres_schema

    open_ledger().charge(ask())
    step = ("CREATE TABLE later (x INTEGER)",)
    monkeypatch.setattr(postgres_schema, "MIGRATIONS", (*postgres_schema.MIGRATIONS, step))
    later = {("table", "later")}
    monkeypatch.setattr(postgres_schema, "OBJECTS", postgres_schema.OBJECTS | later)
    with pytest.raises(LedgerConflict, match="newest version"):
        LedgerFile(address)
    assert open_ledger().spent == PureDP(0.1)
    assert postgres_server.execute(f"SELECT number FROM {schema_of(address)}.version") == [(3,)]
    with LedgerFile(address) as reader:
        reader.verify()


def test_a_schema_of_another_program_is_refused_and_left_alone(open_ledger, postgres_server, address):
    schema = schema_of(address)
    postgres_server.execute(f"CREATE SCHEMA {schema}")
    postgres_server.execute(f"CREATE TABLE {schema}.theirs (x INTEGER)")
    with pytest.raises(LedgerConflict, match="ledger of discreet"):
        open_ledger()
    assert postgres_server.execute(f"SELECT count(*) FROM pg_tables WHERE schemaname = '{schema}'") == [(1,)]


def test_looking_at_a_ledger_that_is_not_there_makes_none(postgres_server, address):
    with pytest.raises(InvalidParameter, match="none at this address"):
        LedgerFile(address)
    schema = schema_of(address)
    assert postgres_server.execute(f"SELECT 1 FROM pg_namespace WHERE nspname = '{schema}'") == []


@pytest.mark.parametrize("schema", ["pg_catalog", "Bank", "a;b", 'a"b', ""])
def test_a_schema_has_a_plain_name(schema):
    with pytest.raises(InvalidParameter, match="plain"):
        Ledger.open(f"postgresql://nowhere/x?schema={schema} ", dataset="bank", budget=PureDP(1))


def test_another_kind_of_server_is_refused():
    with pytest.raises(InvalidParameter, match="postgresql://"):
        Ledger.open("mysql://root:secret@nowhere/x", dataset="bank", budget=PureDP(1))


def test_least_rights_suffice_once_the_tables_are_made(open_ledger, postgres_server, address):
    open_ledger().close()
    schema, role = schema_of(address), f"curator_{os.getpid()}"
    for statement in (
        f"CREATE ROLE {role} LOGIN PASSWORD '{PASSWORD}'",
        f"GRANT USAGE ON SCHEMA {schema} TO {role}",
        f"GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA {schema} TO {role}",
    ):
        postgres_server.execute(statement)
    ledger = open_ledger(f"{postgres_server.url(user=role)}?schema={schema}")
    ledger.answer(ledger.charge(ask()), b"42")
    assert ledger.verify().answers == 1


@pytest.mark.parametrize("statement", EDITS)
def test_every_edit_is_found(open_ledger, postgres_server, address, statement):
    ledger = open_ledger(unit="person")
    for number in range(4):
        ledger.answer(ledger.charge(ask(f"SELECT {number}")), b"%d" % number)
    with postgres_server.connect() as connection:
        connection.execute(f"SET search_path = {schema_of(address)}")
        connection.execute(statement)
    with LedgerFile(address) as reader, pytest.raises(LedgerConflict):
        reader.verify()


# --- a server that does not serve -------------------------------------------------------------------------


def everything_said(error):
    return "".join(traceback.format_exception(error)) + repr(error.fields)


@pytest.mark.parametrize(
    "wrong",
    [
        "postgresql://postgres:no-password@127.0.0.1:{port}/postgres",
        "postgresql://nobody:{password}@127.0.0.1:{port}/postgres",
        "postgresql://postgres:{password}@127.0.0.1:{port}/nowhere",
        "postgresql://postgres:{password}@127.0.0.1:1/postgres",
        "postgresql://postgres:{password}@127.0.0.1:{port}/postgres?nonsense=1",
    ],
)
def test_a_server_that_does_not_answer_gives_one_constant_error_without_an_address(postgres_server, wrong):
    place = wrong.format(port=postgres_server.port, password=PASSWORD)
    with pytest.raises(LedgerConflict) as refusal:
        Ledger.open(place, dataset="bank", budget=PureDP(1))
    assert refusal.value.message == UNREACHABLE
    said = everything_said(refusal.value)
    assert not [secret for secret in (PASSWORD, "no-password", "127.0.0.1") if secret in said]


def test_no_object_shows_its_address(open_ledger):
    ledger = open_ledger()
    assert PASSWORD not in f"{ledger!r} {ledger._store!r} {ledger._store._address!r}"


def test_a_locked_ledger_gives_the_constant_error_and_charges_nothing(open_ledger, postgres_server, address):
    ledger = open_ledger(patience=0.3)
    with postgres_server.connect() as other, other.transaction():
        other.execute(f"SELECT * FROM {schema_of(address)}.head FOR UPDATE")
        with pytest.raises(LedgerConflict) as refusal:
            ledger.charge(ask())
    assert refusal.value.message == UNREACHABLE
    assert ledger.remaining == PureDP(1)
    ledger.charge(ask())


def test_a_client_that_stops_in_the_middle_of_a_charge_does_not_stop_the_others(open_ledger, address):
    stuck, other = open_ledger(patience=0.5), open_ledger()
    inside, go = threading.Event(), threading.Event()

    def stop_inside(_):
        inside.set()
        go.wait(60)

    thread = threading.Thread(target=stuck._store.write, args=(stop_inside,))
    thread.start()
    inside.wait(30)
    other.charge(ask())
    go.set()
    thread.join()  # its transaction was ended by the server; it is run anew, on another connection
    assert other.verify().charges == 1


# --- lost connections -------------------------------------------------------------------------------------


def test_a_ledger_goes_on_after_its_connections_were_cut(open_ledger, postgres_server):
    ledger = open_ledger()
    charge = ledger.charge(ask())
    ledger.remaining  # noqa: B018  a reader that lies idle when it is cut
    cut_all(postgres_server)
    assert ledger.remaining == PureDP(0.9)
    cut_all(postgres_server)
    ledger.answer(charge, b"42")
    assert ledger.charge(ask("SELECT 2")).answer is None
    assert ledger.verify().charges == 2


def test_a_process_that_was_cut_off_is_known_to_live_once_it_charges_again(open_ledger, postgres_server):
    ledger = open_ledger()
    ledger.charge(ask(key="first"))
    cut_all(postgres_server)
    ledger.charge(ask("SELECT 2"))
    other = open_ledger()
    assert [record.state for record in other.history()[1:]] == ["charged", "charged"]


@pytest.fixture
def wired(postgres_server, address, open_ledger):
    """A ledger behind a wire that can break."""
    with wire_to(postgres_server.port) as wire:
        ledger = open_ledger(address.replace(f":{postgres_server.port}/", f":{wire.port}/"))
        ledger.charge(ask("SELECT 0"))  # every connection is made
        yield wire, ledger


@pytest.mark.parametrize("fate", ["unheard", "unanswered", "late"])
def test_a_commit_whose_answer_is_lost_is_made_once(wired, fate):
    wire, ledger = wired
    wire.fate = fate
    charge = ledger.charge(ask())
    ledger.answer(charge, b"42")
    assert ledger.verify().charges == 2
    assert ledger.spent == PureDP(0.2)


def test_the_wire_finds_a_ledger_that_tries_again_without_looking(wired, monkeypatch):
    """The planted fault: a lost answer is taken for a lost commit."""
    monkeypatch.setattr(PostgresStore, "is_committed_after", lambda *_: False)
    wire, ledger = wired
    wire.fate = "unanswered"
    ledger.charge(ask())
    assert ledger.verify().charges == 3


def test_a_commit_that_nobody_can_be_asked_about_is_not_acknowledged(wired, monkeypatch):
    wire, ledger = wired
    wire.fate = "unanswered"
    monkeypatch.setattr(PostgresStore, "connect", lambda _: (_ for _ in ()).throw(psycopg.OperationalError()))
    with pytest.raises(LedgerConflict) as refusal:
        ledger.charge(ask())
    assert refusal.value.message == UNREACHABLE
    monkeypatch.undo()
    deadline = time.monotonic() + 10
    while ledger.verify().charges < 2:  # wasted, never lost: the server heard it
        assert time.monotonic() < deadline
