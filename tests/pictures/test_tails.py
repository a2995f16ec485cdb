import pytest

import discreet as dp
from discreet.apps.pictures import tail


def test_the_tail_lies_above_delta_and_both_are_marked():
    mechanism = dp.Gaussian(sigma=2, sensitivity=1)
    beyond, exact, marked = tail(mechanism, epsilon=1).to_json()["data"]
    assert marked["x"] == [1.0, 1.0]
    assert marked["y"] == [pytest.approx(0.0400592, rel=1e-5), mechanism.loss.delta(epsilon=1)]
    assert all(a is None or b is None or a > b for a, b in zip(beyond["y"], exact["y"], strict=True))


def test_a_bounded_loss_has_no_tail_beyond_its_epsilon():
    beyond = tail(dp.Laplace(epsilon=1, sensitivity=1), epsilon=1.2).to_json()["data"][0]
    assert all((y is None) == (x >= 1) for x, y in zip(beyond["x"], beyond["y"], strict=True))
