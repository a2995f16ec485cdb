from fractions import Fraction

import pytest

from discreet.randomness.envelope import Envelope
from oracles import envelope as oracle

ENVELOPES = [
    Envelope("linear", Fraction(1, 3), 2, points=True),
    Envelope("linear", Fraction(1), 1, points=True),
    Envelope("linear", Fraction(7, 5), 2, points=True),
    Envelope("linear", Fraction(1, 2**40), 2, points=True),
    Envelope("linear", Fraction(1000, 32), 2, points=False),
    Envelope("linear", (10**6 + Fraction(1, 7)) / 2**15, 2, points=False),
    Envelope("linear", Fraction(16), 1, points=False),
    Envelope("quadratic", Fraction(1, 3), 2, points=True),
    Envelope("quadratic", Fraction(1, 2**40), 2, points=True),
    Envelope("quadratic", Fraction(7, 5), 2, points=True),
    Envelope("quadratic", Fraction(1000, 8), 2, points=False),
    Envelope("quadratic", (10**6 + Fraction(1, 7)) / 2**13, 2, points=False),
    Envelope("quadratic", Fraction(64), 2, points=False),
]
every_envelope = pytest.mark.parametrize(
    "envelope", ENVELOPES, ids=lambda e: f"{e.shape} {float(e.ratio):.3g} {e.sides}"
)


@every_envelope
@pytest.mark.parametrize("bits", [64, 128])
def test_thresholds_agree_with_a_second_certified_computation(envelope, bits):
    found = envelope.thresholds(bits)
    assert found == oracle.thresholds(envelope, bits, len(found))


@every_envelope
def test_nothing_lies_beyond_the_last_threshold(envelope):
    for bits in (64, 128):
        assert envelope.thresholds(bits)[-1] == 2**bits - 1


@every_envelope
def test_more_bits_refine_the_same_thresholds(envelope):
    coarse, fine = envelope.thresholds(64), envelope.thresholds(192)
    assert [threshold >> 128 for threshold in fine[: len(coarse)]] == coarse


def test_a_guard_that_is_too_short_is_noticed(monkeypatch):
    envelope = ENVELOPES[4]
    honest = envelope.thresholds(64)
    monkeypatch.setattr("discreet.randomness.envelope._GUARD_BITS", 50)
    assert envelope._try_thresholds(64, 64 + 50) is None
    assert envelope.thresholds(64) == honest


@every_envelope
def test_machine_words_give_what_whole_numbers_of_python_give(envelope, monkeypatch):
    fast = envelope.thresholds(64)
    monkeypatch.setattr("discreet.randomness.envelope._FEW", 10**9)
    assert envelope.thresholds(64) == fast


def test_outcomes_are_boxes_then_wedges_then_cells():
    envelope = ENVELOPES[-1]
    assert envelope.outcome(0) == ("box", 0)
    assert envelope.outcome(1) == ("box", ~0)
    assert envelope.outcome(envelope.boxes + 2) == ("wedge", 1)
    assert envelope.outcome(2 * envelope.boxes) == ("cell", envelope.cells)
