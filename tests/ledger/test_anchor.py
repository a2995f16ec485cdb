"""Anchors and seals: what a copied or restored file cannot hide."""

import hmac
import json
import shutil
import sqlite3
import stat

import pytest

from discreet.errors import InvalidParameter, LedgerConflict
from discreet.kernel.ledger import CommandAnchor, Entry, FileAnchor, Head, Ledger, LedgerFile, Request
from discreet.kernel.ledger.anchor import ChainGuard
from discreet.kernel.losses import PureDP

KEY = b"sixteen bytes or more"


def ask(number=1):
    return Request(loss=PureDP(0.1), question=f"SELECT {number}")


def open_ledger(path, **more):
    return Ledger.open(path, dataset="bank", budget=PureDP(1), **more)


def command_anchor(folder):
    """Keeps the line with the greatest sequence, as a remote service would."""
    kept, script = folder / "kept", folder / "publish"
    script.write_text(f'#!/bin/sh\ncat >> "{kept}"\n')
    script.chmod(script.stat().st_mode | stat.S_IEXEC)
    kept.touch()
    return CommandAnchor(publish=[str(script)], latest=["tail", "-n", "1", str(kept)])


@pytest.fixture(params=["file", "command"])
def anchor(request, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    folder = tmp_path / "elsewhere"
    return FileAnchor(folder / "head") if request.param == "file" else command_anchor(folder)


def test_an_anchor_holds_the_head_of_the_last_charge(tmp_path, anchor):
    ledger = open_ledger(tmp_path / "x.ledger", anchors=[anchor])
    ledger.charge(ask())
    assert anchor.latest().digest == ledger.verify().head


def test_yesterdays_file_is_refused(tmp_path, anchor):
    path = tmp_path / "x.ledger"
    with open_ledger(path, anchors=[anchor]) as ledger:
        ledger.charge(ask())
    shutil.copy(path, tmp_path / "yesterday")
    with open_ledger(path, anchors=[anchor]) as ledger:
        ledger.charge(ask(2))
    shutil.copy(tmp_path / "yesterday", path)
    with pytest.raises(LedgerConflict, match="set back"):
        open_ledger(path, anchors=[anchor])
    with LedgerFile(path, anchors=[anchor]) as reader, pytest.raises(LedgerConflict, match="set back"):
        reader.verify()


def test_without_an_anchor_yesterdays_file_passes_for_todays(tmp_path):
    path = tmp_path / "x.ledger"
    open_ledger(path).close()
    shutil.copy(path, tmp_path / "yesterday")
    with open_ledger(path) as ledger:
        ledger.charge(ask())
    shutil.copy(tmp_path / "yesterday", path)
    assert open_ledger(path).remaining == PureDP(1)  # as SECURITY.md says


def test_of_two_copies_only_one_goes_on(tmp_path, anchor):
    path, copy = tmp_path / "x.ledger", tmp_path / "copy.ledger"
    open_ledger(path, anchors=[anchor]).close()
    shutil.copy(path, copy)
    first = open_ledger(path, anchors=[anchor])
    second = open_ledger(copy, anchors=[anchor])
    first.charge(ask())
    with pytest.raises(LedgerConflict, match="set back or copied"):
        second.charge(ask(2))
    first.charge(ask(3))


class Slow(FileAnchor):
    """An anchor that something else happens before."""

    def __init__(self, path):
        super().__init__(path)
        self.meanwhile = []

    def publish(self, head):
        happens, self.meanwhile = self.meanwhile, []
        for happen in happens:
            happen()
        super().publish(head)


def test_a_longer_chain_that_is_another_is_refused(tmp_path, anchor):
    path, copy = tmp_path / "x.ledger", tmp_path / "copy.ledger"
    open_ledger(path, anchors=[anchor]).close()
    shutil.copy(path, copy)
    with open_ledger(path, anchors=[anchor]) as ledger:
        ledger.charge(ask())
    with open_ledger(copy) as other:  # by a hand that does not ask the anchor
        for number in range(2, 6):
            other.answer(other.charge(ask(number)), b"")
    with pytest.raises(LedgerConflict, match="set back or copied"):
        open_ledger(copy, anchors=[anchor])
    with (
        LedgerFile(copy, anchors=[anchor]) as reader,
        pytest.raises(LedgerConflict, match="set back or copied"),
    ):
        reader.verify()


def test_a_copy_that_is_overtaken_between_check_and_publication_is_not_acknowledged(tmp_path):
    path, copy, anchor = tmp_path / "x.ledger", tmp_path / "copy.ledger", Slow(tmp_path / "head")
    open_ledger(path, anchors=[anchor]).close()
    shutil.copy(path, copy)
    first, second = open_ledger(path, anchors=[anchor]), open_ledger(copy, anchors=[anchor])
    anchor.meanwhile = [lambda: first.charge(ask(1)), lambda: first.charge(ask(2))]
    with pytest.raises(LedgerConflict, match="set back or copied"):
        second.charge(ask(3))


def test_a_process_that_is_overtaken_by_another_of_the_same_ledger_is_acknowledged(tmp_path):
    path, anchor = tmp_path / "x.ledger", Slow(tmp_path / "head")
    first, second = open_ledger(path, anchors=[anchor]), open_ledger(path, anchors=[anchor])
    anchor.meanwhile = [lambda: first.charge(ask(1))]
    second.charge(ask(2))
    assert first.spent == PureDP(0.2)


def test_an_anchor_that_forgets_is_refused(tmp_path):
    forgetful = CommandAnchor(publish=["true"], latest=["true"])
    with pytest.raises(LedgerConflict, match="keep the head"):
        open_ledger(tmp_path / "x.ledger", anchors=[forgetful])


def test_two_heads_at_one_place_are_a_fork(tmp_path):
    anchor = FileAnchor(tmp_path / "head")
    anchor.publish(Head(7, "a" * 64))
    with pytest.raises(LedgerConflict):
        anchor.publish(Head(7, "b" * 64))
    anchor.publish(Head(6, "c" * 64))  # a slower process: the anchor never goes back
    assert anchor.latest() == Head(7, "a" * 64)


def test_a_file_of_another_data_set_is_refused(tmp_path):
    one, two = FileAnchor(tmp_path / "1"), FileAnchor(tmp_path / "2")
    open_ledger(tmp_path / "a.ledger", anchors=[one]).close()
    open_ledger(tmp_path / "b.ledger", anchors=[two]).charge(ask())
    with pytest.raises(LedgerConflict):
        open_ledger(tmp_path / "a.ledger", anchors=[two])


def test_a_charge_that_no_anchor_took_is_not_acknowledged(tmp_path):
    broken = CommandAnchor(publish=["false"], latest=["true"])
    with pytest.raises(LedgerConflict, match="anchor"):
        open_ledger(tmp_path / "x.ledger", anchors=[broken])


def test_an_anchor_with_other_content_is_refused(tmp_path):
    (tmp_path / "head").write_text("something else")
    with pytest.raises(LedgerConflict, match="anchor"):
        open_ledger(tmp_path / "x.ledger", anchors=[FileAnchor(tmp_path / "head")])


def test_a_chain_written_without_the_key_is_refused(tmp_path):
    path = tmp_path / "x.ledger"
    open_ledger(path, key=KEY).close()
    for other in ({}, {"key": b"another key of the same length"}):
        with pytest.raises(LedgerConflict, match="seal"):
            open_ledger(path, **other)
    ledger = open_ledger(path, key=KEY)
    ledger.charge(ask())
    ledger.verify()


def test_a_short_key_is_refused(tmp_path):
    with pytest.raises(InvalidParameter, match="16 bytes"):
        open_ledger(tmp_path / "x.ledger", key=b"short")


# --- a forger who rewrites consistently -------------------------------------------------------------------


def forge(path, sequence, **changed):
    """Say other facts in one entry: its digest anew, the next entry's predecessor, the head if it is last."""
    connection = sqlite3.connect(path)
    with connection:
        row = connection.execute(
            "SELECT previous, body FROM entries WHERE sequence = ?", (sequence,)
        ).fetchone()
        before = Head(sequence - 1, row[0])
        forged = Entry.after(before, {**json.loads(row[1]), **changed})
        values = (forged.body, forged.digest, sequence)
        connection.execute("UPDATE entries SET body = ?, digest = ? WHERE sequence = ?", values)
        connection.execute(
            "UPDATE entries SET previous = ? WHERE sequence = ?", (forged.digest, sequence + 1)
        )
        connection.execute("UPDATE head SET digest = ? WHERE sequence = ?", (forged.digest, sequence))
    connection.close()


def charged(path, **kept):
    with Ledger.open(path, dataset="bank", budget=PureDP(1), **kept) as ledger:
        for number in range(3):
            ledger.answer(ledger.charge(ask(number)), b"42")


def test_an_entry_rewritten_in_the_middle_is_found_by_verify(tmp_path):
    kept = {"key": KEY, "anchors": [FileAnchor(tmp_path / "anchor")]}
    charged(tmp_path / "bank.ledger", **kept)
    forge(tmp_path / "bank.ledger", 5, analyst="somebody else")
    with LedgerFile(tmp_path / "bank.ledger", **kept) as file, pytest.raises(LedgerConflict, match="hash"):
        file.verify()


def test_a_last_entry_rewritten_with_its_head_breaks_the_seal(tmp_path):
    charged(tmp_path / "bank.ledger", key=KEY)
    forge(tmp_path / "bank.ledger", 8, digest="0" * 64)
    with pytest.raises(LedgerConflict, match="seal"):
        Ledger.open(tmp_path / "bank.ledger", dataset="bank", budget=PureDP(1), key=KEY)


def test_a_seal_without_the_heads_digest_would_pass_for_another_chain(tmp_path, monkeypatch):
    def careless(self, head):
        return hmac.new(KEY, f"{head.sequence}".encode(), "sha256").hexdigest()

    monkeypatch.setattr(ChainGuard, "seal", careless)
    charged(tmp_path / "bank.ledger", key=KEY)
    forge(tmp_path / "bank.ledger", 8, digest="0" * 64)
    Ledger.open(tmp_path / "bank.ledger", dataset="bank", budget=PureDP(1), key=KEY).close()
