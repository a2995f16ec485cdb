import plotly.graph_objects as go

import discreet as dp
from discreet.apps.pictures import loss_variable


def test_a_density_and_its_atoms_have_an_axis_each():
    figure = loss_variable(dp.losses.laplace(scale=1, sensitivity=1)).to_json()
    assert [trace.name for trace in go.Figure(figure).data] == ["density", "atoms"]
    assert figure["layout"]["yaxis"]["title"]["text"] == "density"
    assert figure["layout"]["yaxis2"]["title"]["text"] == "probability of an atom"
    assert "mean 0.3679" in figure["layout"]["title"]["subtitle"]["text"]


def test_atoms_alone_stand_on_the_left():
    figure = loss_variable(dp.Laplace(epsilon=1, sensitivity=1)).to_json()
    assert "yaxis2" not in figure["layout"]
    assert figure["layout"]["yaxis"]["title"]["text"] == "probability of an atom"


def test_an_infinite_loss_is_said():
    assert "infinite with probability 0.1" in loss_variable(dp.ApproxDP(1, 0.1).loss).subtitle
