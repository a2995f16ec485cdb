from fractions import Fraction

from hypothesis import given, strategies as st

from discreet.numerics import least_passing


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
