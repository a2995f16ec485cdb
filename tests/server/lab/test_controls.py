from fractions import Fraction

import pytest

from discreet.apps.server.lab.exhibits import Choice, Slider, read_settings
from discreet.errors import InvalidParameter

EPSILON = Slider(name="epsilon", label="", symbol="ε", values=("0.1", "1", "5"), start="1")
PEOPLE = Slider(name="n", label="", symbol="n", values=("10", "1000"), start="10")
NOISE = Choice(name="noise", label="", values=("Laplace", "Gaussian"), start="Laplace")


def test_a_slider_reads_decimals_exactly_and_whole_numbers_as_such():
    assert EPSILON.read("0.3") == Fraction(3, 10)
    assert PEOPLE.read("20") == 20
    assert isinstance(PEOPLE.read("1e2"), int)


@pytest.mark.parametrize(
    "text",
    ["", "0", "5.1", "-1", "nan", "inf", "1/2", "0x1", " 1", "1e99", "1" * 40, "١", "0.1;", "1_0", "1e-400"],
)
def test_anything_else_is_refused(text):
    with pytest.raises(InvalidParameter):
        EPSILON.read(text)


def test_a_whole_number_must_be_whole():
    with pytest.raises(InvalidParameter, match="whole"):
        PEOPLE.read("10.5")


def test_settings_start_where_the_controls_do_and_know_no_other_name():
    assert read_settings((EPSILON, NOISE), {"epsilon": "5"}) == {"epsilon": 5, "noise": "Laplace"}
    for wrong in ({"seed": "1"}, {"noise": "none"}):
        with pytest.raises(InvalidParameter):
            read_settings((EPSILON, NOISE), wrong)
