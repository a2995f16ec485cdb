"""A damaged ledger gives one constant error: no word of it is quoted."""

import sqlite3

import pytest

from discreet.errors import LedgerConflict
from discreet.kernel.ledger import Ledger, LedgerFile, Request
from discreet.kernel.ledger.entry import UNAVAILABLE
from discreet.kernel.losses import PureDP

MARK = "zxqv-9731"
EDITS = {
    "a number": f"UPDATE accounts SET main_limit = '{MARK}'",
    "an account's terms": f"UPDATE accounts SET terms = '{MARK}'",
    "a rule": f"""UPDATE accounts SET terms = '{{"rule": "{MARK}"}}'""",
    "a notion": f"""UPDATE accounts SET terms = '{{"rule": "basic", "budget": {{"notion": "{MARK}"}}}}'""",
    "a declaration": f"UPDATE datasets SET declaration = '{MARK}'",
    "a declaration's part": f"""UPDATE datasets SET declaration = '{{"dataset": "{MARK}", "x": 1}}'""",
    "a declared rule": f"""UPDATE datasets SET declaration = replace(declaration, 'PureDP', '{MARK}')""",
    "an entry": f"UPDATE entries SET body = '{MARK}' WHERE sequence = 3",
    "an entry's kind": f"""UPDATE entries SET body = '{{"x": "{MARK}"}}' WHERE sequence = 3""",
    "the last entry": f"UPDATE entries SET body = '{MARK}' WHERE sequence = 4",
    "the head": f"UPDATE head SET digest = '{MARK}'",
}


def use(path):
    """Everything that one may do with a ledger, each by itself."""
    request = Request(loss=PureDP(0.1), question="SELECT 2")

    def opened(work):
        with Ledger.open(path, dataset="bank", budget=PureDP(1)) as ledger:
            work(ledger)

    def looked(work):
        with LedgerFile(path) as file:
            work(file)

    yield lambda: opened(lambda ledger: ledger.charge(request))
    yield lambda: opened(lambda ledger: ledger.find_answer(request))
    yield lambda: opened(lambda ledger: (ledger.remaining, ledger.balances(), ledger.failures()))
    yield lambda: opened(lambda ledger: ledger.history())
    yield lambda: looked(lambda file: file.balances())
    yield lambda: looked(lambda file: file.history("bank"))
    yield lambda: looked(lambda file: file.verify())


def refusal(work):
    try:
        work()
    except LedgerConflict as error:
        return error
    return None


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_no_word_of_a_damaged_ledger_is_quoted(tmp_path, edit):
    path = tmp_path / "bank.ledger"
    with Ledger.open(path, dataset="bank", budget=PureDP(1)) as ledger:
        ledger.answer(ledger.charge(Request(loss=PureDP(0.1), question="SELECT 1")), b"42")
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("PRAGMA ignore_check_constraints = 1")
        connection.execute(edit)
    connection.close()
    refused = [error for error in map(refusal, use(path)) if error is not None]
    assert refused
    for error in refused:
        assert MARK not in f"{error}{error.fields}{error.__cause__}"
        assert error.__suppress_context__ or error.__context__ is None


def test_a_damaged_number_is_the_constant_error(tmp_path):
    path = tmp_path / "bank.ledger"
    Ledger.open(path, dataset="bank", budget=PureDP(1)).close()
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(EDITS["a number"])
    connection.close()
    with (
        Ledger.open(path, dataset="bank", budget=PureDP(1)) as ledger,
        pytest.raises(LedgerConflict) as found,
    ):
        _ = ledger.remaining
    assert str(found.value) == UNAVAILABLE
