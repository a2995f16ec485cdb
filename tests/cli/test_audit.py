import json

import pytest

from discreet.apps.cli import main


def run(capsys, *words):
    with pytest.raises(SystemExit) as stop:
        main(["audit", *words])
    output = capsys.readouterr()
    return stop.value.code, output.out, output.err


def test_a_mechanism_keeps_its_own_claim(capsys):
    code, out, _ = run(capsys, "Laplace", "epsilon=1", "sensitivity=1", "--samples", "1000")
    assert code == 0
    assert out.startswith("not refuted")


def test_a_picture_is_saved_beside_the_report(capsys, tmp_path):
    file = tmp_path / "audit.html"
    run(capsys, "Laplace", "epsilon=1", "sensitivity=1", "--samples", "1000", "--picture", str(file))
    assert "Audit: not refuted" in file.read_text()


def test_a_false_claim_is_refuted_with_exit_code_one(capsys):
    code, out, _ = run(capsys, "laplace", "epsilon=1", "sensitivity=1", "--claim", "0.5")
    assert code == 1
    assert "witness" in out


def test_json_holds_the_evidence(capsys, tmp_path, monkeypatch):
    (tmp_path / "leaky.py").write_text("def leak(data, n):\n    return [data] * n\n")
    monkeypatch.chdir(tmp_path)
    words = ("leaky:leak", "--claim", "1", "--delta", "0.01", "--neighbours", "[[1], [1, 2]]", "--json")
    code, out, _ = run(capsys, *words)
    report = json.loads(out)
    assert code == 1
    assert report["verdict"] == "violated"
    assert report["trials"][0]["first"][1] > 0


POLICY = """
[dataset]
id = "people"
budget = { epsilon = 2 }
[tables.people]
source = "no such file.csv"
unit = "person"
[tables.people.columns]
city = { type = "text", keys = ["Ottawa", "Toronto"] }
[tables.payments]
unit = { through = "people", on = { payer = "id" } }
[tables.payments.columns]
amount = { type = "number", bounds = [0, 10] }
"""


def test_a_question_is_audited_without_its_data(capsys, tmp_path):
    (tmp_path / "people.toml").write_text(POLICY)
    picture = tmp_path / "audit.html"
    question = "SELECT city, SUM(amount) AS s FROM payments JOIN people ON payer = id GROUP BY city"
    words = (
        question,
        "--policy",
        str(tmp_path / "people.toml"),
        "--epsilon",
        "0.5",
        "--picture",
        str(picture),
    )
    code, out, _ = run(capsys, *words, "--asks", "100", "--samples", "1000", "--json")
    report = json.loads(out)
    assert code == 0
    assert report["verdict"] == "not refuted"
    assert report["price"] == "epsilon 0.5"
    assert report["asked"]["samples"] == 100
    assert "Audit: not refuted" in picture.read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["audit.html", "people.toml"]


def test_a_question_without_a_price_is_an_error(capsys, tmp_path):
    (tmp_path / "people.toml").write_text(POLICY)
    code, _, err = run(capsys, "SELECT COUNT(*) FROM people", "--policy", str(tmp_path / "people.toml"))
    assert code == 2
    assert "exactly one of epsilon" in err


@pytest.mark.parametrize(
    "words",
    [
        ("NoSuchMechanism",),
        ("Laplace", "epsilon"),
        ("Laplace", "sensitivity=1", "nonsense=2"),
        ("no.such:thing", "--claim", "1"),
        ("json:dumps",),
        ("json:dumps", "--claim", "1", "--neighbours", "7"),
        (":f", "--claim", "1", "--neighbours", "[0, 1]"),
        ("json:dumps", "epsilon=1", "--claim", "1", "--neighbours", "[0, 1]"),
        ("Laplace", "epsilon=1", "sensitivity=1", "--delta", "0.1"),
        ("Laplace", "sensitivity=1", "--epsilon", "1"),
        ("Laplace", "epsilon=1", "sensitivity=1", "--asks", "100"),
        ("SELECT 1", "--policy", "people.toml", "--epsilon", "1", "--claim", "1"),
        ("SELECT 1", "--policy", "people.toml", "--epsilon", "1", "--neighbours", "[0, 1]"),
    ],
)
def test_what_cannot_be_audited_is_an_error_of_its_kind(words, capsys):
    code, _, err = run(capsys, *words)
    assert code == 2
    assert err.startswith("error: ")


@pytest.mark.parametrize("text", ["def f(:", "raise RuntimeError('at import')"])
def test_a_module_that_cannot_be_imported_is_an_error_and_not_a_violation(
    text, capsys, tmp_path, monkeypatch
):
    (tmp_path / "unimportable.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    code, _, err = run(capsys, "unimportable:f", "--claim", "1", "--neighbours", "[0, 1]")
    assert code == 2
    assert err.startswith("error: target must name a function")


def test_help_shows_an_example(capsys):
    code, out, _ = run(capsys, "--help")
    assert code == 0
    assert "discreet audit Laplace epsilon=1" in out


@pytest.mark.parametrize(
    ("parameters", "said"),
    [(["epsilon=1"], "got no sensitivity"), (["epsilon=1", "sensitivity=1", "sigmma=2"], "got 'sigmma'")],
)
def test_parameters_that_are_missing_or_unknown_are_named(capsys, parameters, said):
    code, _, err = run(capsys, "Laplace", *parameters)
    assert code == 2
    assert said in err
    assert "__init__" not in err


def test_a_misspelt_mechanism_is_told_the_right_one(capsys):
    code, _, err = run(capsys, "laplac", "epsilon=1")
    assert code == 2
    assert "Did you mean Laplace?" in err
