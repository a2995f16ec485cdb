"""Which pages the site has, in which order: docs/site.toml; a page that is not in it is an error.

Tested by: tests/site/test_site.py
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import discreet

_PACKAGE = Path(discreet.__file__).parent
# A wheel has the pages in the package; a checkout has them where they are written.
_PLACES = (_PACKAGE / "docs", _PACKAGE.parents[1] / "docs")


@dataclass(frozen=True)
class Section:
    """A part of the site: its title, and its pages by the file of each."""

    title: str
    pages: tuple[str, ...]


@cache
def folder() -> Path:
    """Return where the pages are written."""
    return next(place for place in _PLACES if (place / "site.toml").is_file())


@cache
def sections() -> tuple[Section, ...]:
    """Return the parts of the site, in order."""
    listed = tomllib.loads((folder() / "site.toml").read_text(encoding="utf-8"))["section"]
    return tuple(Section(each["title"], tuple(each["pages"])) for each in listed)


def read_source(page: str) -> str:
    """Return a page's Markdown; pages from above the folder are beside it in a wheel."""
    place = folder() / page
    return (place if place.is_file() else folder() / Path(page).name).read_text(encoding="utf-8")


def address(page: str) -> str:
    """Return where a page is on the site.

    >>> address("guide/count.md"), address("../SECURITY.md"), address("api/losses")
    ('guide/count.html', 'security.html', 'api/losses.html')
    """
    name = page.removesuffix(".md")
    return (name.removeprefix("../").lower() if name.startswith("../") else name) + ".html"
