"""Every picture is a small SVG in a notebook: well formed, without a script, its marks where they belong."""

import re
from xml.etree import ElementTree

import pytest

import discreet as dp
from discreet.apps.pictures.inline import HEIGHT, WIDTH, draw_inline

LAPLACE, GAUSSIAN = dp.Laplace(epsilon=1, sensitivity=1), dp.Gaussian(sigma=2, sensitivity=1)
PICTURES = {
    "density": lambda: dp.pictures.density(LAPLACE, GAUSSIAN),
    "answers": lambda: dp.pictures.density(dp.RandomizedResponse(epsilon=1, values=list("abc"))),
    "losses": lambda: dp.pictures.privacy_loss(LAPLACE, GAUSSIAN),
    "neighbours": lambda: dp.pictures.neighbours(GAUSSIAN),
    "variable": lambda: dp.pictures.loss_variable(LAPLACE),
    "tail": lambda: dp.pictures.tail(GAUSSIAN, epsilon=1),
    "composition": lambda: dp.pictures.composition([LAPLACE.loss] * 5),
    "audit": lambda: dp.pictures.trade_off(dp.audit(LAPLACE, samples=2000)),
    "map": lambda: dp.pictures.city_map({"a": (0, 1), "b": (2, 3)}, {"a": 0.25, "b": 0.75}),
}


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_a_small_drawing_without_a_script(name):
    shown = PICTURES[name]()._repr_html_()
    root = ElementTree.fromstring(shown)
    assert root.tag.endswith("svg")
    assert len(shown) < 40_000
    assert "<script" not in shown
    assert " style=" not in shown
    for element in root.iter():
        for place in ("x", "x1", "cx"):
            if place in element.attrib:
                assert -1 <= float(element.attrib[place]) <= WIDTH + 1


def test_marks_stand_where_their_values_are():
    trace = {"type": "scatter", "mode": "markers", "x": [0, 5, 10], "y": [0, 1, 2], "name": "a"}
    root = ElementTree.fromstring(draw_inline("title", "", [trace], {}))
    dots = [(float(e.attrib["cx"]), float(e.attrib["cy"])) for e in root.iter() if e.tag.endswith("circle")]
    assert dots[1][0] == pytest.approx((dots[0][0] + dots[2][0]) / 2, abs=0.02)
    assert dots[1][1] == pytest.approx((dots[0][1] + dots[2][1]) / 2, abs=0.02)
    assert dots[0][1] > dots[2][1]  # larger is higher


def test_a_logarithmic_axis_has_equal_steps_for_equal_ratios():
    trace = {"type": "scatter", "mode": "markers", "x": [1, 10, 100], "y": [1e-6, 1e-3, 1]}
    axes = {"xaxis": {"type": "log"}, "yaxis": {"type": "log"}}
    shown = draw_inline("title", "", [trace], axes)
    dots = [float(x) for x in re.findall(r'cx="([\d.]+)"', shown)]
    assert dots[1] - dots[0] == pytest.approx(dots[2] - dots[1], abs=0.02)
    assert "10⁻⁶" in shown


def test_what_cannot_be_drawn_is_a_gap_and_nothing_fails():
    trace = {"type": "scatter", "mode": "lines", "x": [0, 1, 2], "y": [1, float("inf"), None]}
    assert "<svg" in draw_inline("<b>", "&", [trace], {})
    assert "<svg" in draw_inline("none", "", [{"type": "scatter", "x": [], "y": []}], {})
    assert f'height="{HEIGHT:.0f}"' in draw_inline("none", "", [{"type": "bar", "x": ["a"], "y": [1]}], {})


def test_a_band_is_filled_between_its_two_curves_in_the_colour_that_its_legend_names():
    under = {"type": "scatter", "mode": "lines", "x": [0, 1], "y": [1, 1], "line": {"width": 0}}
    over = {**under, "y": [2, 2], "name": "band", "fill": "tonexty", "fillcolor": "@3/0.12"}
    curve = {
        "type": "scatter",
        "mode": "lines",
        "x": [0, 1],
        "y": [0, 3],
        "name": "curve",
        "line": {"color": "@1"},
    }
    svg = draw_inline("A band", "", [under, over, curve], {})
    (area,) = re.findall(r"<polygon[^>]*>", svg)
    assert 'class="f-3"' in area
    corners = [tuple(map(float, each.split(","))) for each in re.search(r'points="([^"]+)"', area)[1].split()]
    assert len(corners) == 4
    assert len({x for x, _ in corners}) == len({y for _, y in corners}) == 2
