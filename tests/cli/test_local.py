import json

import pytest

import discreet as dp
from discreet.apps.cli import main

PARTIES = ("--run-by", "relay", "--collector", "office")


def run(capsys, *words):
    try:
        main(["local", *map(str, words)])
        code = 0
    except SystemExit as stop:
        code = stop.code or 0
    output = capsys.readouterr()
    return code, output.out, output.err


@pytest.fixture
def answers(tmp_path):
    path = tmp_path / "answers.txt"
    path.write_text("tea\n" * 300 + "coffee\n" * 100)
    return path


def test_answers_become_reports_and_reports_become_shares(capsys, answers, tmp_path):
    code, out, err = run(
        capsys, "randomize", answers, "--epsilon", 4, "--values", "tea", "--values", "coffee"
    )
    assert code == 0
    assert "costs epsilon once more" in err
    reports = tmp_path / "reports.json"
    reports.write_text(out)
    code, out, _ = run(capsys, "estimate", reports, reports, "--json")
    found = json.loads(out)
    assert found["reports"] == 800
    assert abs(found["estimates"]["tea"]["value"] - 0.75) < 0.1
    assert found["estimates"]["tea"]["lower"] < found["estimates"]["tea"]["upper"]
    code, out, _ = run(capsys, "estimate", reports)
    assert out.startswith("tea: ")
    assert "trusted curator" in out


@pytest.mark.parametrize("noise", ["window", "laplace"])
def test_numbers_have_a_mean(capsys, tmp_path, noise):
    numbers, reports = tmp_path / "numbers.txt", tmp_path / "reports.json"
    numbers.write_text("3\n" * 200 + "9.5\n" * 200)
    _, out, _ = run(capsys, "randomize", numbers, "--epsilon", 8, "--bounds", 0, 15, "--noise", noise)
    reports.write_text(out)
    _, out, _ = run(capsys, "estimate", reports, "--json")
    assert abs(json.loads(out)["estimates"]["mean"]["value"] - 6.25) < 1.5


@pytest.mark.parametrize(
    "words",
    [
        ("randomize", "nowhere.txt", "--epsilon", 1, "--values", "a", "--values", "b"),
        ("randomize", "ANSWERS", "--epsilon", 1),
        ("randomize", "ANSWERS", "--epsilon", 0, "--values", "tea", "--values", "coffee"),
        ("randomize", "ANSWERS", "--epsilon", 1, "--values", "milk", "--values", "coffee"),
        ("randomize", "ANSWERS", "--epsilon", 1, "--bounds", 0, 1),
        ("estimate", "ANSWERS"),
        ("estimate", "nowhere.json"),
        ("estimate",),
        ("collect", "ANSWERS", "--protocol", "ANSWERS"),
        ("randomize", "ANSWERS", "--epsilon", 1, "--questions", "ANSWERS"),
        ("randomize", "ANSWERS", "--epsilon", 1, "--questions", "QUESTIONS"),
        ("randomize", "ANSWERS", "--epsilon", 1, "--questions", "QUESTIONS", "--bounds", 0, 1),
        ("shuffle", "ANSWERS", "--protocol", "PROTOCOL", "--people", 2, "--delta", 1e-6, *PARTIES),
    ],
)
def test_what_cannot_be_done_is_said_in_json_and_quotes_no_answer(capsys, answers, words, tmp_path):
    protocol, questions = tmp_path / "protocol.json", tmp_path / "questions.json"
    protocol.write_text(json.dumps(dp.local.choice(values=["a", "b"], epsilon=1).to_json()))
    questions.write_text('{"drink": {"values": ["tea", "coffee"]}}')
    files = {"ANSWERS": answers, "PROTOCOL": protocol, "QUESTIONS": questions}
    code, out, _ = run(capsys, *(files.get(word, word) for word in words), "--json")
    assert code == 2
    error = json.loads(out)["error"]
    assert error["code"] == "invalid_parameter"
    assert "tea" not in error["message"]


