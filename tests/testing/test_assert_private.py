import numpy as np
import pytest

import discreet as dp
from discreet.testing import assert_private

rng = np.random.default_rng()


def test_a_mechanism_of_discreet_passes():
    mechanism = dp.Laplace(epsilon=1, sensitivity=1)
    assert assert_private(mechanism, claim=1, samples=1000).verdict == "not refuted"


def test_a_leak_fails_with_the_witness_in_the_message():
    with pytest.raises(AssertionError, match="witness"):
        assert_private(lambda x, n: x + rng.normal(size=n), claim=1, neighbours=(0, 1))
