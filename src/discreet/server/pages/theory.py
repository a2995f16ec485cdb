"""The theory that exhibits and prices rest on, as pages: the project's own Markdown, rendered."""

import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import discreet
from discreet.server.refusals import not_found

_PACKAGE = Path(discreet.__file__).parent
# In a wheel the pages lie inside the package; in a checkout, where they are written.
PLACES = (_PACKAGE / "theory", _PACKAGE.parents[1] / "docs" / "theory")
_NAME = re.compile(r"[a-z][a-z-]{0,63}")
_SIBLING = re.compile(r"^([a-z-]+)\.md(#.*)?$")


@cache
def titles() -> dict[str, str]:
    """The title of each page, by name."""
    folder = next((place for place in PLACES if place.is_dir()), None)
    pages = sorted(folder.glob("*.md")) if folder is not None else []
    return {path.stem: path.read_text(encoding="utf-8").splitlines()[0].lstrip("# ") for path in pages}


@cache
def theory_page(name: str) -> tuple[str, str]:
    """Title and HTML of a page. Raw HTML in the Markdown is shown, never passed on."""
    if not _NAME.fullmatch(name) or name not in titles():
        raise not_found()
    from markdown_it import MarkdownIt

    folder = next(place for place in PLACES if place.is_dir())
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse((folder / f"{name}.md").read_text(encoding="utf-8"))
    for heading, words in pairwise(tokens):
        if heading.type == "heading_open":
            heading.attrSet("id", slug(words.content))
    _redirect_links(tokens)
    html = str(reader.renderer.render(tokens, reader.options, {}))
    return titles()[name], html.replace("<pre>", '<pre tabindex="0">')  # wide code scrolls, by keyboard too


def slug(heading: str) -> str:
    """A heading as the end of an address.

    >>> slug("How small delta must be")
    'how-small-delta-must-be'
    """
    return re.sub(r"[^\w]+", "-", heading.lower()).strip("-")


def _redirect_links(tokens: list[Any]) -> None:
    """A link to a page beside this one stays among the served pages."""
    for token in tokens:
        for child in token.children or ():
            found = _SIBLING.match(child.attrGet("href") or "") if child.type == "link_open" else None
            if found:
                child.attrSet("href", f"/theory/{found[1]}{found[2] or ''}")
