import numpy as np
import plotly.graph_objects as go
import pytest

import discreet as dp


@pytest.mark.parametrize("liars", [0, 0.01])
def test_the_largest_shares_are_drawn_with_the_whiskers_of_all_values(liars):
    protocol = dp.local.choice(domain=3000, epsilon=4)
    found = protocol.collect(protocol.randomize_many(np.repeat([7, 123, 5], [500, 300, 200])))
    figure = go.Figure(dp.pictures.shares(found, top=3, liars=liars).to_json())
    (drawn,) = figure.data
    assert list(drawn.x) == [str(value) for value in found.top(3)]
    lower, upper = found.intervals(simultaneous=True, liars=liars)
    ends = np.array(drawn.y) + np.array(drawn.error_y.array)
    assert ends == pytest.approx([upper[int(value)] for value in drawn.x])
    ends = np.array(drawn.y) - np.array(drawn.error_y.arrayminus)
    assert ends == pytest.approx([lower[int(value)] for value in drawn.x])
    assert "1,000 reports" in figure.layout.title.subtitle.text
    assert figure.layout.xaxis.title.text


def test_a_distribution_is_drawn_between_its_bounds():
    protocol = dp.local.distribution(bounds=(0, 15), epsilon=4, bins=16)
    found = protocol.collect(protocol.randomize([3, 9] * 300))
    figure = go.Figure(dp.pictures.shares(found).to_json())
    likely, lower, upper = (np.array(trace.y) for trace in figure.data)
    assert likely[-1] == pytest.approx(1)
    assert (lower <= upper).all()
    assert len(figure.data[0].x) == 16
