"""The pictures of the lab: neighbours, the loss beyond ε, estimates, streams, extreme deltas, forecasts."""

import math
from collections import Counter

import numpy as np
import pytest

import discreet as dp
from discreet.apps.pictures import convergence, forecast, leaks, loss_variable, neighbours, stream
from discreet.apps.pictures.course import _play, someone_leaks
from discreet.asking.policy import from_arguments


def named(picture, name):
    return next(trace for trace in picture.to_json()["data"] if trace["name"] == name)


def test_neighbours_differ_by_at_most_a_factor_of_e_to_the_epsilon():
    picture = neighbours(dp.Laplace(epsilon=0.5, sensitivity=2))
    there, without = named(picture, "D, with the person"), named(picture, "D′, without")
    ratios = np.log(np.array(there["y"]) / np.array(without["y"]))
    assert there["x"] == without["x"]
    assert max(abs(ratios)) == pytest.approx(0.5)


def test_the_shaded_part_of_a_density_is_delta():
    mechanism = dp.Gaussian(sigma=1, sensitivity=1)
    shaded = named(loss_variable(mechanism, epsilon=0.5), "counts towards δ")
    area = np.trapezoid(shaded["y"], shaded["x"])
    assert area == pytest.approx(mechanism.loss.delta(epsilon=0.5), rel=1e-3)


def test_the_marked_part_of_an_atom_is_delta():
    mechanism = dp.Laplace(epsilon=1, sensitivity=1)
    marked = named(loss_variable(mechanism, epsilon=0.25), "counts towards δ")
    assert sum(marked["y"]) == pytest.approx(mechanism.loss.delta(epsilon=0.25))


def test_estimates_lie_in_their_band_and_end_near_the_truth():
    picture = convergence(dp.RandomizedResponse(epsilon=3), share=0.25, people=40_000, plays=1)
    drawn, upper = named(picture, "draw 1"), named(picture, "95 % of all draws")
    error = (upper["y"][-1] - 0.25) / 1.96
    assert abs(drawn["y"][-1] - 0.25) < 6.2 * error  # a false alarm in 1e9 runs
    assert drawn["x"][-1] == 40_000


def test_a_response_that_tells_nothing_is_refused():
    with pytest.raises(dp.InvalidParameter):
        convergence(dp.RandomizedResponse(truth=0.5), share=0.5, people=100)


def test_a_stream_stops_after_its_last_above():
    values = [0.0] * 5 + [10**6] * 5
    picture = stream(dp.Sparse(epsilon=1, threshold=1000, count=2), values)
    assert named(picture, "value + noise: “above”")["x"] == [6, 7]
    assert named(picture, "value + noise: “below”")["x"] == [1, 2, 3, 4, 5]
    assert "it stopped at 7 of 10" in picture.subtitle


def test_a_stream_shows_where_noise_decides_and_names_false_alarms():
    sparse = dp.Sparse(epsilon=1, threshold=1000, count=4)
    values = [1000 - 1e-3, 0.0, 5000.0] * 20
    picture = stream(sparse, values)
    low, high = ({*trace["y"]} for trace in picture.traces[:2])
    far = sparse.margin(queries=len(values))
    assert (low, high) == ({1000 - far}, {1000 + far})
    above = set(named(picture, "value + noise: “above”")["x"])
    false = {x for x in above if values[int(x) - 1] < 1000}
    drawn = [trace["x"] for trace in picture.traces if trace.get("name") == "a false alarm: its true value"]
    assert drawn == ([sorted(false)] if false else [])


def test_what_is_drawn_above_is_at_or_over_the_noisy_threshold_and_no_other():
    sparse = dp.Sparse(epsilon=1, threshold=100, count=10, split="optimal")
    picture = stream(sparse, [90.0, 110.0] * 50)
    threshold = named(picture, "threshold + noise")["y"]
    above, below = (named(picture, f"value + noise: “{word}”") for word in ("above", "below"))
    assert len(above["x"]) + len(below["x"]) == len(threshold)
    assert all(y >= threshold[int(x) - 1] for x, y in zip(above["x"], above["y"], strict=True))
    assert all(y < threshold[int(x) - 1] for x, y in zip(below["x"], below["y"], strict=True))
    assert any(y not in (90, 110) for y in below["y"])  # the noise is drawn, and the values are not
    assert not sparse.finished  # another stream was played: this one has told nothing


@pytest.mark.parametrize("split", ["textbook", "optimal"])
def test_the_stream_that_is_drawn_has_the_law_of_the_sparse_vector(split):
    """20,000 draws; each frequency is off by more than 6.2 standard deviations less than once in 1e9."""
    sparse = dp.Sparse(epsilon=4, threshold=1, count=2, step=1, split=split)
    values, n = [0, 1, 2, 0], 20_000
    law = sparse.law(values)
    seen = Counter(tuple(each.above for each in _play(sparse, values)) for _ in range(n))
    assert set(seen) <= set(law)
    for output, probability in law.items():
        chance = float(probability)
        assert abs(seen[output] - n * chance) <= 6.2 * math.sqrt(n * chance * (1 - chance)) + 1


def test_somebody_leaks_with_the_stated_probability():
    assert someone_leaks(1e-6, people=10**6) == pytest.approx(1 - math.exp(-1), rel=1e-6)
    dots = named(leaks(delta=1e-6, people=1000), "n = 1,000")
    assert dots["y"] == pytest.approx([someone_leaks(1e-6, people=1000), 1e-6])


def test_a_forecast_draws_what_the_plan_expects_before_anything_is_spent(tmp_path):
    from discreet.asking.planning import plan_asked

    policy = from_arguments(
        sources={"t": None},
        id="t",
        unit="person",
        budget={"epsilon": 1},
        bounds={"x": (0, 10)},
        population=100,
        limit=4,
    )
    (plan,) = plan_asked("SELECT COUNT(*) AS n, SUM(x) AS total FROM t", policy, epsilon=0.5)
    drawn = forecast(plan).to_json()["data"]
    assert {trace["name"]: trace["error_x"]["array"][0] for trace in drawn} == plan.errors
