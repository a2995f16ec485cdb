import math

import numpy as np
import pytest

import discreet as dp
from discreet.apps.pictures.loss_variables import loss_law, loss_tail

LOSSES = [
    dp.losses.laplace(scale=1, sensitivity=1),
    dp.Laplace(epsilon=1, sensitivity=1).loss,
    dp.Laplace(epsilon=1, sensitivity=4).loss,
    dp.Laplace(epsilon=1, sensitivity=100).loss,
    dp.Laplace(scale=1, sensitivity=0.5).loss,  # half a million losses: drawn as a density
    dp.Gaussian(sigma=1, sensitivity=1).loss,
    dp.DiscreteGaussian(sigma=2, sensitivity=1).loss,
    dp.ApproxDP(1, 0.1).loss,
    dp.RandomizedResponse(truth=0.75).loss,
]


def expectation(law, function):
    """E[function(L); L < ∞] of the drawn law, by the trapezium of its cells."""
    total = sum(mass * function(place) for place, mass in law.atoms)
    if law.grid:
        width = law.grid[1] - law.grid[0]
        total += sum(
            height * width * function(place) for place, height in zip(law.grid, law.density, strict=True)
        )
    return total


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_the_drawn_law_is_that_of_the_curve(loss):
    law = loss_law(loss)
    assert expectation(law, lambda _: 1.0) + law.infinite == pytest.approx(1, abs=2e-5)
    for epsilon in (0.0, 0.5):  # δ(ε) = E[(1 − e^(ε−L))₊], infinite losses in full
        drawn = expectation(law, lambda x, e=epsilon: max(0.0, 1 - math.exp(e - x))) + law.infinite
        assert drawn == pytest.approx(loss.delta(epsilon=epsilon), abs=1e-4)
    if math.isfinite(law.mean):
        assert expectation(law, lambda x: x) == pytest.approx(law.mean, abs=1e-3)


def test_the_continuous_laplace_law_has_the_atoms_of_the_textbook():
    law = loss_law(dp.losses.laplace(scale=1, sensitivity=1))
    assert dict(law.atoms) == pytest.approx({1.0: 1 / 2, -1.0: math.exp(-1) / 2})
    assert law.mean == pytest.approx(math.exp(-1))
    assert law.density == pytest.approx([math.exp((x - 1) / 2) / 4 for x in law.grid], rel=1e-4)


def test_whole_number_laplace_noise_has_two_atoms():
    law = loss_law(dp.Laplace(epsilon=1, sensitivity=1).loss)
    assert [(x, round(mass, 3)) for x, mass in law.atoms] == [(-1.0, 0.269), (1.0, 0.731)]
    assert law.grid == ()


def test_the_tail_is_never_below_delta_and_differs_from_it():
    loss = dp.Gaussian(sigma=2, sensitivity=1).loss
    places = np.linspace(0, 3, 13).tolist()
    for place, mass in zip(places, loss_tail(loss, places), strict=True):
        exact = 0.5 * math.erfc((2 * place - 1 / 4) / math.sqrt(2))  # L ~ N(μ²/2, μ²), μ = 1/2
        assert mass == pytest.approx(exact, rel=1e-9)
        assert mass > loss.delta(epsilon=place)


def test_several_releases_are_refused():
    for several in (2 * dp.Laplace(epsilon=1, sensitivity=1).loss, "Laplace"):
        with pytest.raises(dp.InvalidParameter, match="one release"):
            dp.pictures.loss_variable(several)
