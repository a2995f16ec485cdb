"""discreet receipt check: what it says, what it refuses, and its exit codes."""

import json

import pytest

from cli.test_ledger import run
from discreet.asking.answers import Signer

SIGNER = Signer(b"k" * 32)
FACTS = {
    "charge": 28,
    "dataset": "bank",
    "version": "2026-11",
    "time": "2026-11-18T12:00:00Z",
    "asker": "ann",
    "price": {"epsilon": "0.5"},
    "question": "SELECT COUNT(*) FROM bank",
    "rows": None,
}


@pytest.fixture
def receipt(tmp_path):
    path = tmp_path / "receipt.json"
    path.write_text(json.dumps(SIGNER.sign(FACTS)))
    return path


def test_a_receipt_is_told_in_words_and_its_key_is_to_be_compared(capsys, receipt):
    code, out, _ = run(capsys, "receipt", "check", receipt)
    assert code == 0
    assert all(
        word in out for word in ("valid", "Answer 28 of bank", "ann", "epsilon 0.5", "No rows", SIGNER.key)
    )
    assert "Compare it" not in run(capsys, "receipt", "check", receipt, "--key", SIGNER.key.upper())[1]


def test_json_says_the_same(capsys, receipt):
    found = json.loads(run(capsys, "receipt", "check", receipt, "--key", SIGNER.key, "--json")[1])
    assert (found["receipt"], found["trusted"], found["rows"]) == (FACTS, True, "not given")


def test_what_does_not_hold_is_refused_with_the_code_of_its_kind(capsys, receipt, tmp_path):
    assert run(capsys, "receipt", "check", receipt, "--key", Signer(b"x" * 32).key)[0] == 6
    assert run(capsys, "receipt", "check", receipt, "--key", "abc")[0] == 2
    assert run(capsys, "receipt", "check", tmp_path / "none.json")[0] == 2
    receipt.write_text(receipt.read_text().replace("ann", "bob"))
    assert run(capsys, "receipt", "check", receipt)[0] == 6
    receipt.write_text("not a receipt")
    code, out, err = run(capsys, "receipt", "check", receipt)
    assert (code, out) == (2, "")
    assert "must be the JSON" in err
