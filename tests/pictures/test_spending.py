from datetime import UTC, datetime

import pytest

import discreet as dp
from discreet.apps.pictures import budget_over_time, draw_spending


def test_totals_add_up_exactly_and_meet_the_limit():
    picture = budget_over_time([(i, 0.1) for i in range(1, 11)], limit=1)
    assert picture.to_json()["data"][0]["y"][-1] == 1.0
    assert "0 left" in picture.subtitle


def test_times_are_shown_as_times():
    picture = budget_over_time([(datetime(2026, 11, 1, tzinfo=UTC), 1), ("2026-11-02", 2)])
    figure = picture.to_json()
    assert figure["data"][1]["x"] == ["2026-11-01T00:00:00+00:00", "2026-11-02"]
    assert figure["layout"]["xaxis"]["title"]["text"] == "time of the charge"


def test_an_empty_history_is_refused():
    with pytest.raises(dp.InvalidParameter, match="must not be empty"):
        budget_over_time([])


def test_charges_of_one_moment_are_shown_by_their_number():
    figure = budget_over_time([("2026-11-01T08:00:00", 0.1)] * 3, limit=1).to_json()
    assert figure["data"][1]["x"] == [1, 2, 3]
    assert figure["layout"]["xaxis"]["title"]["text"] == "charge"


def test_the_drawing_adds_up_exactly_and_names_its_limit():
    drawing = draw_spending([(i, 0.1) for i in range(1, 11)], limit=1).markup()
    assert drawing.count("<circle") == 10
    assert "total 1</title>" in drawing
    assert ">limit ε 1</text>" in drawing
    with pytest.raises(dp.InvalidParameter, match="must not be empty"):
        draw_spending([], limit=1)
