"""Ledgers of the first version are opened, checked and read as it read them (kept/README.md)."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from discreet import Curator
from discreet.errors import EngineFailure, LedgerConflict
from discreet.kernel.ledger import FileAnchor, Ledger, LedgerFile, Request
from discreet.kernel.losses import ApproxDP, PureDP
from ledger.kept.cases import ASKED, DATA, KEY, OPENED, opening_of

KEPT = Path(__file__).parent / "kept" / "first"
NAMES = (*ASKED, *OPENED)


def said_of(name):
    return json.loads((KEPT / f"{name}.json").read_text())


def restore(name, folder):
    """The kept ledger as a file, the anchor beside it where it has one."""
    place = folder / f"{name}.ledger"
    with closing(sqlite3.connect(place)) as connection:
        connection.executescript((KEPT / f"{name}.sql").read_text())
    if name == "sealed":
        shutil.copy(KEPT / "sealed.anchor", folder)
        (folder / "key").write_bytes(KEY)
    return place


def guards(name, folder):
    return {"anchors": [FileAnchor(folder / "sealed.anchor")], "key": KEY} if name == "sealed" else {}


def open_curator(name, folder):
    place = restore(name, folder)
    if name == "sealed":
        words = {"place": place, "anchor": folder / "sealed.anchor", "key_file": folder / "key"}
        place = {word: str(path) for word, path in words.items()}
    return Curator.open(KEPT / DATA, ledger=place, **opening_of(name))


def includes(found, said):
    """Whether all that was said is said still; there may be more."""
    if isinstance(said, dict):
        return all(name in found and includes(found[name], value) for name, value in said.items())
    if isinstance(said, list):
        return len(found) == len(said) and all(map(includes, found, said))
    return found == said


def assert_tells(file, said):
    """All that it told, and behind it the entry of having been opened since, or of what was found dead."""
    verified, before = vars(file.verify()), said["verification"]
    assert {name: verified[name] for name in before if name not in ("entries", "head")} == {
        name: number for name, number in before.items() if name not in ("entries", "head")
    }
    last = file._store.read(lambda transaction: transaction.entry(before["entries"]))
    assert last.digest == before["head"]
    assert includes([each.to_json() for each in file.balances()], said["balances"])
    history = [each.to_json() for each in file.history(said["dataset"])]
    assert includes(ended(history[: len(said["history"])]), ended(said["history"]))


def ended(history):
    """What ran when the ledger was kept has ended since: answered or not is what stays."""
    return [{**each, "state": each.get("state") == "answered"} for each in history]


def renew(name, folder):
    """The kept ledger as a file that its curator has opened once: it has this version's tables."""
    if name in ASKED:
        with open_curator(name, folder) as curator:
            curator.resources.engine()
            curator.resources.ledger()
        return folder / f"{name}.ledger"
    place = restore(name, folder)
    Ledger.open(place, dataset="people", **OPENED[name]).close()
    return place


@pytest.mark.parametrize("name", NAMES)
def test_a_kept_ledger_verifies_and_tells_what_it_told(name, tmp_path):
    with LedgerFile(renew(name, tmp_path), **guards(name, tmp_path)) as file:
        assert_tells(file, said_of(name))


@pytest.mark.slow
def test_a_kept_ledger_of_a_server_verifies_and_tells_what_it_told(postgres_server):
    address = postgres_server.database()
    postgres_server.execute((KEPT / "postgres.sql").read_text(), address.rpartition("/")[2])
    declared = {"budget": ApproxDP(3, 0.01), "unit": "person"}
    Ledger.open(f"{address}?schema=kept", dataset="people", **declared).close()
    with LedgerFile(f"{address}?schema=kept") as file:
        assert_tells(file, said_of("postgres"))
    with Ledger.open(f"{address}?schema=kept", dataset="people", **declared) as ledger:
        first = Request(loss=PureDP(0.1), question="SELECT 1", key="first")
        assert ledger.charge(first).answer == b"one"


@pytest.mark.slow
@pytest.mark.parametrize("name", ASKED)
def test_what_was_answered_is_answered_again_for_nothing(name, tmp_path):
    said = said_of(name)
    with open_curator(name, tmp_path) as curator:
        before = curator.remaining
        questions = ASKED[name][1] * len({each["analyst"] for each in said["asked"]})
        for (question, terms), kept in zip(questions, said["asked"], strict=True):
            given = curator.for_analyst(kept["analyst"]).ask(question, **terms)
            answers = given if isinstance(given, tuple) else (given,)
            assert includes([each.to_json() for each in answers], kept["answers"])
        assert curator.remaining == before
        curator.ledger.verify()


@pytest.mark.parametrize("name", OPENED)
def test_a_kept_ledger_goes_on(name, tmp_path):
    said = said_of(name)
    with Ledger.open(restore(name, tmp_path), dataset="people", **OPENED[name]) as ledger:
        spent = ledger.spent.epsilon
        ledger.answer(ledger.charge(Request(loss=PureDP(0.1), question="SELECT 'new'")), b"new")
        assert ledger.spent.epsilon == spent + PureDP(0.1).epsilon
        assert ledger.verify().answers == said["verification"]["answers"] + 1


def test_what_was_not_finished_is_never_run_and_what_is_amended_stands(tmp_path):
    with Ledger.open(restore("ended", tmp_path), dataset="people", **OPENED["ended"]) as ledger:
        assert [each.state for each in ledger.history()[1:4]] == ["abandoned", "failed", "failed"]
        for number, key in ((1, "given up"), (3, "unfinished")):
            with pytest.raises((LedgerConflict, EngineFailure), match="run again"):
                ledger.charge(Request(loss=PureDP(0.1), question=f"SELECT {number}", key=key))
    place = restore("amended", tmp_path)
    with pytest.raises(LedgerConflict, match="unit"):
        Ledger.open(place, dataset="people", **{**OPENED["amended"], "unit": "person"})
    with Ledger.open(place, dataset="people", **OPENED["amended"]) as ledger:
        stored = [ledger.charge(Request(loss=PureDP(0.1), question=f"SELECT {n}")).answer for n in (1, 2)]
        assert stored == [b"one again", b"two"]


def test_a_sealed_one_is_refused_without_its_key_and_behind_its_anchor(tmp_path):
    place = renew("sealed", tmp_path)
    with LedgerFile(place) as file, pytest.raises(LedgerConflict, match="seal"):
        file.verify()
    kept = json.loads((tmp_path / "sealed.anchor").read_text())
    (tmp_path / "sealed.anchor").write_text(json.dumps({**kept, "sequence": kept["sequence"] + 1}))
    with (
        LedgerFile(place, **guards("sealed", tmp_path)) as file,
        pytest.raises(LedgerConflict, match="set back"),
    ):
        file.verify()


def test_one_changed_number_of_a_kept_ledger_is_seen(tmp_path):
    place = renew("epsilon", tmp_path)
    with closing(sqlite3.connect(place)) as connection:
        connection.execute("UPDATE charges SET answer = CAST('x' AS BLOB) WHERE id = 3")
        connection.commit()
    with LedgerFile(place) as file, pytest.raises(LedgerConflict, match="charge 3"):
        file.verify()