def test_reports_of_two_protocols_are_not_mixed(capsys, answers, tmp_path):
    for epsilon in (1, 2):
        _, out, _ = run(
            capsys, "randomize", answers, "--epsilon", epsilon, "--values", "tea", "--values", "coffee"
        )
        (tmp_path / f"{epsilon}.json").write_text(out)
    code, _, err = run(capsys, "estimate", tmp_path / "1.json", tmp_path / "2.json")
    assert code == 2
    assert "one protocol" in err


@pytest.mark.parametrize("command", ["randomize", "shuffle", "collect", "estimate", "page"])
def test_help_shows_an_example(capsys, command):
    _, out, _ = run(capsys, command, "--help")
    assert "Example: discreet local" in out


def test_a_large_domain_is_collected_from_tables_and_its_largest_shares_printed(capsys, tmp_path):
    answers, made = tmp_path / "answers.txt", tmp_path / "made.json"
    answers.write_text("7\n" * 3000 + "123\n" * 1000)
    _, out, _ = run(capsys, "randomize", answers, "--epsilon", 4, "--domain", 2000)
    made.write_text(out)
    reports = json.loads(out)["reports"]
    for name, some in (("a", reports[::2]), ("b", reports[1::2])):
        (tmp_path / f"{name}.csv").write_text("report\n" + "\n".join(map(str, some)) + "\n")
    code, out, _ = run(capsys, "collect", tmp_path / "a.csv", tmp_path / "b.csv", "--protocol", made)
    assert code == 0
    (tmp_path / "counts.json").write_text(out)
    code, out, _ = run(capsys, "estimate", tmp_path / "counts.json", "--top", 2)
    assert [line.split(":")[0] for line in out.splitlines()[:2]] == ["7", "123"]
    _, from_counts, _ = run(capsys, "estimate", tmp_path / "counts.json", "--json", "--liars", "0.01")
    _, from_reports, _ = run(capsys, "estimate", made, "--json", "--liars", "0.01")
    assert json.loads(from_counts) == json.loads(from_reports)
    found = json.loads(from_counts)
    assert found["moved_by_liars"] > 0.01
    assert found["estimates"]["7"]["lower"] < 0.75 < found["estimates"]["7"]["upper"]
    code, out, _ = run(capsys, "estimate", tmp_path / "counts.json", "--liars", "0.01")
    assert "Liars can move" in out


def test_hashed_text_and_distributions_have_their_options(capsys, tmp_path):
    answers, made = tmp_path / "answers.txt", tmp_path / "made.json"
    answers.write_text("tea\n" * 40)
    code, out, _ = run(capsys, "randomize", answers, "--epsilon", 4, "--domain", 5000, "--seed", "june")
    assert (code, json.loads(out)["protocol"]["seed"]) == (0, "june")
    answers.write_text("3\n" * 500 + "9\n" * 500)
    _, out, _ = run(capsys, "randomize", answers, "--epsilon", 4, "--bounds", 0, 15, "--bins", 16)
    made.write_text(out)
    _, out, _ = run(capsys, "estimate", made, "--json")
    found = json.loads(out)
    assert len(found["shares"]) == 16
    assert found["quantiles"]["1/4"]["lower"] <= 4 <= found["quantiles"]["3/4"]["upper"]
    _, out, _ = run(capsys, "estimate", made)
    assert "quantile 1/2" in out
    made.write_text(
        json.dumps({"protocol": json.loads(made.read_text())["protocol"], "tally": {"counts": [1]}})
    )
    code, out, _ = run(capsys, "estimate", made, "--json")
    assert (code, json.loads(out)["error"]["code"]) == (2, "invalid_parameter")


