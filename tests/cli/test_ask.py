import json
from pathlib import Path

import pytest

from discreet.apps.cli import main
from discreet.errors import InvalidParameter

SQL = "SELECT city, COUNT(DISTINCT person) AS people FROM accounts GROUP BY city"


@pytest.fixture
def accounts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = ["person,city,debt", *(f"p{k},{['Ottawa', 'Toronto'][k % 2]},{k}" for k in range(300))]
    Path("accounts.csv").write_text("\n".join(lines) + "\n")
    return Path("accounts.csv")


def run(capsys, *words):
    code = 0
    try:
        main([str(word) for word in words])
    except SystemExit as end:
        code = end.code or 0
    out, err = capsys.readouterr()
    return code, out, err


def test_the_first_minute_of_an_analyst(accounts, capsys):
    code, out, err = run(capsys, "ask", accounts, SQL, "--unit", "person", "--epsilon", "0.5")
    assert code == 0
    assert "Ottawa" in out
    assert "remaining epsilon 0.5" in out
    assert "epsilon 1, delta 1e-6" in err
    assert Path("accounts.ledger").exists()


def test_without_a_budget_the_ledgers_own_is_used(accounts, capsys):
    words = ("ask", accounts, "SELECT COUNT(*) AS n FROM accounts", "--unit", "person")
    run(capsys, *words, "--epsilon", "0.5", "--budget", "2")
    code, out, err = run(capsys, *words, "--epsilon", "0.25")
    assert (code, err) == (0, "no --budget given: the ledger's own is used, epsilon 2\n")
    assert "remaining epsilon 1.25" in out
    run(capsys, "ledger", "raise", accounts, "--epsilon", "3", "--reason", "a second survey")
    assert "remaining epsilon 2.125" in run(capsys, *words, "--epsilon", "0.125")[1]
    code, _, err = run(capsys, *words, "--epsilon", "0.5", "--budget", "2")
    assert code == 6
    assert "must be the ledger's own" in err


@pytest.mark.parametrize("command", ["ask", "explain"])
def test_the_help_offers_no_option_to_empty_another(capsys, command):
    code, out, _ = run(capsys, command, "--help")
    assert code == 0
    assert ("--bounds" in out, "--empty" in out) == (True, False)


def test_json_and_csv_are_for_programs(accounts, capsys):
    words = ("ask", accounts, SQL, "--unit", "person", "--epsilon", "0.5", "--keys", "city=Ottawa,Toronto")
    answer = json.loads(run(capsys, *words, "--json")[1])
    assert [row["city"] for row in answer["rows"]] == ["Ottawa", "Toronto"]
    assert answer["receipt"]["price"] == {"epsilon": "0.5"}
    said, header, *_ = run(capsys, *words, "--csv")[1].splitlines()
    assert said.startswith("# a unit adds at most ")
    assert header == "city,people,people_lower,people_upper"


CHOICES = ("MEDIAN(debt)", "QUANTILE(debt, 0.9)", "MIN(debt)", "MODE(city)", "MEDIAN(debt) + 1")


@pytest.mark.parametrize("choice", CHOICES)
def test_a_plot_that_cannot_be_drawn_is_refused_before_the_charge(accounts, capsys, choice):
    words = ("ask", accounts, f"SELECT {choice} AS m FROM accounts", "--unit", "person", "--epsilon", "0.5")
    options = ("--bounds", "debt=0:1000", "--keys", "city=Ottawa,Toronto")
    code, out, err = run(capsys, *words, *options, "--plot", "m.html")
    assert (code, out) == (2, "")
    assert "must have a column with intervals" in err
    assert "remaining epsilon 0.5" in run(capsys, *words, *options)[1]


@pytest.mark.parametrize("file", ["m.bmp", "nowhere/m.html"])
def test_a_plot_that_cannot_be_written_is_refused_before_the_charge(accounts, capsys, file):
    words = ("ask", accounts, SQL, "--unit", "person", "--epsilon", "0.5", "--keys", "city=Ottawa,Toronto")
    assert run(capsys, *words, "--plot", file)[0] == 2
    assert "remaining epsilon 0.5" in run(capsys, *words)[1]


