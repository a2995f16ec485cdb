"""The site is whole: no dead link, every public name, command and route; nothing from outside."""

import importlib
import re
from html.parser import HTMLParser
from pathlib import Path
from posixpath import dirname, join, normpath
from urllib.parse import unquote, urlsplit

import pytest

import discreet
from discreet.apps.cli.documents import build_documentation, command_helps, openapi
from discreet.apps.site.reference import PACKAGES, document

ROOT = Path(__file__).parents[2]
LEFT_OUT = {"read-aloud.md"}  # about the sentences of the project, not for its users


@pytest.fixture(scope="module")
def site():
    return build_documentation()


class Page(HTMLParser):
    """The ids, links and resources of a page, and what stands inline."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.sources, self.inline = set(), [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if "id" in found:
            assert found["id"] not in self.ids, found["id"]
            self.ids.add(found["id"])
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        for name in ("src", "href"):
            if name in found and tag != "a":
                self.sources.append(found[name])
        if tag == "style" or (tag == "script" and "src" not in found):
            self.inline.append(tag)
        self.inline += [name for name in found if name == "style" or name.startswith("on")]


@pytest.fixture(scope="module")
def pages(site):
    return {name: Page(content.decode()) for name, content in site.items() if name.endswith(".html")}


def target(page, href):
    parts = urlsplit(href)
    return normpath(join(dirname(page), parts.path)) if parts.path else page, unquote(parts.fragment)


def dead_links(site, pages):
    for name, page in pages.items():
        for href in page.links + page.sources:
            if "://" in href:
                continue
            place, fragment = target(name, href)
            if place not in site or (fragment and place in pages and fragment not in pages[place].ids):
                yield name, href


def test_no_link_is_dead(site, pages):
    assert list(dead_links(site, pages)) == []


def test_a_dead_link_would_be_found(site):
    for bad in (
        '<a href="nowhere.html">',
        '<a href="glossary.html#nothing">',
        '<img src="pictures/none.png">',
    ):
        planted = {"index.html": Page(bad), "glossary.html": Page(site["glossary.html"].decode())}
        assert len(list(dead_links(site, planted))) >= 1


def test_every_page_of_the_folder_is_on_the_site(pages):
    written = {
        path.relative_to(ROOT / "docs").with_suffix(".html").as_posix()
        for path in (ROOT / "docs").rglob("*.md")
    }
    assert written - {name.replace(".md", ".html") for name in LEFT_OUT} <= set(pages)


def test_every_public_name_has_its_place(pages):
    said = {at for name, page in pages.items() if name.startswith("api/") for at in page.ids}
    named = [f"dp.{name}" for name in discreet.__all__ if name not in PACKAGES]
    for package in PACKAGES:
        listed = importlib.import_module(f"discreet.{package}").__all__
        named += [f"dp.{package}.{name}" for name in listed if name not in discreet.__all__]
    assert len(named) > 150
    missing = [name for name in named if name.lower().replace(".", "-") not in said]
    assert missing == []


def test_every_command_and_every_route_is_described(site, pages):
    helps = command_helps()
    assert {"ask", "serve", "policy check", "ledger raise", "local"} <= set(helps)
    for name in helps:
        assert f"discreet-{name.replace(' ', '-')}" in pages["commands.html"].ids
    text = site["rest.html"].decode()
    paths = openapi()["paths"]
    assert len(paths) > 10
    for path in paths:
        assert path in text


def test_nothing_comes_from_elsewhere_and_nothing_stands_inline(pages):
    for page in pages.values():
        assert page.inline == []
        assert not [each for each in page.sources if "//" in each]


def test_the_site_is_small_and_every_page_lighter_than_a_picture(site):
    assert sum(map(len, site.values())) < 6_000_000
    for name, content in site.items():
        assert len(content) < (1_000_000 if name == "search.js" else 400_000), name


def test_every_part_of_every_page_can_be_found(site, pages):
    words = site["search.js"].decode()
    assert words.startswith("window.SEARCH = [")
    for name in pages:
        assert f'["{name}' in words


def test_theory_has_real_formulas(site):
    assert site["theory/index.html"].count(b"<math") >= 12
    with_formulas = [
        name for name, content in site.items() if name.startswith("theory/") and b"<math" in content
    ]
    assert len(with_formulas) >= 10


def test_no_word_of_a_page_is_read_as_html(site):
    for name, content in site.items():
        if name.endswith(".html"):
            body = content.decode().split("<article", 1)[1].split("</article>", 1)[0]
            assert not re.search(r"<(script|iframe|object|form)", body), name


def test_docstrings_become_pages():
    shown = document("Sum.\n\n    a/b\n\nParameters\n----------\nx, y\n    The two.\nz\n    The third.")
    assert "    a/b" in shown
    assert "- `x, y`: The two." in shown
    assert "- `z`: The third." in shown
    assert document("See docs/theory/lattice.md.") == "See [the page on it](../theory/lattice.md)."


def test_no_table_has_an_empty_header(site):
    """Who listens to a page hears the header of each cell."""
    every = {name: text.decode() for name, text in site.items() if name.endswith(".html")}
    assert not [name for name, text in every.items() if re.search(r"<th[^>]*>\s*</th>", text)]
    assert sum("<th" in text for text in every.values()) > 20


def test_what_is_wider_than_a_phone_is_reached_by_the_keyboard(site):
    every = [text.decode() for name, text in site.items() if name.endswith(".html")]
    for wide in ("pre", "table"):
        assert not [text for text in every if f"<{wide}>" in text]
        assert sum(f'<{wide} tabindex="0"' in text for text in every) > 5
