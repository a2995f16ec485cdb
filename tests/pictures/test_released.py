"""An answer and a budget as a curator gives them, drawn."""

import plotly.graph_objects as go
import pytest

import discreet as dp


@pytest.fixture
def curator(tmp_path):
    table = tmp_path / "visits.csv"
    table.write_text("person,ward\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(200)))
    return dp.Curator.open(table, unit="person", budget=dp.PureDP(2), keys={"ward": ["a", "b", "c"]})


def test_an_answer_is_drawn_with_the_ends_of_its_intervals(curator):
    answer = curator.ask("SELECT ward, COUNT(*) AS visits FROM visits GROUP BY ward", epsilon=1)
    drawn = go.Figure(dp.pictures.answer(answer).to_json()).data[0]
    assert list(drawn.x) == ["a", "b", "c"]
    assert list(drawn.y) == [row["visits"] for row in answer.rows]
    for row, height, above, below in zip(
        answer.intervals, drawn.y, drawn.error_y.array, drawn.error_y.arrayminus, strict=True
    ):
        assert (height - below, height + above) == pytest.approx((row["visits"].lower, row["visits"].upper))


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