def test_an_answer_is_printed_before_anything_is_drawn_or_saved(accounts, capsys, monkeypatch):
    words = ("ask", accounts, SQL, "--unit", "person", "--epsilon", "0.5", "--keys", "city=Ottawa,Toronto")
    monkeypatch.setattr("discreet.apps.pictures.answers.Chart.save", fail_to_save)
    code, out, err = run(capsys, *words, "--plot", "m.html")
    assert code == 2
    assert "Ottawa" in out
    assert "no room" in err
    code, out, err = run(capsys, *words, "--json", "--save", "accounts.csv")
    assert code == 2
    assert json.loads(out)["rows"]
    assert "not all files were written" in err


def fail_to_save(*_, **__):
    raise InvalidParameter("no room", parameter="path")


def test_an_answer_from_the_ledger_says_so(accounts, capsys):
    words = ("ask", accounts, SQL, "--unit", "person", "--epsilon", "0.5", "--keys", "city=Ottawa,Toronto")
    first, again = run(capsys, *words)[1], run(capsys, *words)[1]
    assert "from the ledger, free" not in first
    assert "from the ledger, free · price then epsilon 0.5 · remaining then epsilon 0.5" in " ".join(
        again.split()
    )
    told = json.loads(run(capsys, *words, "--json")[1])
    assert (told["charged"], told["receipt"]["charged"]) == (False, False)


OPTIONS = ("--epsilon", "--rho", "--within", "--confidence", "--delta")
TEXTS = ("50%", "0.5 %", "1e-6%", "5,0", "0x1", "1/2", "½", "5e", "0.5ε", "$5")


@pytest.mark.parametrize(
    ("option", "text"), [*((each, "50%") for each in OPTIONS), *(("--epsilon", each) for each in TEXTS[1:])]
)
def test_a_number_is_a_decimal_and_nothing_else(accounts, capsys, option, text):
    words = ["ask", accounts, SQL, "--unit", "person", "--keys", "city=Ottawa,Toronto", f"{option}={text}"]
    if option in ("--confidence", "--delta"):
        words += ["--epsilon", "0.1"]
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "")
    assert f"{option[2:]} must be a decimal number" in err
    assert not Path("accounts.ledger").exists()


@pytest.mark.parametrize("text", ["50%", "1,50%", "epsilon=50%", "rho=5%"])
def test_a_budget_is_made_of_decimal_numbers_and_nothing_else(accounts, capsys, text):
    words = ("ask", accounts, SQL, "--unit", "person", "--epsilon", "0.1", "--budget", text)
    code, _, err = run(capsys, *words)
    assert code == 2
    assert "budget must be a decimal number" in err


def test_a_refused_question_is_underlined_and_exits_with_its_code(accounts, capsys):
    code, out, err = run(
        capsys, "ask", accounts, "SELECT * FROM accounts", "--unit", "person", "--epsilon", "1"
    )
    assert code == 3
    assert "^" in err
    assert out == ""


def test_an_overspent_budget_exits_with_its_code_and_json(accounts, capsys):
    words = ("ask", accounts, SQL, "--unit", "person", "--keys", "city=Ottawa,Toronto", "--json")
    run(capsys, *words, "--epsilon", "0.9")
    code, out, _ = run(capsys, *words, "--epsilon", "0.2")
    assert code == 5
    assert json.loads(out)["error"]["code"] == "budget_exceeded"


@pytest.mark.parametrize("epsilon", ["nan", "inf", "-1", "0", "1e-320", "1_0", "١", "true", "1/3"])
def test_garbage_prices_are_refused_and_make_no_ledger(accounts, capsys, epsilon):
    code, _, err = run(capsys, "ask", accounts, SQL, "--unit", "person", f"--epsilon={epsilon}")
    assert code == 2
    assert "epsilon must" in err
    assert not Path("accounts.ledger").exists()


def test_a_unit_must_be_named(accounts, capsys):
    assert run(capsys, "ask", accounts, SQL, "--epsilon", "1")[0] == 2


def test_explain_charges_nothing(accounts, capsys):
    code, out, _ = run(
        capsys, "explain", accounts, "SELECT COUNT(*) AS n FROM accounts", "--each-row", "--epsilon", "1"
    )
    assert code == 0
    assert "Expected error of n" in out
    assert not Path("accounts.ledger").exists()


def test_the_plot_and_the_saved_folder_are_written(accounts, capsys):
    words = ("ask", accounts, SQL, "--unit", "person", "--epsilon", "1", "--keys", "city=Ottawa,Toronto")
    assert run(capsys, *words, "--plot", "people.html", "--save", "out")[0] == 0
    assert "<svg" in Path("people.html").read_text()
    assert Path("out/receipt.txt").exists()


