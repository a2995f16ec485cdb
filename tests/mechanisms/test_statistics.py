import math
import warnings

import numpy as np
import pytest

import discreet as dp
from discreet.kernel.mechanisms.statistics import Price, _Rows

DATA = np.random.default_rng(1).uniform(10, 30, 4000)
RELATIONS = ["add/remove", "replace"]
DELTAS = [0, 1e-9]


class Spy:
    """Records what is released with which sensitivity, and adds no noise."""

    def __init__(self, monkeypatch):
        self.calls = []
        real = Price.release

        def release(price, total, *, sensitivity, step=1, confidence):
            self.calls.append((int(total), sensitivity, price.epsilon))
            return real(price, total, sensitivity=sensitivity, step=step, confidence=confidence)

        monkeypatch.setattr(Price, "release", release)

    def run(self, function, values, **given):
        self.calls.clear()
        function(values, **given)
        return list(self.calls)


FUNCTIONS = {
    "count": (dp.count, {}, [0.0, 1.0]),
    "proportion": (dp.proportion, {}, [0.0, 1.0]),
    "bounded_sum": (dp.bounded_sum, {"bounds": (-3, 10)}, [-1e9, -3.0, 0.1, 7.5, 10.0, 1e9]),
    "mean": (dp.mean, {"bounds": (-3, 10)}, [-1e9, -3.0, 0.1, 7.5, 10.0, 1e9]),
    "variance": (dp.variance, {"bounds": (-3, 10)}, [-1e9, -3.0, 0.1, 7.5, 10.0, 1e9]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("relation", RELATIONS)
def test_no_pair_of_neighbours_moves_a_total_beyond_its_sensitivity_and_some_pair_reaches_it(
    name, relation, monkeypatch
):
    function, given, domain = FUNCTIONS[name]
    spy, base = Spy(monkeypatch), [1.0, 0.0]
    reached = None
    for x in domain:
        for y in domain:
            second = [*base, y] if relation == "replace" else base
            pair = [
                spy.run(function, values, epsilon=1, relation=relation, **given)
                for values in ([*base, x], second)
            ]
            moved = [abs(a[0] - b[0]) / a[1] for a, b in zip(*pair, strict=True)]
            assert max(moved) <= 1
            assert [a[1:] for a in pair[0]] == [b[1:] for b in pair[1]]  # the noise is the same for both
            reached = max(moved) if reached is None else max(reached, *moved)
            assert sum(price for _, _, price in pair[0]) == 1
    assert reached > 0.999


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("delta", DELTAS)
def test_answers_lie_in_their_intervals(relation, delta):
    """At confidence 1 - 1e-10 for each, by the exact law of the noise."""
    price = {"epsilon": 1, "delta": delta, "relation": relation, "confidence": 1 - 1e-10}
    flags = DATA > 20
    assert flags.sum() in dp.count(flags, **price).interval
    assert flags.mean() in dp.proportion(flags, **price).interval
    assert DATA.sum() in dp.bounded_sum(DATA, bounds=(0, 40), **price).interval
    assert DATA.mean() in dp.mean(DATA, bounds=(0, 40), **price).interval
    assert DATA.var() in dp.variance(DATA, bounds=(0, 40), **price).interval
    cells = dp.histogram(DATA, edges=[10, 15, 20, 30], **price)
    for (low, high), cell in cells.items():
        assert ((low <= DATA) & (high > DATA)).sum() in cell.interval


@pytest.mark.slow
def test_standard_errors_are_those_of_repeated_answers():
    for function in (dp.mean, dp.variance):
        answers = [function(DATA, bounds=(0, 40), epsilon=1) for _ in range(300)]
        spread = np.std([answer.value for answer in answers])
        assert spread == pytest.approx(answers[0].standard_error, rel=0.4)


@pytest.mark.parametrize("function", [dp.mean, dp.variance])
def test_the_noise_does_not_depend_on_the_true_size(function, monkeypatch):
    spy = Spy(monkeypatch)
    sizes = [spy.run(function, [1.0] * n, bounds=(0, 2), epsilon=1) for n in (0, 1, 1000)]
    assert len({tuple(call[1:] for call in calls) for calls in map(tuple, sizes)}) == 1


def test_no_data_has_answers_under_add_remove_and_an_error_where_the_size_is_public():
    assert dp.count([], epsilon=1).value == pytest.approx(0, abs=60)
    assert 0 <= dp.mean([], bounds=(0, 1), epsilon=1).value <= 1
    assert 0 <= dp.variance([], bounds=(0, 1), epsilon=1).value <= 0.25
    assert set(dp.histogram([], keys=["a", "b"], epsilon=1)) == {"a", "b"}
    assert 0 <= dp.quantile([], bounds=(0, 1), epsilon=1) <= 1
    with pytest.raises(dp.InvalidParameter):
        dp.mean([], bounds=(0, 1), epsilon=1, relation="replace")


@pytest.mark.parametrize(("relation", "scale"), [("add/remove", 1), ("replace", 2)])
def test_a_histogram_costs_one_cell_or_two(relation, scale):
    cell = dp.histogram(["a"], keys=["a", "b"], epsilon=1, relation=relation)["a"]
    assert cell.standard_error == dp.Laplace(scale=scale, sensitivity=scale).variance ** 0.5


def test_histogram_cells_get_noise_of_their_own():
    cells = dp.histogram([], keys=range(1000), epsilon=0.01)
    assert len({cell.value for cell in cells.values()}) > 200


def test_sums_are_exact_whole_numbers_whatever_the_order():
    low, high = 2**52, 2**52 + 1
    rows = [_Rows(values, (low, high)) for values in ([high] * 1024, [high] * 1023 + [low])]
    totals = [r.total(r.steps) for r in rows]
    assert (totals[0] - totals[1]) * rows[0].step == 1


def test_a_delta_not_far_below_one_over_the_population_is_warned_about():
    with pytest.warns(dp.DeltaWarning, match="1/1000000"):
        dp.count([1], epsilon=1, delta=1e-6, population=10**6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dp.count([1], epsilon=1, delta=1e-6, population=1000)
        dp.count([1], epsilon=1, delta=1e-6)


@pytest.mark.parametrize("values", [[math.nan], [math.inf], ["1"], [None], [[1, 2]]])
def test_garbage_in_the_data_is_refused(values):
    for call in (
        lambda: dp.count(values, epsilon=1),
        lambda: dp.mean(values, bounds=(0, 1), epsilon=1),
        lambda: dp.bounded_sum(values, bounds=(0, 1), epsilon=1),
    ):
        with pytest.raises(dp.InvalidParameter):
            call()


def test_a_histogram_needs_public_cells():
    for given in ({}, {"keys": ["a", "b"], "edges": [0, 1]}, {"edges": [1, 1]}, {"keys": ["a", "a"]}):
        with pytest.raises(dp.InvalidParameter):
            dp.histogram(["a"], epsilon=1, **given)


def test_a_quantile_is_near_on_few_points_and_on_many():
    for step in (1, None):
        assert dp.quantile(DATA, bounds=(0, 40), step=step, epsilon=1) == pytest.approx(
            np.median(DATA), abs=2
        )
