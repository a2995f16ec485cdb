"""Markdown as pages of the site: headings with addresses, links between pages, formulas, coloured code.

Tested by: tests/site/test_site.py
"""

import posixpath
import re
from collections.abc import Callable, Mapping
from html import escape, unescape
from typing import Any, NamedTuple

from discreet.apps.site.formulas import typeset


class Rendered(NamedTuple):
    """A page's title, its HTML, its headings (level, address, text), and its words for the search."""

    title: str
    html: str
    headings: tuple[tuple[int, str, str], ...]
    words: str


def render(text: str, *, link: Callable[[str], str | None]) -> Rendered:
    """Return Markdown as HTML. `link` gives a link's address on the site; None makes it plain text.

    >>> render("# A page\\n\\nWords.", link=lambda href: href).html
    '<h1 id="a-page">A page</h1>\\n<p>Words.</p>\\n'
    """
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False, "highlight": _colour}).enable("table")
    tokens = reader.parse(text)
    headings: list[tuple[int, str, str]] = []
    seen: set[str] = set()
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            said = _plain(tokens[place + 1])
            address = _free(slug(said), seen)
            token.attrSet("id", address)
            headings.append((int(token.tag[1]), address, said))
        _redirect(token, link)
    html = _without_empty_headers(str(_with_formulas(reader).render(tokens, reader.options, {})))
    title = next((said for level, _, said in headings if level == 1), "")
    words = re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", html))).strip()
    for wide in ("pre", "table"):  # on a phone they are moved sideways, from the keyboard too
        html = html.replace(f"<{wide}>", f'<{wide} tabindex="0">')
    return Rendered(title, html, tuple(headings), words)


def _without_empty_headers(html: str) -> str:
    """Take out header cells that are empty, and a header that has no others.

    >>> _without_empty_headers("<thead><tr><th></th><th></th></tr></thead><tbody></tbody>")
    '<tbody></tbody>'
    """
    html = re.sub(r"<thead>\s*<tr>\s*(<th[^>]*></th>\s*)+</tr>\s*</thead>\s*", "", html)
    return re.sub(r"<th([^>]*)></th>", r"<td\1></td>", html)


def slug(heading: str) -> str:
    """Return a heading as the fragment of an address.

    >>> slug("How small delta must be")
    'how-small-delta-must-be'
    """
    return re.sub(r"[^\w]+", "-", heading.lower()).strip("-")


def resolve(page: str, href: str) -> str:
    """Return what a relative link leads to, from the folder of the page that has it.

    >>> resolve("guide/count.md", "../theory/losses.md")
    'theory/losses.md'
    """
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), href))


def colour(code: str, language: str) -> str:
    """Return code as HTML with classes for its parts; languages that are not known stay plain."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language or "text", stripnl=False)
    except ClassNotFound:
        return escape(code)
    formatter: Any = HtmlFormatter(nowrap=True, classprefix="c-")
    return str(highlight(code, lexer, formatter))


def _colour(code: str, language: str, _: str) -> str:
    return colour(code, language)


def _with_formulas(reader: Any) -> Any:
    """Return a renderer that sets indented blocks as formulas, and keeps a fence's language."""

    def block(tokens: list[Any], place: int, options: Mapping[str, Any], _: object) -> str:
        return f'<div class="formula" tabindex="0">{typeset(tokens[place].content)}</div>\n'

    def code(tokens: list[Any], place: int, options: Mapping[str, Any], _: object) -> str:
        shown = f"<code>{escape(tokens[place].content)}</code>"
        href = tokens[place].meta.get("href")
        return f'<a href="{escape(href)}">{shown}</a>' if href else shown

    reader.renderer.rules |= {"code_block": block, "code_inline": code}
    return reader.renderer


def _redirect(token: Any, link: Callable[[str], str | None]) -> None:
    """Point links and pictures to where they are on the site, and names of the API to their entries."""
    if token.attrGet("style"):  # of a column of a table: inline styles are not shown
        token.attrSet("class", str(token.attrs.pop("style")).rpartition(":")[2])
    opened: list[bool] = []
    for child in token.children or ():
        name = (
            re.match(r"dp(?:\.\w+)+", child.content) if child.type == "code_inline" and not opened else None
        )
        if name and (address := link(f"#{name[0]}")):
            child.meta["href"] = address
        if child.type == "link_open":
            address = link(child.attrGet("href"))
            opened.append(address is not None)
            if address is None:
                child.type, child.tag, child.attrs = "em_open", "span", {}
            else:
                child.attrSet("href", address)
        elif child.type == "link_close" and not opened.pop():
            child.type, child.tag = "em_close", "span"
        elif child.type == "image":
            child.attrSet("src", link(child.attrGet("src")) or "")
            child.attrSet("loading", "lazy")


def _plain(token: Any) -> str:
    return "".join(child.content for child in token.children or () if child.type in ("text", "code_inline"))


def _free(address: str, seen: set[str]) -> str:
    found, count = address or "section", 1
    while found in seen:
        count += 1
        found = f"{address}-{count}"
    seen.add(found)
    return found
