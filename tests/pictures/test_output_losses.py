import numpy as np
import pytest

import discreet as dp
from discreet.apps.pictures import privacy_loss


@pytest.mark.parametrize("epsilon", [0.5, 1, 2])
def test_the_curve_of_laplace_noise_is_flat_at_its_epsilon(epsilon):
    mechanism = dp.Laplace(epsilon=epsilon, sensitivity=1)
    losses = privacy_loss(mechanism).to_json()["data"][0]["y"]
    assert max(losses) == pytest.approx(mechanism.loss.epsilon(delta=0))
    assert min(losses) == pytest.approx(-mechanism.loss.epsilon(delta=0))


def test_too_little_noise_shows_as_a_curve_above_the_claim():
    careless = dp.Laplace(scale=1, sensitivity=3)  # a scale for sensitivity 1
    assert max(privacy_loss(careless).to_json()["data"][0]["y"]) == pytest.approx(3)


def test_the_curve_of_gaussian_noise_has_no_bound():
    curve = privacy_loss(dp.Gaussian(sigma=2, sensitivity=1, step=2**-8)).to_json()["data"][0]
    slopes = np.diff(curve["y"]) / np.diff(curve["x"])
    assert slopes == pytest.approx(1 / 4, rel=1e-3)  # Δ/σ²


def test_the_axis_shows_the_two_neighbours():
    picture = privacy_loss(dp.Laplace(epsilon=1, sensitivity=1), value=50)
    assert "51 on D and 50 on D′" in picture.subtitle
