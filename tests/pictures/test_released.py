"""An answer and a budget as a curator gives them, drawn."""

import pytest

import discreet as dp


@pytest.fixture
def curator(tmp_path):
    table = tmp_path / "visits.csv"
    table.write_text("person,ward\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(200)))
    return dp.Curator.open(table, unit="person", budget=dp.PureDP(2), keys={"ward": ["a", "b", "c"]})


def test_an_answer_is_drawn_with_the_ends_of_its_intervals(curator):
    answer = curator.ask("SELECT ward, COUNT(*) AS visits FROM visits GROUP BY ward", epsilon=1)
    drawn = dp.pictures.answer(answer).to_json()
    assert drawn["shape"] == "bars"
    assert [row["ward"] for row in drawn["rows"]] == ["a", "b", "c"]
    assert [row["visits"] for row in drawn["rows"]] == [row["visits"] for row in answer]
    assert [row["interval"] for row in drawn["rows"]] == [[*each["visits"]] for each in answer.intervals]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_chart_is_written_as_every_kind_of_file(curator, tmp_path, theme):
    answer = curator.ask("SELECT ward, COUNT(*) AS visits FROM visits GROUP BY ward", epsilon=1)
    chart = dp.pictures.answer(answer)
    starts = {"svg": b"<svg", "html": b"<!doctype", "png": b"\x89PNG", "json": b"{"}
    for kind, start in starts.items():
        written = chart.save(tmp_path / f"chart.{kind}", theme=theme).read_bytes()
        assert written.startswith(start)
        assert len(written) < 60_000


def test_an_answer_shows_itself_in_a_notebook_in_a_few_kilobytes(curator):
    answer = curator.ask("SELECT ward, COUNT(*) AS visits FROM visits GROUP BY ward", epsilon=1)
    shown = answer._repr_html_()
    assert shown.count("<tr>") == 4
    assert "<svg" in shown
    assert "price epsilon 1" in shown
    assert len(shown) < 10_000
    assert repr(answer) == str(answer)


def test_a_column_without_intervals_is_refused(curator):
    answer = curator.ask("SELECT ward, COUNT(*) AS visits FROM visits GROUP BY ward", epsilon=1)
    with pytest.raises(
        dp.InvalidParameter, match=r"column must be one with intervals \(visits\), got 'ward'"
    ):
        dp.pictures.answer(answer, "ward")


def test_a_curators_budget_is_drawn_charge_by_charge(curator):
    for epsilon in (0.5, 0.25):
        curator.ask("SELECT COUNT(*) AS n FROM visits", epsilon=epsilon)
    picture = dp.pictures.budget(curator)
    assert picture.to_json()["data"][1]["y"] == [0.5, 0.75]
    assert "1.25 left" in picture.subtitle
