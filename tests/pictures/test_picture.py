import json

import plotly.graph_objects as go
import pytest

import discreet as dp
from discreet.apps.pictures import Picture

PICTURE = Picture(
    title="δ ≤ e⁻ε </script>",
    subtitle="of a line",
    traces=[{"type": "scatter", "x": [0, 1, 2], "y": [1.0, float("nan"), 3.0], "line": {"color": "@0"}}],
    axes={"xaxis": {"title": {"text": "ε"}}},
)


def test_the_figure_is_valid_plotly_without_tokens_or_infinities():
    figure = PICTURE.to_json()
    assert go.Figure(figure).layout.xaxis.title.text == "ε"
    assert figure["data"][0]["y"] == [1.0, None, 3.0]
    assert '"@' not in json.dumps(figure, allow_nan=False)


def test_a_page_holds_its_script_and_no_address_to_load_it_from(tmp_path):
    page = PICTURE.save(tmp_path / "x.html").read_text(encoding="utf-8")
    assert "Plotly.react(" in page
    assert len(page) > 3_000_000  # Plotly's own script is inside
    assert 'src="http' not in page
    assert "<link" not in page.split("<script>")[0]


def test_a_title_cannot_close_the_script_that_draws_it(tmp_path):
    page = PICTURE.save(tmp_path / "x.html").read_text(encoding="utf-8")
    assert "&lt;/script&gt;</title>" in page
    drawing = page[page.index("const figures") :]
    assert drawing.count("</script>") == 1


def test_a_page_draws_in_the_readers_choice_of_light_or_dark(tmp_path):
    page = PICTURE.save(tmp_path / "x.html").read_text(encoding="utf-8")
    start = page.index("const figures = ") + len("const figures = ")
    figures = json.loads(page[start : page.index(";\nconst dark")])
    assert figures["light"] == PICTURE.to_json()
    assert figures["dark"] == PICTURE.to_json(theme="dark")


def test_a_notebook_shows_a_small_drawing():
    shown = PICTURE._repr_html_()
    assert shown.startswith("<svg ")
    assert len(shown) < 40_000
    assert repr(PICTURE) == f"Picture({PICTURE.title!r})"


def test_the_figure_is_saved_as_json_too(tmp_path):
    path = PICTURE.save(tmp_path / "x.json", theme="dark")
    assert json.loads(path.read_text(encoding="utf-8")) == PICTURE.to_json(theme="dark")


def test_a_file_of_another_kind_is_refused(tmp_path):
    with pytest.raises(dp.InvalidParameter, match=r"must end in .html, .png, .svg or .json, got 'x.gif'"):
        PICTURE.save(tmp_path / "x.gif")
