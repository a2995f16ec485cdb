"""Numbers of one question calibrated together: less noise, and never more loss than the price."""

import importlib
import math
from fractions import Fraction

import pytest

from discreet.asking.planning.planner import plan_asked
from discreet.asking.planning.stages import AddNoise
from discreet.asking.policy import from_toml
from discreet.kernel.accounting import covers
from discreet.kernel.mechanisms import Gaussian

calibrate = importlib.import_module("discreet.asking.planning.calibrate_together")
DELTA = Fraction(1, 10**6)
POLICY = """
[dataset]
id = "shop"
relation = "{relation}"
budget = {{ epsilon = 10, delta = 1e-3 }}
[tables.t]
unit = "person"
max_groups = 5
[tables.t.columns]
person = {{ type = "integer" }}
k = {{ type = "text"{keys} }}
""" + "".join(f'x{place} = {{{{ type = "number", bounds = [0, 1] }}}}\n' for place in range(10))
PUBLIC = ', keys = ["a", "b", "c", "d", "e", "f", "g", "h"]'
TEN = "SELECT k, " + ", ".join(f"SUM(x{place}) AS s{place}" for place in range(10)) + " FROM t GROUP BY k"
SETS = (
    "SELECT k, COUNT(*) AS n, SUM(x1) AS s, AVG(x2) AS m, STDDEV(x3) AS d FROM t "
    "GROUP BY GROUPING SETS ((k), ())"
)
CHOICES = "SELECT k, COUNT(*) AS n, SUM(x1) AS s, COUNT(x2) AS c, MEDIAN(x4) AS h FROM t GROUP BY k"


def planned(question, *, relation="add/remove", keys=PUBLIC, epsilon=1, **price):
    policy = from_toml(POLICY.format(relation=relation, keys=keys))
    (plan,) = plan_asked(question, policy, epsilon=epsilon, **price)
    return plan


def noises(plan):
    return [stage.mechanism for each in plan.sets for stage in each.draws if isinstance(stage, AddNoise)]


def test_ten_sums_of_several_groups_draw_less_than_half_the_noise():
    """The root of ten times the noise of one, not ten times."""
    together, alone = (planned(TEN, **price).errors["s0"] for price in ({"delta": DELTA}, {}))
    assert together < alone / 2
    one = Gaussian(epsilon=1, delta=DELTA, sensitivity=1, step=1).sigma
    for noise in noises(planned(TEN, delta=DELTA)):
        assert noise.sigma / noise.sensitivity == pytest.approx(float(one) * math.sqrt(10))


@pytest.mark.parametrize("relation", ["add/remove", "replace"])
@pytest.mark.parametrize("question", [TEN, SETS, CHOICES])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), 1, 8])
def test_the_price_covers_all_that_is_drawn(question, relation, epsilon):
    plan = planned(question, relation=relation, epsilon=epsilon, delta=DELTA)
    assert covers(plan.price, plan.loss)
    assert plan.loss.epsilon(delta=plan.price.delta if plan.needs_delta else 0) <= epsilon


def test_choices_keep_their_part_and_numbers_have_the_rest():
    plan = planned(CHOICES, delta=DELTA)
    (one,) = {noise.sigma / noise.sensitivity for noise in noises(plan)}
    rest = Gaussian(epsilon=Fraction(3, 4), delta=DELTA, sensitivity=1, step=1).sigma
    assert one == pytest.approx(float(rest) * math.sqrt(3))


def test_a_number_with_more_weight_has_less_noise():
    plan = planned(TEN, delta=DELTA, split={"s0": 4})
    first, *others = noises(plan)
    assert other_than(others) == pytest.approx(2 * float(first.sigma / first.sensitivity))
    assert covers(plan.price, plan.loss)


def other_than(noises):
    (ratio,) = {noise.sigma / noise.sensitivity for noise in noises}
    return float(ratio)


def test_without_a_delta_and_with_found_keys_nothing_changes():
    assert not any(isinstance(noise, Gaussian) for noise in noises(planned(TEN)))
    plan = planned(TEN, keys="", delta=DELTA)
    assert not any(isinstance(noise, Gaussian) for noise in noises(plan))


def test_one_number_is_left_as_it_was():
    question = "SELECT k, SUM(x1) AS s FROM t GROUP BY k"
    (noise,) = noises(planned(question, delta=DELTA))
    assert not isinstance(noise, Gaussian)  # five groups: too few for a Gaussian alone


def test_an_error_named_before_is_kept_at_a_lower_price():
    alone = planned(TEN, epsilon=None, within=100)
    together = planned(TEN, epsilon=None, within=100, delta=DELTA)
    assert together.errors["s0"] <= 100
    assert together.share.epsilon < alone.share.epsilon / 2


def test_noise_for_each_as_if_it_were_alone_is_not_covered(monkeypatch):
    """The fault: no number's noise grows with how many there are."""
    real = calibrate.Gaussian
    monkeypatch.setattr(
        calibrate,
        "Gaussian",
        lambda *, sigma=None, **more: real(**more) if sigma is None else real(sigma=sigma / 3, **more),
    )
    plan = planned(TEN, delta=DELTA)
    assert not covers(plan.price, plan.loss)
