"""Training runs: the loss of what is run, the noise that keeps a price, and refusals."""

from fractions import Fraction

import pytest

import discreet as dp
from discreet.kernel.losses import gaussian

RUN = {"examples": 60_000, "batch": 256, "delta": 1e-5}


def test_a_run_is_its_steps_on_poisson_samples():
    run = dp.training(**RUN, epochs=60, sigma=1.1)
    assert run.loss == 14063 * gaussian(sigma=1.1).sampled(Fraction(256, 60_000))
    assert run.epsilon == run.loss.epsilon(delta=1e-5)
    assert run.relation == run.loss.relation == "add/remove"
    assert dp.training(**RUN, steps=14063, sigma=1.1) == run


def test_noise_that_was_found_keeps_the_price_and_a_little_less_does_not():
    run = dp.training(**RUN, epochs=5, epsilon=1)
    assert run.epsilon <= 1
    assert dp.training(**RUN, epochs=5, sigma=run.sigma * Fraction(9999, 10_000)).epsilon > 1


def test_a_shuffled_run_is_charged_without_sampling_under_replace():
    run = dp.training(**RUN, epochs=3, sigma=4, sampling="shuffled")
    assert run.loss == 3 * gaussian(sigma=4, sensitivity=2, relation="replace")
    part = dp.training(**RUN, steps=1, sigma=4, sampling="shuffled")
    assert part.loss == gaussian(sigma=4, sensitivity=2, relation="replace")  # an epoch begun is an epoch


def test_people_with_several_examples_cost_more():
    one, two = (dp.training(**RUN, epochs=1, sigma=2, per_person=people) for people in (1, 2))
    assert two.loss == one.loss.for_group(2)
    assert two.epsilon > 1.5 * one.epsilon


def test_what_is_said_names_the_sampling_and_the_price():
    words = dp.training(**RUN, epochs=1, sigma=2, sampling="shuffled").describe()
    assert "shuffled" in words
    assert "replace" in words


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"batch": 70_000, "epochs": 1, "sigma": 1}, "batch must be at most"),
        ({"epochs": 1}, "exactly one of sigma and epsilon"),
        ({"epochs": 1, "steps": 1, "sigma": 1}, "exactly one of epochs and steps"),
        ({"epochs": 1, "sigma": 1, "delta": 0}, "delta must be > 0"),
        ({"epochs": 1, "sigma": 1, "sampling": "balls"}, "sampling must be one of"),
        ({"epochs": 1, "sigma": 0}, "sigma"),
    ],
)
def test_what_is_no_run_is_refused(change, match):
    with pytest.raises(dp.InvalidParameter, match=match):
        dp.training(**{**RUN, **change})


def test_batches_of_one_size_are_charged_as_drawn_under_replace():
    run = dp.training(**RUN, steps=100, sigma=4, sampling="fixed")
    assert run.loss == 100 * gaussian(sigma=4, sensitivity=2, relation="replace").drawn(batch=256, of=60_000)
    assert run.epsilon > dp.training(**RUN, steps=100, sigma=4).epsilon


def test_shuffled_batches_count_every_epoch_that_a_loader_may_begin():
    """Of ten examples a loader that drops small batches has one batch of six an epoch."""
    run = dp.training(examples=10, batch=6, steps=5, sigma=2, delta=1e-5, sampling="shuffled")
    assert run.loss == 5 * gaussian(sigma=2, sensitivity=2, relation="replace")
