import random

import pytest
from bench.scale_model import Measure, fitted

SIZES = [(rows, cores) for rows in (10**6, 10**7, 10**8) for cores in (1, 2)]


@pytest.mark.parametrize(("start", "work", "serial"), [(2, 3e-6, 0), (1.5, 2e-6, 1e-7), (0, 1e-6, 0)])
def test_exact_measures_give_their_model_back(start, work, serial):
    model = fitted([Measure(rows, cores, start + rows * (work / cores + serial)) for rows, cores in SIZES])
    assert (model.start, model.work, model.serial) == pytest.approx(
        (start, work, serial), abs=1e-12, rel=1e-6
    )
    assert model.error < 1e-6
    assert model.seconds(10**9, 16) == pytest.approx(start + 10**9 * (work / 16 + serial))


def test_no_cost_is_negative_whatever_was_measured():
    draw = random.Random(3)
    for _ in range(50):
        model = fitted([Measure(rows, cores, draw.uniform(1, 9)) for rows, cores in SIZES])
        assert min(model.start, model.work, model.serial) >= 0


def test_the_error_is_the_largest_relative_one():
    measures = [
        Measure(10**6, 1, 1.0),
        Measure(10**7, 1, 30.0),
        Measure(10**6, 2, 1.0),
        Measure(10**7, 2, 10.0),
    ]
    model = fitted(measures)
    errors = [abs(model.seconds(each.rows, each.cores) / each.seconds - 1) for each in measures]
    assert model.error == pytest.approx(max(errors))
