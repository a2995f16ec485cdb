"""Images need a Chromium. Where tests must be complete (CI), its absence is a failure, not a skip."""

import os
import re
import shutil
import subprocess
import sys

import pytest

import discreet as dp
from discreet.apps.pictures import budget_over_time
from discreet.apps.pictures.picture import SCRIPT, script_file

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
needs_chromium = pytest.mark.skipif(
    not os.environ.get("CI") and not any(map(shutil.which, NAMES)), reason="no Chromium: run `make system`"
)
PICTURE = budget_over_time([(1, 0.25), (2, 0.5)], limit=1)


@needs_chromium
def test_a_page_draws_itself_in_a_browser_without_a_network(tmp_path):
    page = PICTURE.save(tmp_path / "x.html")
    browser = next(filter(None, map(shutil.which, NAMES)))
    offline = ["--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=5000"]
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", *offline, "--dump-dom", page.as_uri()]
    drawn = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    assert 'class="main-svg"' in drawn
    assert drawn.count("total spent (ε)") >= 1  # the axis, drawn as text of the svg


@needs_chromium
def test_a_png_and_an_svg_are_drawn(tmp_path):
    image = PICTURE.save(tmp_path / "x.png").read_bytes()
    assert image.startswith(b"\x89PNG\r\n")
    assert int.from_bytes(image[16:20]) == 1350  # 900 units wide at 1.5 pixels
    drawn = PICTURE.save(tmp_path / "x.svg").read_text(encoding="utf-8")
    assert drawn.startswith("<svg")
    assert "total spent (ε)" in drawn


def test_without_a_chromium_the_error_says_what_to_do(tmp_path, monkeypatch):
    from kaleido.errors import ChromeNotFoundError

    def no_chromium(*_arguments, **_options):
        raise ChromeNotFoundError

    monkeypatch.setattr("kaleido.calc_fig_sync", no_chromium)
    with pytest.raises(dp.InvalidParameter, match=r"none was found for 'x.png'. Install one .*\.html"):
        PICTURE.save(tmp_path / "x.png")
    assert not (tmp_path / "x.png").exists()


def run_without(package, path):
    script = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "from discreet.apps.pictures import budget_over_time\n"
        f"budget_over_time([(1, 1)]).save({str(path)!r})"
    )
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)


def test_a_page_needs_no_package_of_plotlys_for_its_script_is_ours(tmp_path):
    assert run_without("plotly", tmp_path / "x.html").returncode == 0
    assert "Plotly.react" in (tmp_path / "x.html").read_text(encoding="utf-8")
    assert "MIT" in SCRIPT.with_name("plotly.LICENSE.txt").read_text(encoding="utf-8")


def test_an_image_is_drawn_by_our_script_and_not_by_one_that_kaleido_finds(tmp_path, monkeypatch):
    asked = []

    def note(_figure, _options, *, kopts):
        asked.append(kopts["page_generator"].generate_index())
        return b""

    monkeypatch.setattr("kaleido.calc_fig_sync", note)
    PICTURE.save(tmp_path / "x.png")
    assert re.search(r"file:///\S*/plotly\.js", asked[0])
    assert "http" not in asked[0]


def test_without_kaleido_the_error_names_the_extra(tmp_path):
    run = run_without("kaleido", tmp_path / "x.png")
    assert "pip install 'discreet[pictures]'" in run.stderr
    assert "ends in .html" in run.stderr


def test_without_the_script_the_error_says_how_it_comes(tmp_path, monkeypatch):
    monkeypatch.setattr("discreet.apps.pictures.picture.SCRIPT", tmp_path / "none.js")
    with pytest.raises(dp.InvalidParameter, match="make setup"):
        script_file()