def test_a_page_is_written(capsys, tmp_path):
    code, _, _ = run(capsys, "page", tmp_path / "surveys")
    assert code == 0
    assert (tmp_path / "surveys" / "survey.html").exists()
    assert "socks" in (tmp_path / "surveys" / "surveys.js").read_text()


def test_means_are_collected_and_liars_counted(capsys, tmp_path):
    numbers, made, tally = tmp_path / "numbers.txt", tmp_path / "made.json", tmp_path / "tally.json"
    numbers.write_text("3\n" * 200 + "9.5\n" * 200)
    _, out, _ = run(capsys, "randomize", numbers, "--epsilon", 8, "--bounds", 0, 15)
    made.write_text(out)
    (tmp_path / "sent.csv").write_text("report\n" + "\n".join(map(str, json.loads(out)["reports"])))
    for source in (made, tmp_path / "sent.csv"):
        code, out, _ = run(capsys, "collect", source, "--protocol", made)
        assert code == 0
        tally.write_text(out)
        _, out, _ = run(capsys, "estimate", tally, "--json", "--liars", 0.01)
        found = json.loads(out)
        assert found["reports"] == 400
        assert found["moved_by_liars"] > 0.15
        assert found["estimates"]["mean"]["upper"] > found["estimates"]["mean"]["value"] + 0.15
    _, out, _ = run(capsys, "estimate", tally, made, "--liars", 0.01)
    assert "800 reports" in out
    assert "Liars can move" in out


def test_few_shares_are_printed_with_their_consistent_and_likeliest_versions(capsys, answers, tmp_path):
    _, out, _ = run(capsys, "randomize", answers, "--epsilon", 1, "--values", "tea", "--values", "coffee")
    (tmp_path / "made.json").write_text(out)
    _, out, _ = run(capsys, "estimate", tmp_path / "made.json", "--json")
    found = json.loads(out)
    for version in ("consistent", "likeliest"):
        assert sum(found[version].values()) == pytest.approx(1)
        assert set(found[version]) == {"tea", "coffee"}


def test_several_questions_go_through_all_commands(capsys, tmp_path):
    asked, people, made = (tmp_path / name for name in ("asked.json", "people.jsonl", "made.json"))
    asked.write_text(
        json.dumps(
            {
                "drink": {"values": ["tea", "coffee"]},
                "age": {"bounds": [0, 100]},
                "skipped": {"bounds": [0, 15], "bins": 16},
            }
        )
    )
    people.write_text('{"drink": "tea", "age": 30, "skipped": 3}\n' * 900)
    code, out, err = run(capsys, "randomize", people, "--epsilon", 2, "--questions", asked)
    assert code == 0
    assert "of 3 questions" in err
    made.write_text(out)
    _, tally, _ = run(capsys, "collect", made, "--protocol", made)
    (tmp_path / "tally.json").write_text(tally)
    _, direct, _ = run(capsys, "estimate", made, "--json", "--liars", 0.01)
    _, counted, _ = run(capsys, "estimate", tmp_path / "tally.json", "--json", "--liars", 0.01)
    found, again = json.loads(direct), json.loads(counted)
    assert found["reports"] == again["reports"] == 900
    assert found["questions"]["age"] == again["questions"]["age"]
    assert found["questions"]["age"]["estimates"]["mean"]["lower"] < 30
    assert found["questions"]["drink"]["liars"] > 0.01  # they may all answer this one
    assert len(found["questions"]["skipped"]["shares"]) == 16
    _, out, _ = run(capsys, "estimate", made)
    assert [line for line in out.splitlines() if not line.startswith(" ")] == ["drink:", "age:", "skipped:"]


