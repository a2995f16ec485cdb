"""The least noise that keeps a target: enough under every notion, and hardly more."""

import random
from fractions import Fraction

import pytest

from discreet.errors import InvalidParameter
from discreet.kernel import losses
from discreet.kernel.accounting.calibrate import calibrate, keeps
from discreet.kernel.losses import GDP, ZCDP, ApproxDP, PureDP, RenyiDP


def laplace(scale):
    return 3 * losses.laplace(scale=scale)


def gaussian(sigma):
    return 3 * losses.gaussian(sigma=sigma)


# Plans of three releases, their targets, and the least noise by hand.
CASES = {
    "epsilon": (laplace, PureDP(Fraction(1, 2)), 6.0),
    "rho": (gaussian, ZCDP(Fraction(1, 8)), 12**0.5),
    "mu": (gaussian, GDP(Fraction(1, 2)), 12**0.5),
    "renyi": (gaussian, RenyiDP(4, Fraction(1, 2)), 12**0.5),
}


@pytest.mark.parametrize("name", CASES)
def test_the_least_noise_is_the_one_by_hand_and_keeps_the_target(name):
    plan, target, by_hand = CASES[name]
    found = calibrate(plan, target)
    assert keeps(plan(found), target)
    assert by_hand <= float(found) * (1 + 1e-15) <= by_hand * (1 + 2**-29)


def test_noise_for_an_epsilon_and_a_delta_keeps_both_and_less_does_not():
    target = ApproxDP(1, Fraction(1, 10**6))
    found = calibrate(gaussian, target)
    for noise, kept in ((found, True), (found * (1 - Fraction(1, 2**29)), False)):
        assert (gaussian(noise).delta(epsilon=1) <= target.delta) is kept
        assert keeps(gaussian(noise), target) is kept


def test_a_target_of_another_relation_or_with_a_failure_in_rho_is_refused():
    with pytest.raises(InvalidParameter, match="relation"):
        keeps(laplace(Fraction(1)), PureDP(1, relation="replace"))
    with pytest.raises(InvalidParameter, match="failure"):
        keeps(gaussian(Fraction(1)), ZCDP(1, Fraction(1, 10)))


LAWS = {
    "gaussian": lambda x: losses.gaussian(sigma=x),
    "laplace": lambda x: losses.laplace(scale=x),
    "discrete_laplace": lambda x: losses.discrete_laplace(scale=x, sensitivity=2),
    "sampled gaussian": lambda x: losses.gaussian(sigma=x).sampled(0.01),
    "rare gaussian": lambda x: losses.gaussian(sigma=x).sampled(0.0005),
    "sampled laplace": lambda x: losses.laplace(scale=x).sampled(0.1),
    "response": lambda x: losses.pure(epsilon=1 / max(x, Fraction(1, 9999))),
}


CHEAP = ("gaussian", "laplace", "discrete_laplace", "response")


def random_case(numbers, laws=tuple(LAWS)):
    """A plan of one or two laws, and a target that it can keep."""
    names = numbers.choices(laws, k=numbers.choice([1, 2]))
    chosen = [(LAWS[name], int(10 ** numbers.uniform(0, 3))) for name in names]
    epsilon, delta = round(10 ** numbers.uniform(-1, 1), 3), 10.0 ** -numbers.randint(4, 10)
    return lambda x: sum(count * law(x) for law, count in chosen), ApproxDP(epsilon, delta)


def is_proved(loss, target):
    """Whether one of the numbers that a loss states is within the target, in so many words."""
    ends = (loss.epsilon_interval(delta=target.delta, width=width).upper for width in (1e-3, 3e-5))
    return min(ends) <= target.epsilon or loss.delta(epsilon=target.epsilon) <= target.delta


def is_next_to_the_least(plan, noise, target):
    """Whether 10^-4 less noise is proved not to keep the target."""
    less = plan(noise * Fraction(9999, 10_000))
    if less.epsilon_interval(delta=target.delta, width=1e-5).lower > target.epsilon:
        return True
    return less.delta_interval(epsilon=target.epsilon).lower > target.delta


def check_cases(count, laws=tuple(LAWS)):
    """How many were within 10^-4 of the least noise; all keep their target."""
    numbers, near = random.Random(21), 0
    for _ in range(count):
        plan, target = random_case(numbers, laws)
        noise = calibrate(plan, target)
        assert keeps(plan(noise), target)
        assert is_proved(plan(noise), target)
        near += is_next_to_the_least(plan, noise, target)
    return near


@pytest.mark.slow
def test_noise_that_was_found_keeps_its_target_and_is_next_to_the_least():
    assert check_cases(12) == 12


def test_noise_that_is_a_little_too_much_is_seen():
    plan, target = random_case(random.Random(21))
    assert not is_next_to_the_least(plan, calibrate(plan, target) * Fraction(10_003, 10_000), target)


@pytest.mark.soak
@pytest.mark.parametrize(("count", "laws", "least"), [(10_000, CHEAP, 10_000), (200, tuple(LAWS), 180)])
def test_noise_that_was_found_keeps_its_target_in_many_cases(count, laws, least):
    near = check_cases(count, laws)
    print(f"{near} of {count} are proved to be within 10^-4 of the least noise")
    assert near >= least
