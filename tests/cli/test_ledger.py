"""The ledger's commands: budget, history, ledger verify, export and raise."""

import json
import shutil
from pathlib import Path

import pytest

import discreet as dp
from discreet.apps.cli import main
from discreet.kernel.ledger import Entry, FileAnchor, Head, Ledger, Request
from discreet.kernel.ledger.verification import replay
from discreet.kernel.losses import ApproxDP, PureDP


@pytest.fixture
def ledger(tmp_path):
    path = tmp_path / "bank.ledger"
    with Ledger.open(path, dataset="bank", budget=ApproxDP(1, 1e-6), per_analyst=PureDP(0.5)) as opened:
        for number, analyst in enumerate(["alice", "bob", "alice"]):
            request = Request(loss=PureDP(0.1), question=f"SELECT {number} AS [b]bold[/b]", analyst=analyst)
            opened.answer(opened.charge(request), b"42")
    return path


def run(capsys, *words):
    """What a command prints, and the code it ends with."""
    code = 0
    try:
        main([str(word) for word in words])
    except SystemExit as stop:
        code = stop.code or 0
    output = capsys.readouterr()
    return code, output.out, output.err


def test_budget_shows_every_account(capsys, ledger):
    code, out, _ = run(capsys, "budget", ledger)
    assert code == 0
    assert "bank" in out
    assert "0.7" in out


def test_budget_prints_plain_numbers_as_json(capsys, ledger):
    found = json.loads(run(capsys, "budget", ledger, "--json")[1])
    assert found["remaining"] == {"epsilon": 0.7, "delta": 1e-6}
    assert found["spent"] == {"epsilon": 0.3, "delta": 0.0}
    assert [row["account"] for row in found["accounts"]] == [
        "bank",
        "bank/analyst/alice",
        "bank/analyst/bob",
    ]


def test_the_ledger_that_a_policy_states_is_found_with_its_anchor_and_its_key(capsys, ledger, tmp_path):
    (tmp_path / "secret").write_bytes(b"sixteen bytes or more")
    place, head = tmp_path / "kept.ledger", tmp_path / "head"
    with Ledger.open(
        place,
        dataset="bank",
        budget=PureDP(1),
        key=b"sixteen bytes or more",
        anchors=[FileAnchor(head)],
    ):
        pass
    policy = tmp_path / "bank.toml"
    policy.write_text('[ledger]\nplace = "kept.ledger"\nanchor = "head"\nkey_file = "secret"\n')
    code, out, _ = run(capsys, "ledger", "verify", policy)
    assert (code, "The anchor agrees" in out) == (0, True)
    assert run(capsys, "ledger", "verify", place)[0] == 6  # the seal needs its key
    head.write_text(head.read_text().replace('"sequence": 2', '"sequence": 7'))
    assert run(capsys, "ledger", "verify", policy)[0] == 6


@pytest.mark.parametrize("name", ["bank.csv", "bank.toml"])
def test_a_ledger_is_found_beside_its_data_or_policy(capsys, ledger, name):
    ledger.with_name(name).touch()
    assert json.loads(run(capsys, "budget", ledger.with_name(name), "--json")[1])["dataset"] == "bank"


def test_a_file_without_a_ledger_is_an_error(capsys, tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    assert run(capsys, "budget", tmp_path / "x.csv")[0] == 2
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]


def test_budget_draws_the_spending(capsys, ledger, tmp_path):
    assert run(capsys, "budget", ledger, "--plot", tmp_path / "spending.html")[0] == 0
    assert "limit 1" in (tmp_path / "spending.html").read_text()


def test_history_shows_questions_as_they_were_asked(capsys, ledger):
    code, out, _ = run(capsys, "history", ledger)
    assert code == 0
    assert "[b]bold[/b]" in out.replace("\n", "")


def test_history_as_json_holds_exact_numbers(capsys, ledger):
    records = json.loads(run(capsys, "history", ledger, "--json")[1])
    charges = [record for record in records if record["kind"] == "charge"]
    assert [record["total"] for record in charges] == ["0.1", "0.2", "0.3"]
    assert {record["state"] for record in charges} == {"answered"}


def test_verify_says_what_it_found(capsys, ledger):
    code, out, _ = run(capsys, "ledger", "verify", ledger)
    assert code == 0
    assert "3 charges, 3 answers: all valid" in out


def test_verify_finds_a_ledger_that_was_set_back(capsys, ledger, tmp_path):
    anchor = FileAnchor(tmp_path / "head")
    shutil.copy(ledger, tmp_path / "yesterday")
    with Ledger.open(
        ledger, dataset="bank", budget=ApproxDP(1, 1e-6), per_analyst=PureDP(0.5), anchors=[anchor]
    ) as opened:
        opened.charge(Request(loss=PureDP(0.1)))
    shutil.copy(tmp_path / "yesterday", ledger)
    code, _, error = run(capsys, "ledger", "verify", ledger, "--anchor", tmp_path / "head")
    assert code == 6
    assert "set back" in error


def test_an_export_can_be_checked_from_its_lines_alone(capsys, ledger, tmp_path):
    assert run(capsys, "ledger", "export", ledger, "--output", tmp_path / "lines")[0] == 0
    entries = [Entry.from_line(line) for line in (tmp_path / "lines").read_text().splitlines()]
    found = replay(entries)
    assert found.head == Head(len(entries), entries[-1].digest)
    assert found.accounts["bank"].total.to_json() == ["0.3", "0", "0"]