def test_a_shuffled_batch_holds_reports_alone(capsys, answers, tmp_path):
    _, out, _ = run(capsys, "randomize", answers, "--epsilon", 1, "--values", "tea", "--values", "coffee")
    made, batch = tmp_path / "made.json", tmp_path / "batch.jsonl"
    made.write_text(out)
    reports = json.loads(out)["reports"]
    lines = [{"sender": f"s{i}", "time": i, "report": report} for i, report in enumerate(reports)]
    batch.write_text("\n".join(map(json.dumps, lines)))
    words = ("shuffle", batch, "--protocol", made, "--delta", 1e-6, *PARTIES, "--people")
    code, out, err = run(capsys, *words, 400)
    assert code == 0
    mixed = json.loads(out)
    assert set(mixed) == {"protocol", "reports"}
    assert sorted(mixed["reports"]) == sorted(reports)
    assert mixed["reports"] != reports
    assert "towards office and 1 towards relay" in err
    code, out, _ = run(capsys, *words, 401)
    assert (code, out) == (2, "")
    code, _, err = run(capsys, *words[:-2], "relay", "--people", 400)
    assert code == 2
    assert "another party" in err


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "[" * 100_000,
        '{"protocol": {}, "reports": []}',
        '{"protocol": 1, "reports": [1]}',
        '{"protocol": PROTOCOL, "reports": []}',
        '{"protocol": PROTOCOL, "reports": [[]]}',
        '{"protocol": PROTOCOL, "reports": [{"secret": 1}]}',
        '{"protocol": PROTOCOL, "reports": ["a", "secret"]}',
        '{"protocol": PROTOCOL, "tally": {}}',
        '{"protocol": PROTOCOL, "tally": {"reports": 1, "supports": [9, 9]}}',
        '{"protocol": PROTOCOL, "tally": {"reports": 1e400, "supports": [1, 0]}}',
        '{"protocol": PROTOCOL, "tally": {"reports": -1, "supports": [-1, 0]}}',
        "\x00\xff",
    ],
)
def test_bad_files_are_refused_by_every_command(capsys, tmp_path, text):
    protocol = dp.local.choice(values=["a", "b"], epsilon=1).to_json()
    bad, good = tmp_path / "bad.json", tmp_path / "good.json"
    bad.write_text(text.replace("PROTOCOL", json.dumps(protocol)), encoding="latin-1")
    good.write_text(json.dumps(protocol))
    for words in (
        ("estimate", bad),
        ("collect", bad, "--protocol", good),
        ("shuffle", bad, "--protocol", good, "--people", 1, "--delta", 1e-6, *PARTIES),
    ):
        code, out, err = run(capsys, *words)
        assert code == 2, words
        assert "Traceback" not in err
        assert "secret" not in err + out


def test_the_shares_of_texts_that_were_hashed_are_asked_for_by_name(capsys, tmp_path):
    texts, reports = tmp_path / "texts.txt", tmp_path / "reports.json"
    texts.write_text("/home\n" * 900 + "/help\n" * 100)
    words = ("randomize", texts, "--epsilon", 8, "--domain", 1000, "--seed", "june")
    reports.write_text(run(capsys, *words)[1])
    _, out, _ = run(capsys, "estimate", reports, "--values", "/home", "--values", "/help", "--json")
    found = json.loads(out)["estimates"]
    assert list(found) == ["/home", "/help"]
    assert abs(found["/home"]["value"] - 0.9) < 0.1
    assert abs(found["/help"]["value"] - 0.1) < 0.1
    first, *_ = run(capsys, "estimate", reports, "--top", 1)[1].splitlines()
    assert first.startswith("place ")  # which text lies there, the collector has to guess


def test_values_that_nobody_could_report_have_no_share(capsys, answers, tmp_path):
    reports, table = tmp_path / "reports.json", tmp_path / "reports.parquet"
    reports.write_text(
        run(capsys, "randomize", answers, "--epsilon", 4, "--values", "tea", "--values", "coffee")[1]
    )
    code, _, err = run(capsys, "estimate", reports, "--values", "milk")
    assert code == 2
    table.write_bytes(b"PAR1")
    code, _, err = run(capsys, "estimate", table)
    assert code == 2
    assert "discreet local collect" in err