def test_the_demo_runs(capsys):
    code, out, _ = run(capsys, "demo", "--json")
    assert code == 0
    assert len(json.loads(out)) == 3


def test_a_question_to_the_bundled_table_keeps_its_ledger_here(tmp_path, monkeypatch, capsys):
    import discreet

    monkeypatch.chdir(tmp_path)
    table = Path(discreet.__file__).parent / "demo" / "people.parquet"
    sql = "SELECT COUNT(DISTINCT person) AS people FROM people"
    code, _, _ = run(capsys, "ask", table, sql, "--unit", "person", "--epsilon", "0.5")
    assert code == 0
    assert Path("people.ledger").is_file()
    assert not list(table.parent.glob("*.ledger*"))
    assert "epsilon 0.5" in run(capsys, "budget", table)[1]


def test_the_demo_table_is_what_its_script_makes():
    import pyarrow.parquet as pq

    import discreet

    table = pq.read_table(Path(discreet.__file__).parent / "demo" / "people.parquet")
    assert table.num_rows == 100_279
    assert table.column_names == ["person", "city", "age", "income", "kind", "debt", "opened"]


@pytest.mark.parametrize("command", ["ask", "explain", "demo"])
def test_help_has_an_example(command, capsys):
    assert "Example: discreet" in run(capsys, command, "--help")[1]


def test_a_label_that_looks_like_markup_is_shown_as_it_is(accounts, capsys):
    labels = "city=[/bold],[red]"
    words = ("ask", accounts, SQL, "--unit", "person", "--epsilon", "0.5", "--keys", labels)
    code, out, _ = run(capsys, *words)
    assert code == 0
    assert "[/bold]" in out
    assert "[red]" in out


def test_the_first_cause_is_named_first(accounts, capsys):
    code, _, err = run(capsys, "ask", "missing.csv", SQL)
    assert code == 2
    assert "data must be a file that exists, got 'missing.csv'" in err
    code, _, err = run(
        capsys, "ask", accounts, "SELECT cty FROM accounts", "--unit", "person", "--epsilon", "1"
    )
    assert code == 3
    assert "'cty' is not known here. Did you mean 'city'?" in err
    assert err.endswith("         ^^^\n")
    code, _, err = run(
        capsys, "ask", accounts, "SELECT city FROM accounts", "--unit", "person", "--epsilon", "1"
    )
    assert "must aggregate" in err
    assert err.endswith("         ^^^^\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n1,2\n1,2,3\n", "line 3 of bad.csv has too many fields."),
        ('a,b\n1,"2\n2"\n\n5\n', "line 5 of bad.csv has too few fields."),
    ],
)
def test_a_line_that_is_not_strict_csv_is_named_and_nothing_of_it_shown(tmp_path, capsys, text, said):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    sql = "SELECT COUNT(*) AS n FROM bad"
    code, _, err = run(capsys, "ask", path, sql, "--unit", "a", "--epsilon", "0.1")
    assert code == 4
    assert said in err


def test_explain_says_what_is_not_known_and_why(accounts, capsys):
    sql = "SELECT AVG(debt) AS mean, MEDIAN(debt) AS middle FROM accounts"
    terms = ("--unit", "person", "--epsilon", "1", "--bounds", "debt=0:300", "--types", "debt=number")
    _, out, _ = run(capsys, "explain", accounts, sql, *terms)
    assert out.endswith(
        "Error of mean: not known before the answer, for averages until you state the population.\n"
    )
    assert "Expected error of middle: a rank at most" in out


def test_bounds_of_days_are_options_and_a_missing_one_names_the_column(tmp_path, capsys):
    rows = "".join(f"{i},2024-01-{1 + i % 28:02},{i % 10}\n" for i in range(600))
    (tmp_path / "t.csv").write_text(f"person,day,cost\n{rows}")
    asked = [tmp_path / "t.csv", "SELECT MAX(day) AS last FROM t", "--unit", "person", "--epsilon", "0.1"]

    def told(*options):
        code, _, err = run(capsys, "ask", *asked, *options)
        assert code == 3
        return " ".join(err.split())

    assert "--bounds day=2020-01-01:2026-12-31" in told("--types", "day=date")
    code, out, _ = run(capsys, "ask", *asked, "--bounds", "day=2024-01-01:2024-12-31", "--csv")
    assert code == 0
    assert "2024-" in out
    asked[1] = "SELECT SUM(cost) AS s FROM t"
    assert "--types cost=number" in told()
    assert "--bounds cost=0:1000" in told("--types", "cost=number")
