from collections import Counter

import pytest
from hypothesis import given, strategies as st

from discreet.asking.planning import TallyArrays

ROWS = st.lists(st.tuples(st.integers(0, 4), st.integers(-(2**62), 2**62) | st.integers(-3, 3)), max_size=40)


@given(ROWS, st.randoms(use_true_random=False))
def test_columns_in_any_order_become_the_tallies_of_their_groups(rows, shuffler):
    counted = list(Counter(rows).items())
    shuffler.shuffle(counted)
    columns = [[group for (group, _), _ in counted], [number for (_, number), _ in counted]]
    found = TallyArrays.by_group(5, *columns, [times for _, times in counted])
    assert list(found) == [Counter(number for mine, number in rows if mine == group) for group in range(5)]
    assert all((each.numbers[1:] > each.numbers[:-1]).all() for each in found)


def test_no_group_has_no_tally_and_one_group_has_one():
    assert TallyArrays.by_group(0, [], [], []) == ()
    assert TallyArrays.by_group(1, [], [], []) == ({},)


def test_a_tally_reads_as_a_mapping_and_shows_nothing_of_itself():
    tally = TallyArrays.of({7: 2, -1: 3})
    assert (tally[7], tally.get(8, 0), 0 in tally, list(tally), len(tally)) == (2, 0, False, [-1, 7], 2)
    assert TallyArrays.of(tally) is tally
    assert repr(tally) == "TallyArrays(...)"
    with pytest.raises(KeyError):
        tally[6]
