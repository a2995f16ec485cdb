"""The work of a question is counted, and ends where its limit is."""

import pytest

from discreet.kernel.losses.work import TooMuch, limited, spend


def test_work_beyond_its_limit_is_stopped_and_what_just_fits_is_done():
    with limited(10):
        spend(4)
        spend(6)
        with pytest.raises(TooMuch):
            spend(1)
    spend(1)  # without a limit again


def test_an_inner_limit_is_never_wider_than_the_outer_one():
    with limited(5), limited(100), pytest.raises(TooMuch):
        spend(6)