def test_raise_is_an_owners_entry(capsys, ledger):
    words = ("--epsilon", "2", "--delta", "1e-6", "--reason", "the second survey")
    assert run(capsys, "ledger", "raise", ledger, *words)[0] == 0
    found = json.loads(run(capsys, "budget", ledger, "--json")[1])
    assert found["remaining"]["epsilon"] == 1.7
    assert "the second survey" in run(capsys, "history", ledger, "--json")[1]


@pytest.mark.parametrize(
    "words",
    [("--epsilon", "0.5", "--delta", "1e-6"), ("--rho", "2"), (), ("--epsilon", "nan", "--delta", "1e-6")],
)
def test_what_is_no_raise_is_refused(capsys, ledger, words):
    assert run(capsys, "ledger", "raise", ledger, *words, "--reason", "no")[0] == 2


def test_reserve_keeps_a_share_for_one_analyst(capsys, ledger):
    words = ("--epsilon", "0.3", "--reason", "her thesis")
    code, out, _ = run(capsys, "ledger", "reserve", ledger, "alice", *words, "--json")
    assert (code, json.loads(out)["remaining"]) == (0, {"epsilon": 0.3, "delta": 0.0})
    accounts = json.loads(run(capsys, "budget", ledger, "--json")[1])["accounts"]
    assert {"bank/rest", "bank/share/alice"} < {row["account"] for row in accounts}
    assert "epsilon 0.3" in run(capsys, "history", ledger)[1]
    assert run(capsys, "ledger", "reserve", ledger, "bob", "--epsilon", "0.5", "--reason", "no")[0] == 5


def test_the_history_of_one_analyst(capsys, ledger):
    records = json.loads(run(capsys, "history", ledger, "--analyst", "alice", "--json")[1])
    assert [record["total"] for record in records] == ["0.1", "0.2"]


def test_an_export_as_json_is_one_list(capsys, ledger):
    assert len(json.loads(run(capsys, "ledger", "export", ledger, "--json")[1])) == 10


@pytest.mark.parametrize("command", [("budget",), ("history",), ("ledger", "verify"), ("ledger", "export")])
def test_a_missing_ledger_is_an_error_and_is_not_made(capsys, tmp_path, command):
    assert run(capsys, *command, tmp_path / "none.ledger")[0] == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "command",
    [("budget",), ("history",), *(("ledger", word) for word in ("verify", "export", "raise", "reserve"))],
)
def test_every_command_explains_itself_with_an_example(capsys, command):
    code, out, _ = run(capsys, *command, "--help")
    assert code == 0
    assert f"Example: discreet {' '.join(command)}" in " ".join(out.split())


def test_a_ledger_on_a_server_is_named_by_its_address(capsys, postgres_database):
    with Ledger.open(postgres_database, dataset="bank", budget=PureDP(1)) as opened:
        opened.answer(opened.charge(Request(loss=PureDP(0.25), question="SELECT 1")), b"42")
    reason = ("--reason", "her thesis")
    assert run(capsys, "ledger", "reserve", postgres_database, "alice", "--epsilon", "0.5", *reason)[0] == 0
    found = json.loads(run(capsys, "budget", postgres_database, "--json")[1])
    assert found["remaining"] == {"epsilon": 0.75}
    assert len(json.loads(run(capsys, "history", postgres_database, "--json")[1])) == 3
    assert "1 charges, 1 answers: all valid" in run(capsys, "ledger", "verify", postgres_database)[1]
    assert len(run(capsys, "ledger", "export", postgres_database)[1].splitlines()) == 5


def test_a_question_is_charged_to_a_ledger_on_a_server(capsys, postgres_database, tmp_path):
    (tmp_path / "people.csv").write_text("person\n1\n2\n")
    asked = ("ask", tmp_path / "people.csv", "SELECT COUNT(*) AS n FROM people", "--unit", "person")
    words = ("--budget", "1", "--epsilon", "0.25", "--ledger", postgres_database, "--json")
    code, out, error = run(capsys, *asked, *words)
    assert code == 0, error
    assert not list(tmp_path.glob("*.ledger"))
    assert json.loads(run(capsys, "budget", postgres_database, "--json")[1])["spent"] == {"epsilon": 0.25}
    assert postgres_database.split("@")[1] not in out + error


def test_an_address_that_does_not_answer_is_an_error_that_does_not_repeat_it(capsys):
    code, out, error = run(capsys, "budget", "postgresql://postgres:secret@127.0.0.1:1/bank")
    assert code == 6
    assert "secret" not in out + error


def test_at_eighty_columns_no_question_is_broken_inside_a_name(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("person,cost\n" + "".join(f"{n},{n}\n" for n in range(50)))
    opening = {"unit": "person", "budget": 5, "types": {"cost": "number"}, "bounds": {"cost": (0, 50)}}
    with dp.Curator.open("people.csv", **opening) as curator:
        for name in ("ann", "a-name-of-some-thirty-characters"):
            curator.for_analyst(name).ask("SELECT AVG(cost) AS mean_of_all_costs FROM people", epsilon=1)
    _, out, _ = run(capsys, "history", "people.csv")
    assert max(map(len, out.splitlines())) <= 80
    assert "AVG(cost)" in out
    assert "mean_of_all_costs" in out
