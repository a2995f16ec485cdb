"""Charts: the shape follows the answer, every interval is drawn, and labels are only ever text."""

import datetime
import math
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, strategies as st

from discreet.asking.answers import Drawable, draw_chart
from discreet.asking.answers.svg import elide, text_width, ticks
from discreet.errors import InvalidParameter
from discreet.kernel.numerics import Interval

SVG = "{http://www.w3.org/2000/svg}"


def table(keys, labels, measures=("n",), values=None, reach=5.0):
    rows, intervals = [], []
    for index, label in enumerate(labels):
        value = 100 + index if values is None else values[index]
        rows.append({**dict(zip(keys, label, strict=True)), **dict.fromkeys(measures, value)})
        ends = None if value is None else Interval(value - reach, value + reach)
        intervals.append({**dict.fromkeys(keys), **dict.fromkeys(measures, ends)})
    return Drawable(tuple(keys), measures, rows, intervals, 0.95)


def parts(drawn, name):
    return ET.fromstring(drawn.markup()).findall(f"{SVG}{name}")


def whiskers(drawn):
    return [each for each in parts(drawn, "polyline") if each.get("stroke-width") == "1.5"]


MONTHS = [(datetime.date(2024, month, 1),) for month in range(1, 13)]


@pytest.mark.parametrize(
    ("keys", "labels", "shape"),
    [
        ((), [()], "tiles"),
        (("kind",), [("card",), ("loan",)], "bars"),
        (("kind",), [("card",), (None,)], "bars"),
        (("kind",), [("card",), ("a label that is far too long for a bar",)], "dots"),
        (("ward",), [(f"w{index}",) for index in range(9)], "dots"),
        (("month",), MONTHS, "line"),
        (("month",), [*MONTHS, (None,)], "dots"),
        (("year",), [(2000 + index,) for index in range(20)], "line"),
        (("stars",), [(index,) for index in range(1, 6)], "bars"),
        (("city", "kind"), [(city, kind) for city in "abc" for kind in "xy"], "grouped"),
        (("city", "kind"), [(city, kind) for city in "abcdefgh" for kind in "uvwxyz"], "heat"),
        (("a", "b", "c"), [("x", "y", "z"), ("x", "y", "u")], "bars"),
        (("kind",), [], "bars"),
    ],
)
def test_the_shape_follows_the_answer_and_each_is_drawn(keys, labels, shape):
    found = table(keys, labels)
    assert found.shape() == shape
    ET.fromstring(draw_chart(found).markup())


@pytest.mark.parametrize("labels", [[("card",), ("loan",)], [(f"w{index}",) for index in range(30)]])
def test_every_interval_is_drawn_at_its_ends(labels):
    drawn = draw_chart(table(("kind",), labels))
    assert len(whiskers(drawn)) == 3 * len(labels)  # a line and two caps


def test_a_bar_and_its_whisker_are_where_the_axis_says():
    drawn = draw_chart(table(("kind",), [("a",), ("b",)], values=[100, 50], reach=10.0))
    zero, fifty = (
        float(each.get("points").split(",")[1].split()[0]) for each in parts(drawn, "polyline")[:2]
    )
    marked = [each.text for each in parts(drawn, "text")]
    step = float(marked[3]) - float(marked[2])  # the first two ticks of the axis
    pixels = (zero - fifty) / step
    first, second = (each for each in parts(drawn, "rect") if each.get("class") == "f-0")
    assert float(first.get("height")) == pytest.approx(100 * pixels, abs=0.1)
    assert float(second.get("height")) == pytest.approx(50 * pixels, abs=0.1)
    (top, bottom) = (float(each.split(",")[1]) for each in whiskers(drawn)[0].get("points").split())
    assert abs(top - bottom) == pytest.approx(20 * pixels, abs=0.1)


