"""Images need a Chromium. Where tests must be complete (CI), its absence is a failure, not a skip."""

import os
import shutil
import subprocess
import sys

import pytest

import discreet as dp
from discreet.pictures import budget_over_time

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


def test_without_plotly_the_error_names_the_extra(tmp_path):
    script = (
        "import sys; sys.modules['plotly'] = None\n"
        "from discreet.pictures import budget_over_time\n"
        f"budget_over_time([(1, 1)]).save({str(tmp_path / 'x.html')!r})"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "pip install 'discreet[pictures]'" in run.stderr
