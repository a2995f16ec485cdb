"""How far a reader travels for a release and for a loss: no farther than the benchmark's limits."""

from pathlib import Path

import pytest
from bench.journey import EPSILON_FILES, RELEASE_FILES, Journey, trace

import discreet as dp


@pytest.mark.slow
def test_a_release_crosses_few_files():
    assert 3 <= trace(lambda: dp.Laplace(epsilon=1, sensitivity=1).release(5)).files <= RELEASE_FILES


@pytest.mark.slow
def test_an_epsilon_of_many_uses_crosses_few_files():
    scales = iter((9, 10))  # another each time: answers are remembered
    crossed = trace(lambda: (100 * dp.losses.laplace(scale=next(scales))).epsilon(delta=1e-6))
    assert 3 <= crossed.files <= EPSILON_FILES


def test_a_journey_counts_files_once_and_every_change_of_folder():
    calls = tuple(map(Path, ("a/x.py", "a/y.py", "b/z.py", "a/x.py")))
    assert (Journey(calls).files, Journey(calls).folders) == (3, 2)
