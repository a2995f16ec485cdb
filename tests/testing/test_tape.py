import pytest

from discreet.testing import Tape


def test_a_tape_plays_its_words_once_and_in_order():
    tape = Tape([5, 6, 7])
    assert (tape.word(), tape.words(2).tolist(), tape.left) == (5, [6, 7], 0)


def test_a_tape_that_ends_raises():
    with pytest.raises(EOFError):
        Tape([1]).words(2)
