"""Draw the contact sheets: every page and every shape of chart, in light, in dark and on a phone.

Run it from the project's folder: PYTHONPATH=tests .venv/bin/python -m journeys.contact_sheets
"""

import base64
import shutil
import tempfile
from pathlib import Path

from journeys.browsing import MODES, chromium, sign_in
from journeys.hospital import SHAPES, ask_all, write_hospital
from server.running import UNHURRIED, promptly, running

FOLDER = Path(__file__).parents[2] / "docs" / "pictures" / "pages"
WIDE, NARROW = 4, 8  # pictures in a row
QUESTION = "SELECT sex, COUNT(*) AS n, AVG(cost) AS mean FROM hospital GROUP BY sex"


def pictures(browser, served, mode, numbers):
    """Yield each page's name and picture."""
    context = browser.new_context(base_url=served.url, **MODES[mode])
    page = context.new_page()
    page.set_default_timeout(60_000)

    def shoot(name, path=None, *, wait=400):
        if path:
            page.goto(path)
        page.wait_for_timeout(wait)
        return name, page.screenshot(full_page=True)

    yield shoot("Sign in", "/")
    yield shoot("Receipts", "/receipts")
    sign_in(page, served.tokens["ann"])
    yield shoot("Data sets")
    yield shoot("What may be asked", "/datasets/hospital")
    page.goto(f"/datasets/hospital/ask?sql={QUESTION}")
    page.locator("#try:enabled").click()
    page.locator("#tried figure").first.wait_for()
    yield shoot("Ask, tried on invented people")
    yield shoot("Watches", "/datasets/hospital/watches")
    yield shoot("Waiting", "/datasets/hospital/waiting")
    yield shoot("History", "/datasets/hospital/history")
    for shape in SHAPES:
        yield shoot(f"Answer: {shape}", f"/datasets/hospital/answers/{numbers[shape]}")
    yield shoot("Two answers", f"/datasets/hospital/compare?one={numbers['bars']}&other={numbers['bars']}")
    context.clear_cookies()
    sign_in(page, served.tokens["olga"])
    yield shoot("Owner", "/owner")
    yield shoot("Report", "/datasets/hospital/report")
    yield shoot("Waiting, owner", "/datasets/hospital/waiting")
    yield shoot("Nothing there", "/datasets/none")
    yield shoot("Documentation", "/docs/")
    yield shoot("Lab", "/lab", wait=4000)
    for exhibit in ("sparse-vector", "composition"):
        yield shoot(f"Lab: {exhibit}, without a script", f"/lab/{exhibit}")
    context.close()


def opening_pictures(browser, served, mode):
    """Yield the pages on which an owner opens a data set."""
    context = browser.new_context(base_url=served.url, **MODES[mode])
    page = context.new_page()
    page.set_default_timeout(60_000)
    sign_in(page, served.tokens["olga"])
    yield "No data set yet", page.screenshot(full_page=True)
    page.goto("/owner/new")
    yield "Open: files", page.screenshot(full_page=True)
    page.goto("/owner/new?file=hospital.csv")
    page.locator("#tried svg:visible").first.wait_for()
    for column, low, high in (("age", "0", "100"), ("cost", "0", "10000")):
        promise = page.get_by_role("group", name=column)
        promise.get_by_label("From").fill(low)
        promise.get_by_label("to", exact=True).fill(high)
    page.get_by_role("group", name="sex").get_by_label("Labels").fill("f, m, x")
    page.locator("#first-question").get_by_text("sex").wait_for()
    page.wait_for_timeout(1500)
    page.evaluate("window.scrollTo(0, 0)")
    yield "Open: promises", page.screenshot(full_page=True)
    context.close()


def take_exhibit(browser, served):
    """Take the picture of one exhibit of the lab."""
    context = browser.new_context(base_url=served.url, **MODES["dark"])
    page = context.new_page()
    page.goto("/lab#composition")
    page.locator("#composition .xtitle").wait_for(timeout=60_000)
    page.wait_for_timeout(500)
    page.locator("#composition").screenshot(path=FOLDER / "lab.png")
    context.close()


def sheet(browser, shots, mode):
    """Put pictures on one sheet."""
    columns, width, height = (NARROW, 190, 570) if mode == "phone" else (WIDE, 400, 520)
    paper, ink = ("#15181d", "#e8eaed") if mode == "dark" else ("#ffffff", "#1f2328")
    figures = "".join(
        f"<figure><figcaption>{name}</figcaption><div><img src='data:image/png;base64,"
        f"{base64.b64encode(shot).decode()}'></div></figure>"
        for name, shot in shots
    )
    style = (
        f"body{{margin:20px;background:{paper};color:{ink};font:14px sans-serif;display:grid;gap:20px;"
        f"grid-template-columns:repeat({columns},{width}px);align-items:start}}figure{{margin:0}}"
        f"div{{max-height:{height}px;overflow:hidden;border:1px solid #8a939d}}"
        "img{width:100%;display:block}"
    )
    page = browser.new_page(viewport={"width": columns * (width + 20) + 20, "height": 800})
    page.set_content(f"<style>{style}</style>{figures}")
    page.screenshot(path=FOLDER / f"sheet-{mode}.jpg", full_page=True, type="jpeg", quality=70)
    page.close()


def main():
    """Draw all sheets, and the pictures of the guide."""
    with (
        tempfile.TemporaryDirectory() as folder,
        promptly(write_hospital(Path(folder))) as served,
        running(None, folder=Path(folder) / "house", limits=UNHURRIED) as empty,
    ):
        shutil.copy(Path(folder) / "hospital.csv", empty.folder)
        numbers = ask_all(served)
        body = {"sql": QUESTION, "epsilon": 5}
        served.send("POST", "/api/datasets/hospital/ask", who="ann", body=body)  # it waits for the owner
        with chromium() as browser:
            for mode in MODES:
                shots = [*pictures(browser, served, mode, numbers), *opening_pictures(browser, empty, mode)]
                sheet(browser, shots, mode)
                known = dict(shots)
                if mode == "light":
                    (FOLDER / "ask.png").write_bytes(known["Ask, tried on invented people"])
                    (FOLDER / "history.png").write_bytes(known["History"])
                    (FOLDER / "opening.png").write_bytes(known["Open: promises"])
                    (FOLDER / "report.png").write_bytes(known["Report"])
                    (FOLDER / "waiting.png").write_bytes(known["Waiting, owner"])
                if mode == "dark":
                    take_exhibit(browser, served)
                if mode == "phone":
                    (FOLDER / "phone.png").write_bytes(known["Ask, tried on invented people"])


if __name__ == "__main__":
    main()
