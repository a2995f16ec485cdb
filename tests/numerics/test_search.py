from fractions import Fraction

from hypothesis import given, strategies as st

from discreet.kernel.numerics import least_passing, least_whole


@given(st.fractions(min_value=Fraction(1, 10**12), max_value=10**12))
def test_the_search_returns_the_safe_end(target):
    found = least_passing(lambda x: x >= target)
    assert target <= found <= target * (1 + Fraction(1, 2**39))


def test_every_answer_was_itself_tested():
    tried = set()

    def passes(x):
        tried.add(x)
        return x * x >= 3

    assert least_passing(passes) in tried


@given(st.integers(-(2**70), 2**70), st.integers(0, 2**70), st.integers(1, 2**70))
def test_the_least_whole_number_that_passes_is_found(least, below, above):
    found = least_whole(lambda n: n >= least, failing=least - 1 - below, passing=least - 1 + above)
    assert found == least
