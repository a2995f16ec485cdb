import numpy as np
from hypothesis import given, strategies as st

from discreet.kernel.randomness.noise import Table

FULL = 2**64 - 1
WORDS = st.integers(0, FULL)


@given(st.lists(WORDS, min_size=1, max_size=40), st.lists(WORDS, min_size=1, max_size=40))
def test_guide_search_and_single_look_up_agree(thresholds, draws):
    thresholds = sorted({*thresholds, FULL})
    draws = np.array([*draws, *thresholds], dtype=np.uint64)
    table = Table(thresholds, np.arange(len(thresholds), dtype=np.int16))
    expected = [next(i for i, t in enumerate(thresholds) if t >= draw) for draw in draws.tolist()]
    still_open = [i for i, draw in enumerate(draws.tolist()) if thresholds[expected[i]] == draw]
    found, rare = table.search(draws, beyond=len(thresholds))
    assert (found.tolist(), rare.tolist()) == (expected, still_open)
    for i, (draw, code) in enumerate(zip(draws.tolist(), table.guess(draws), strict=True)):
        assert code in {expected[i], Table.SLOW}
        assert code == Table.SLOW or i not in still_open
        assert table.search_one(draw) == (None if i in still_open else expected[i])


def test_outcomes_without_a_code_are_slow():
    table = Table([2**62, 2**63, FULL], np.array([7], dtype=np.int16))
    draws = np.array([5, 2**62 + 2**60, 2**63 + 2**60], dtype=np.uint64)
    assert table.guess(draws).tolist() == [7, Table.SLOW, Table.SLOW]
    assert table.search(draws, beyond=2)[1].tolist() == [2]
