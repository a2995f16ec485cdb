import math

import plotly.graph_objects as go
import pytest

import discreet as dp
from discreet.apps.pictures import density


def test_whole_number_noise_is_drawn_as_probabilities():
    figure = density(dp.Laplace(epsilon=1, sensitivity=1)).to_json()
    dots = go.Figure(figure).data[1]
    assert dots.y[dots.x.index(0)] == pytest.approx(math.tanh(1 / 2))
    assert figure["layout"]["yaxis"]["title"]["text"] == "probability"


def test_fine_noise_is_drawn_as_a_density():
    figure = density(dp.Laplace(scale=2, sensitivity=1, step=2**-20)).to_json()
    curve = figure["data"][0]
    assert max(curve["y"]) == pytest.approx(1 / 4, rel=1e-3)  # 1/2b
    assert figure["layout"]["yaxis"]["title"]["text"] == "probability density"


def test_several_mechanisms_share_one_axis():
    mechanisms = [dp.Laplace(scale=b, sensitivity=1) for b in (1, 2, 4)]
    names = [trace["name"] for trace in density(*mechanisms).to_json()["data"] if trace["mode"] == "markers"]
    assert names == ["Laplace, b = 1", "Laplace, b = 2", "Laplace, b = 4"]


def test_randomised_response_is_drawn_as_its_channel():
    figure = density(dp.RandomizedResponse(truth=0.75)).to_json()
    assert [trace["y"] for trace in figure["data"]] == [[0.75, 0.25], [0.25, 0.75]]


def test_mechanisms_may_come_as_a_list_and_none_is_refused():
    mechanisms = [dp.Laplace(scale=b, sensitivity=1) for b in (1, 2)]
    assert density(mechanisms).to_json() == density(*mechanisms).to_json()
    with pytest.raises(dp.InvalidParameter, match="at least one mechanism"):
        density()
