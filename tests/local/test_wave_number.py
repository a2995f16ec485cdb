"""The distribution of a number: its bounds hold, its quantiles lie within them, its law is the stated one."""

import json

import numpy as np
import pytest

import discreet as dp
from discreet.asking.local.wave_number import WaveNumber


@pytest.mark.parametrize("epsilon", [0.3, 1, 3])
@pytest.mark.parametrize("bins", [2, 5, 16, 33])
def test_what_a_residue_class_counts_is_the_distribution_function_exactly(epsilon, bins):
    """With counts in proportion to the exact law of one bin, the estimate is the step at that bin."""
    protocol = WaveNumber(bounds=(0, 1), epsilon=epsilon, bins=bins)
    inside, outside = (
        protocol.threshold / 2**64 / protocol.window,
        (1 - protocol.threshold / 2**64) / (bins - 1),
    )
    for x in range(bins):
        law = np.full(protocol.places, outside)
        law[x : x + protocol.window] = inside
        assert law.sum() == pytest.approx(1)
        found = dp.local.Distribution(protocol, (law * 1e12).astype(np.int64))
        below, above, sizes = found._class_counts()
        gain, n = float(found._gain), found.reports
        step = (np.arange(bins) >= x).astype(float)
        assert (below / n - float(found._outside) * sizes[0]) / gain == pytest.approx(step, abs=1e-6)
        assert (above / n - float(found._outside) * sizes[1]) / gain == pytest.approx(1 - step, abs=1e-6)
        lower, upper = found.bounds(confidence=0.9)
        assert (lower <= step).all()
        assert (step <= upper).all()
        assert (upper - lower).max() < 1e-3  # 10^12 reports leave little doubt


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 2])
def test_bounds_cover_the_whole_function_and_quantiles_their_numbers(epsilon):
    """All bins together at 90 %: fewer than 148 of 200 have probability below 1e-10. A fifth of it fails."""
    protocol = WaveNumber(bounds=(0, 15), epsilon=epsilon, bins=16)
    people = np.repeat(np.arange(16), [30, 5, 80, 1, 0, 40, 3, 7, 9, 20, 60, 2, 2, 2, 10, 29])
    truth = np.cumsum(np.bincount(people)) / people.size
    covered, medians, narrow = 0, 0, 0
    for _ in range(200):
        found = protocol.collect(protocol.randomize(people.tolist()))
        lower, upper = found.bounds(confidence=0.9)
        covered += bool(((lower <= truth) & (truth <= upper)).all())
        middle = (lower + upper) / 2
        narrow += bool((np.abs(truth - middle) <= (upper - lower) / 10).all())
        value, interval = found.quantile(0.5, confidence=0.9)
        bin_of_median = int(np.searchsorted(truth, 0.5))
        medians += (
            interval.lower <= found.edges[bin_of_median] <= found.edges[bin_of_median + 1] <= interval.upper
        )
        assert value in interval
    assert covered >= 148
    assert medians >= 148
    assert narrow < 148


def test_the_maximum_of_the_likelihood_comes_near_the_truth():
    """With 20,000 reports at ε = 4 the largest gap of two distribution functions is below 0.1 by far."""
    protocol = WaveNumber(bounds=(0, 1), epsilon=4, bins=16)
    people = np.random.default_rng().beta(2, 5, 20_000)
    found = protocol.collect(protocol.randomize(people.tolist()))
    truth = np.histogram(people, bins=found.edges)[0] / people.size
    assert found.shares.sum() == pytest.approx(1)
    assert found.shares.min() >= 0
    assert np.abs(np.cumsum(found.shares) - np.cumsum(truth)).max() < 0.1
    assert np.abs(np.cumsum(np.full(16, 1 / 16)) - np.cumsum(truth)).max() > 0.2


def test_a_wave_is_read_back_and_its_reports_are_checked(tmp_path):
    protocol = dp.local.distribution(bounds=(0, 15), epsilon=1, bins=16)
    assert dp.local.from_json(json.dumps(protocol.to_json())) == protocol
    reports = protocol.randomize([0, 3, 15, 99])
    path = tmp_path / "reports.jsonl"
    path.write_text("\n".join(json.dumps({"report": each}) for each in reports))
    assert protocol.collect(path).counts.tolist() == protocol.estimate(reports).counts.tolist()
    assert protocol._levels([0, 0.9, 1, 14, 15, 99, -3], None).tolist() == [0, 0, 1, 14, 15, 15, 0]
    for wrong in ([99], [True], ["1"], []):
        with pytest.raises(dp.InvalidParameter):
            protocol.collect(wrong)
    for bins in (1, 5000, 2.5):
        with pytest.raises(dp.InvalidParameter):
            dp.local.distribution(bounds=(0, 1), epsilon=1, bins=bins)
    assert "Distribution(bins=16" in repr(protocol.collect(reports))


def test_liars_move_no_bound_further_than_stated():
    """1 % send the lowest place: the bounds without liars are broken, those with them hold."""
    protocol = WaveNumber(bounds=(0, 1), epsilon=4, bins=16)
    people = np.full(200_000, 0.99)
    reports = protocol.randomize_many(people)
    reports[:2000] = 0
    found = protocol.collect(reports)
    truth = np.concatenate([np.zeros(15), [1.0]])
    lower, _ = found.bounds(confidence=1 - 1e-9)
    assert (lower > truth).any()
    lower, upper = found.bounds(confidence=1 - 1e-9, liars=0.01)
    assert ((lower <= truth) & (truth <= upper)).all()
    assert 0.99 in found.quantile(0.001, confidence=1 - 1e-9, liars=0.01)[1]
    both = found + found
    assert both.reports == 400_000
    with pytest.raises(dp.InvalidParameter):
        found + WaveNumber(bounds=(0, 1), epsilon=4, bins=8).collect([0])