def test_what_cannot_be_told_from_zero_is_faded():
    drawn = draw_chart(table(("kind",), [("a",), ("b",)], values=[100, 3]))
    sure, unsure = (
        float(each.get("fill-opacity")) for each in parts(drawn, "rect") if each.get("class") == "f-0"
    )
    assert unsure < sure
    assert "cannot be told from zero" in drawn.markup()


def test_a_value_that_is_missing_is_left_out_and_the_others_keep_their_labels():
    found = table(("city", "kind"), [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")], values=[None, 7, 8, 9])
    tips = [each.text for each in ET.fromstring(draw_chart(found).markup()).iter(f"{SVG}title")]
    assert [tip for tip in tips if ":" in tip] == ["a, y: 7 ± 5", "b, x: 8 ± 5", "b, y: 9 ± 5"]


def test_an_empty_answer_says_what_that_means():
    assert "does not mean that there are none" in draw_chart(table(("ward",), [])).markup()


def test_many_groups_are_cut_and_it_says_so():
    drawn = draw_chart(table(("ward",), [(f"w{index}",) for index in range(200)]))
    assert "the 60 largest of 200" in drawn.markup()
    assert len(parts(drawn, "circle")) == 60


def test_a_measure_can_be_chosen_and_an_unknown_one_is_refused():
    found = table(("kind",), [("a",)], measures=("n", "total"))
    assert draw_chart(found, measure="total").title == "total by kind"
    with pytest.raises(
        InvalidParameter, match=r"measure must be a column of numbers \(n, total\), got 'kind'"
    ):
        draw_chart(found, measure="kind")


@given(st.lists(st.text(max_size=90), min_size=1, max_size=12, unique=True))
def test_a_label_is_text_whatever_it_holds(labels):
    drawn = draw_chart(table(("label",), [(label,) for label in labels]))
    root = ET.fromstring(drawn.markup())
    assert {each.tag.removeprefix(SVG) for each in root.iter()} <= {
        "svg", "title", "text", "rect", "circle", "polyline", "polygon",
    }  # fmt: skip


@given(st.floats(-1e200, 1e200), st.floats(-1e200, 1e200))
def test_ticks_are_few_and_inside(low, high):
    low, high = sorted((low, high))
    found = ticks(low, high)
    assert len(found) <= 6
    slack = 1e-9 * max(abs(low), abs(high))
    assert all(low - slack <= each <= high + slack for each in found)


@given(st.text(max_size=60), st.floats(20, 300))
def test_an_elided_label_fits(text, width):
    assert text_width(elide(text, width)) <= width


@pytest.mark.parametrize("letter", "mwMW@%漢")
def test_wide_letters_have_room_for_themselves(letter):
    """They are up to one em wide: an axis of short labels cut them."""
    assert text_width(letter * 3, 10) >= 30


def test_an_interval_without_an_end_runs_to_the_edge_and_says_so():
    """The fault: no whisker, as if the value had no error, or `inf` in words."""
    rows, ends = [{"n": 100.0}], [{"n": Interval(90.0, math.inf)}]
    tile = draw_chart(Drawable((), ("n",), rows, ends, 0.95)).markup()
    assert "90 or more (95%)" in tile
    assert "inf" not in tile.replace("info", "")
    labels = [(kind,) for kind in "ab"]
    found = table(("kind",), labels, values=[100, 50], reach=10.0)
    found.intervals[1]["n"] = Interval(40.0, math.inf)
    first, _, _, second, *_ = whiskers(draw_chart(found))
    tops = [min(float(each.split(",")[1]) for each in line.get("points").split()) for line in (first, second)]
    assert tops[1] < tops[0]  # of 50 or more, beyond 100 ± 10
    for shape in (MONTHS, [(f"w{index}",) for index in range(9)]):
        many = table(("kind",), shape)
        many.intervals[0]["n"] = Interval(-math.inf, math.inf)
        assert "inf" not in draw_chart(many).markup().replace("info", "")
