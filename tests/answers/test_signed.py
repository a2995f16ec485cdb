"""Kept tables are read again exactly; a signed receipt holds, and every change of it is noticed."""

import copy
import datetime
import json
import math

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from discreet.asking.answers import Shown, Signer, check_receipt, digest_of_rows
from discreet.errors import DiscreetError, InvalidParameter, LedgerConflict
from discreet.kernel.numerics import Interval

FACTS = {
    "charge": 7,
    "dataset": "bank",
    "question": "SELECT 'é'",
    "price": {"epsilon": "0.5"},
    "asker": "ann",
}


def shown():
    rows = [{"day": datetime.date(2026, 1, 2), "n": 3, "x": math.inf}, {"day": None, "n": None, "x": 0.1}]
    ends = [
        {"day": None, "n": Interval(-1, 7), "x": None},
        {"day": None, "n": None, "x": Interval(0.0, math.inf)},
    ]
    return Shown(
        {"day": "date", "n": "integer", "x": "number"}, ("n", "x"), ("n", "x"), rows, ends, 0.95, ("a",)
    )


@pytest.fixture
def answer():
    signer = Signer(b"s" * 32)
    salt = signer.salt("bank", 7, 0)
    signed = signer.sign({**FACTS, "rows": digest_of_rows(shown(), salt)})
    return json.loads(json.dumps({**shown().to_json(), "salt": salt, **signed}))


def test_a_kept_table_is_read_again_with_dates_missing_values_and_infinities():
    assert Shown.read(json.loads(json.dumps(shown().stored()))) == shown()


def test_a_receipt_is_checked_with_and_without_its_rows_and_by_another_program(answer):
    key = answer["signature"]["key"]
    assert check_receipt(answer, key=key).has_rows
    alone = {name: answer[name] for name in ("receipt", "signature")}
    assert not check_receipt(alone).has_rows
    # the oracle: RFC 8032 over the words that the guide states
    words = json.dumps(answer["receipt"], sort_keys=True, separators=(",", ":")).encode()
    Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(
        bytes.fromhex(answer["signature"]["value"]), b"discreet receipt\n" + words
    )


def changes():
    yield "a fact", lambda doc: doc["receipt"].update(asker="bob")
    yield "a new fact", lambda doc: doc["receipt"].update(more=1)
    yield "a missing fact", lambda doc: doc["receipt"].pop("price")
    yield "a row", lambda doc: doc["rows"][0].update(n=4)
    yield "an interval", lambda doc: doc["intervals"][0]["n"].reverse()
    yield "the confidence", lambda doc: doc.update(confidence=0.99)
    yield "the order", lambda doc: doc["rows"].reverse()
    yield "the salt", lambda doc: doc.update(salt="00" * 32)
    yield "no salt", lambda doc: doc.pop("salt")
    yield "the signature", lambda doc: doc["signature"].update(value="00" * 64)
    yield "a short signature", lambda doc: doc["signature"].update(value="00")
    yield "another key", lambda doc: doc["signature"].update(key=Signer(b"t" * 32).key)


@pytest.mark.parametrize("trusts", [True, False])
@pytest.mark.parametrize("change", [change for _, change in changes()], ids=[name for name, _ in changes()])
def test_every_change_is_noticed(answer, change, trusts):
    key = answer["signature"]["key"] if trusts else None
    changed = copy.deepcopy(answer)
    change(changed)
    with pytest.raises(DiscreetError):
        check_receipt(changed, key=key)


def test_a_receipt_of_another_house_is_refused_where_a_key_is_trusted(answer):
    with pytest.raises(LedgerConflict, match="another key"):
        check_receipt(answer, key=Signer(b"t" * 32).key)


def test_what_is_no_receipt_is_refused_in_one_sentence(answer):
    deep = json.loads("[" * 900 + "]" * 900)
    strange = [
        None,
        3,
        "receipt",
        [],
        {},
        {"receipt": {}, "signature": {}},
        {"receipt": [], "signature": "x"},
    ]
    keys = ("é", "zz", "", 3, None, "00")
    strange.extend({**answer, "signature": {**answer["signature"], "key": key}} for key in keys)
    for document in strange:
        with pytest.raises(InvalidParameter, match="a receipt must be the JSON"):
            check_receipt(document)
    for document in ({**answer, "receipt": {"a": deep}}, {**answer, "rows": deep}):
        with pytest.raises((InvalidParameter, LedgerConflict)):
            check_receipt(document)
    with pytest.raises(LedgerConflict):
        check_receipt(
            {**answer, "signature": {**answer["signature"], "key": "é"}}, key=answer["signature"]["key"]
        )


def test_salts_differ_by_answer_and_say_nothing_of_the_secret():
    signer = Signer(b"s" * 32)
    salts = {signer.salt(*each) for each in (("a", 1, 0), ("a", 1, 1), ("a", 11, 0), ("b", 1, 0))}
    assert len(salts) == 4
    assert "73" * 8 not in repr(signer) + "".join(salts)
