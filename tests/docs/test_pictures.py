"""The committed pictures are those that scripts/make-pictures draws, and small."""

import re
import runpy
from pathlib import Path
from types import SimpleNamespace

import plotly.graph_objects as go
import pytest

ROOT = Path(__file__).parents[2]
DRAWN = SimpleNamespace(**runpy.run_path(str(ROOT / "scripts" / "make-pictures")))
COMMITTED = sorted((ROOT / "docs" / "pictures").glob("*.png"))


def test_every_example_and_gallery_picture_is_committed_and_no_other():
    expected = {*DRAWN.GALLERY, *(example.stem for example in DRAWN.EXAMPLES)}
    assert {path.stem for path in COMMITTED} == expected, "run scripts/make-pictures"


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.stem)
def test_a_committed_picture_is_small(path):
    assert path.stat().st_size < 150 * 1024


def test_the_gallerys_answer_is_named_and_drawn_with_its_labels():
    drawn = DRAWN.GALLERY["answer"]().draw()
    assert drawn.title == "accounts by kind"
    assert all(f">{kind}</text>" in drawn.markup() for kind in ("card", "loan", "car", "mortgage"))


@pytest.mark.parametrize("name", [name for name in DRAWN.GALLERY if name != "answer"])
def test_a_gallery_picture_has_a_title_and_labelled_axes(name):
    layout = go.Figure(DRAWN.GALLERY[name]().to_json()).layout
    assert layout.title.text
    assert layout.xaxis.title.text
    assert layout.yaxis.title.text


def test_every_picture_is_shown_on_a_page_and_every_picture_shown_exists():
    pages = [ROOT / "docs" / "pictures.md", ROOT / "examples" / "README.md"]
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    shown = set(re.findall(r"pictures/(\w+)\.png", text))
    assert shown == {path.stem for path in COMMITTED}
