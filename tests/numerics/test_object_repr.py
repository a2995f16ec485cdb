"""Lines of objects are the calls that make them again; notebooks show facts, and every text is escaped."""

from fractions import Fraction

import pytest

import discreet as dp
from discreet.kernel.mechanisms import ALL
from discreet.kernel.numerics import facts_html, lines_html, plain_repr

NAMES = {name: getattr(dp, name) for name in dp.__all__} | {"Fraction": Fraction}
STREAMS = ("AboveThreshold", "Sparse", "NumericSparse")  # used once: their line is a description
MADE = [kind(**case.parameters) for kind in ALL if kind.__name__ not in STREAMS for case in kind.examples()]
NOTIONS = [
    dp.PureDP(Fraction(1, 3)),
    dp.ApproxDP(0.5, 1e-6, "replace"),
    dp.ZCDP(0.1),
    dp.GDP(2),
    dp.RenyiDP(2, 1),
]


@pytest.mark.parametrize("thing", [*MADE, *NOTIONS], ids=lambda each: type(each).__name__)
def test_a_line_reads_back_as_an_equal_object(thing):
    assert eval(repr(thing), dict(NAMES)) == thing


@pytest.mark.parametrize("number", [0.1, 1e-300, 2**-40, 5, -0.75, 1e22])
def test_a_number_is_written_as_the_decimal_that_stands_for_it(number):
    exactly = Fraction(repr(number))
    assert Fraction(plain_repr(exactly)) == exactly
    assert "Fraction" not in plain_repr(exactly)


def test_a_number_that_no_short_decimal_stands_for_is_a_fraction():
    for number in (Fraction(1, 3), Fraction(10**30 + 1, 10**31), Fraction(1, 10**400) + 1):
        assert eval(plain_repr(number), {"Fraction": Fraction}) == number


def test_the_lines_that_were_too_long_are_short():
    assert repr(dp.Laplace(epsilon=1, sensitivity=1)) == "Laplace(scale=1, sensitivity=1, step=1)"
    assert repr(dp.RandomizedResponse(truth=0.75)) == "RandomizedResponse(truth=0.75)"
    assert repr(dp.PureDP(1)) == "PureDP(epsilon=1)"


def test_what_a_notebook_shows_is_escaped():
    bad = "<script>alert(1)</script>"
    for shown in (facts_html(bad, {bad: bad}), lines_html(bad, [bad, f"{bad}: {bad}"])):
        assert "<script" not in shown
        assert "&lt;script" in shown


@pytest.mark.parametrize(
    "thing",
    [
        *MADE,
        *NOTIONS,
        dp.AboveThreshold(epsilon=1, threshold=3),
        dp.Laplace(scale=2, sensitivity=1).loss + dp.Gaussian(sigma=3, sensitivity=1).loss,
    ],
    ids=lambda each: type(each).__name__,
)
def test_mechanisms_notions_and_losses_show_themselves_in_a_few_lines(thing):
    shown = thing._repr_html_()
    assert "<table>" in shown
    assert len(shown) < 3000


def test_a_loss_shows_its_numbers_on_the_safe_side():
    shown = (100 * dp.Laplace(scale=100, sensitivity=1).loss)._repr_html_()
    loss = 100 * dp.Laplace(scale=100, sensitivity=1).loss
    found = float(shown.split("epsilon at delta 1e-6</th><td>")[1].split("<")[0])
    assert loss.epsilon(delta=1e-6) <= found <= 1.01 * loss.epsilon(delta=1e-6)
