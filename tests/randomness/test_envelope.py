from fractions import Fraction

import pytest

from discreet.kernel.randomness.noise import cells
from oracles import envelope as oracle
from oracles.stated import LAPLACE, LAWS, NAMES, SCALES

every_scale = pytest.mark.parametrize("scale", SCALES, ids=lambda scale: f"{float(scale):.3g}")
every_law = pytest.mark.parametrize("law", LAWS, ids=NAMES)


def envelope_of(law, scale):
    shape, sides, places = law
    return cells(shape, scale, sides, places)._envelope


LARGE = envelope_of(LAPLACE, Fraction(1000))


@pytest.mark.slow
@every_law
@every_scale
@pytest.mark.parametrize("bits", [64, 128])
def test_thresholds_agree_with_a_second_certified_computation(law, scale, bits):
    envelope = envelope_of(law, scale)
    found = envelope.thresholds(bits)
    assert found == oracle.thresholds(envelope, bits, len(found))
    assert found[-1] == 2**bits - 1


@every_law
@every_scale
def test_more_bits_refine_the_same_thresholds(law, scale):
    envelope = envelope_of(law, scale)
    coarse, fine = envelope.thresholds(64), envelope.thresholds(192)
    assert [threshold >> 128 for threshold in fine[: len(coarse)]] == coarse


def test_a_guard_that_is_too_short_is_noticed(monkeypatch):
    honest = LARGE.thresholds(64)
    monkeypatch.setattr("discreet.kernel.randomness.envelope._GUARD_BITS", 50)
    assert LARGE._try_thresholds(64, 64 + 50) is None
    assert LARGE.thresholds(64) == honest


@every_law
@every_scale
def test_machine_words_give_what_whole_numbers_of_python_give(law, scale, monkeypatch):
    envelope = envelope_of(law, scale)
    fast = envelope.thresholds(64)
    monkeypatch.setattr("discreet.kernel.randomness.envelope._FEW", 10**9)
    assert envelope.thresholds(64) == fast


def test_outcomes_are_boxes_then_wedges_then_cells():
    assert LARGE.outcome(0) == ("box", 0)
    assert LARGE.outcome(1) == ("box", ~0)
    assert LARGE.outcome(LARGE.boxes + 2) == ("wedge", 1)
    assert LARGE.outcome(2 * LARGE.boxes) == ("cell", LARGE.cells)
    assert LARGE.all_cells(9000).tolist() == [LARGE.outcome(index)[1] for index in range(9000)]
