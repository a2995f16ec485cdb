import math

import pytest

from discreet.apps.pictures import truth_probability


def test_every_parametrisation_is_drawn_with_the_loss_it_really_has():
    figure = truth_probability().to_json()
    left = [trace for trace in figure["data"] if "yaxis" not in trace]
    right = [trace for trace in figure["data"] if trace.get("yaxis") == "y2"]
    assert len(left) == len(right) == 5
    at = left[0]["x"].index(1.0)
    assert [trace["y"][at] for trace in left[:4]] == pytest.approx(
        [math.e / (1 + math.e), 2 / 3, 5 / 7, 1 / 2]
    )
    assert [trace["y"][at] for trace in right[:4]] == pytest.approx(
        [1, math.log(2), math.log(2.5), 0], abs=1e-9
    )
    assert (left[4]["x"], left[4]["y"]) == ([pytest.approx(math.log(3))], [0.75])
