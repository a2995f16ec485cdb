import numpy as np
import pytest

import discreet as dp
from discreet.apps.pictures import composition


def curves(picture):
    return {trace["name"].split(":")[0]: trace for trace in picture.to_json()["data"]}


def test_one_loss_is_repeated_and_the_exact_curve_is_the_losss_own():
    loss = dp.Laplace(epsilon=0.1, sensitivity=1).loss
    drawn = curves(composition(loss, delta=1e-6, times=100))
    assert drawn["exact"]["x"][-1] == 100
    assert drawn["exact"]["y"][-1] == (100 * loss).epsilon(delta=1e-6)
    assert drawn["basic"]["y"][-1] == pytest.approx(10, rel=1e-5)
    theorem = dp.compose_advanced(epsilon=0.1, times=100, slack=1e-6)
    assert drawn["advanced composition"]["y"][-1] == pytest.approx(float(theorem.epsilon))


def test_the_exact_curve_is_the_least_everywhere():
    drawn = curves(composition(dp.Gaussian(sigma=20, sensitivity=1), times=50))
    for curve in drawn.values():
        assert (np.array(drawn["exact"]["y"]) <= np.array(curve["y"]) * (1 + 1e-9)).all()


def test_a_plan_is_drawn_in_its_order():
    plan = [dp.Laplace(epsilon=1, sensitivity=1), dp.Laplace(epsilon=3, sensitivity=1)]
    exact = curves(composition(plan, delta=0))["exact"]
    assert exact["y"] == [1.0, 4.0]


def test_anything_else_is_refused():
    for wrong in ([], ["Laplace"], 1):
        with pytest.raises(dp.InvalidParameter, match="losses must be"):
            composition(wrong)


def test_a_rule_that_says_nothing_leaves_a_gap():
    drawn = curves(composition([dp.Laplace(epsilon=9000, sensitivity=1)] * 3))
    assert drawn["advanced composition"]["y"] == [None] * 3
    assert drawn["exact"]["y"] == pytest.approx([9000, 18_000, 27_000])
