"""Put the site together: every page in its frame, pictures, styles, and the words for the search.

Tested by: tests/site/test_site.py
"""

import hashlib
import json
import posixpath
import re
from collections.abc import Mapping
from html import escape, unescape
from pathlib import Path
from string import Template
from typing import Any

import discreet
from discreet.apps.site.contents import address, folder, read_source, sections
from discreet.apps.site.markdown import Rendered, render, resolve, slug
from discreet.apps.site.reference import api_pages, command_page, rest_page

_HERE = Path(__file__).parent
_SHARED = Path(discreet.__file__).parent / "apps" / "server" / "static"  # one look for pages and documents
_PICTURES = (".png", ".svg")
_MOST_CONTENTS = 40  # more headings are listed by their first level alone
CURRENT = ' aria-current="page"'
_MOST_WORDS = 4000  # letters of one part of a page that the search knows


def build_site(*, commands: Mapping[str, str], openapi: Mapping[str, Any]) -> dict[str, bytes]:
    """Return every file of the site by its address; `commands` are the helps."""
    written = {
        page: read_source(page) for section in sections() for page in section.pages if page.endswith(".md")
    }
    made = {**dict(api_pages()), "commands": command_page(commands), "rest": rest_page(openapi)}
    sources = {page: written.get(page) or made[page] for section in sections() for page in section.pages}
    names = _names(made)
    rendered = {page: _render(page, text, sources, names) for page, text in sources.items()}
    files = _assets()
    stamps = {name: hashlib.sha256(content).hexdigest()[:12] for name, content in files.items()}
    for place, (page, content) in enumerate(rendered.items()):
        files[address(page)] = _frame(page, content, list(rendered.items()), place, stamps).encode()
    files["search.js"] = (
        b"window.SEARCH = " + json.dumps(_search(rendered), ensure_ascii=False).encode() + b";\n"
    )
    files |= _pictures(rendered)
    return files


def _names(made: Mapping[str, str]) -> dict[str, str]:
    """Return where each name of the API has its entry, methods too."""
    found = {}
    for page, text in made.items():
        for mark, name in re.findall(r"^(##|###) ([\w.]+)$", text, re.MULTILINE):
            found[name if mark == "##" else f"dp.{name}"] = f"{page}#{slug(name)}"
    return found


def _render(page: str, text: str, sources: Mapping[str, str], names: Mapping[str, str]) -> Rendered:
    def link(href: str) -> str | None:
        if href.startswith("#dp."):
            if href[1:] not in names:
                return None
            entry, _, at = names[href[1:]].partition("#")
            return posixpath.relpath(address(entry), posixpath.dirname(address(page)) or ".") + f"#{at}"
        if "://" in href or href.startswith("mailto:"):
            return href
        path, mark, part = href.partition("#")
        if not path:
            return href
        target = resolve(page, path)
        back = posixpath.dirname(address(page)) or "."
        if target in sources:
            return posixpath.relpath(address(target), back) + mark + part
        return posixpath.relpath(target, back) if target.endswith(_PICTURES) else None

    return render(text, link=link)


def _frame(
    page: str, content: Rendered, order: list[tuple[str, Rendered]], place: int, stamps: Mapping[str, str]
) -> str:
    back = posixpath.relpath(".", posixpath.dirname(address(page)) or ".")
    titles = {name: rendered.title for name, rendered in order}
    deepest = 3 if len(content.headings) <= _MOST_CONTENTS else 2
    inside = [(level, at, said) for level, at, said in content.headings if 2 <= level <= deepest]
    contents = "".join(
        f'<li class="level-{level}"><a href="#{at}">{escape(said)}</a></li>' for level, at, said in inside
    )
    around = {
        "before": order[place - 1] if place else None,
        "after": order[place + 1] if place + 1 < len(order) else None,
    }
    return Template((_HERE / "page.html").read_text(encoding="utf-8")).substitute(
        title=escape(content.title),
        root=back,
        nav=_nav(page, titles, back),
        contents=f'<nav class="toc" aria-label="On this page"><ol>{contents}</ol></nav>'
        if len(inside) > 1
        else "",
        content=content.html,
        version=discreet.__version__,
        **{name.replace(".", "_"): stamp for name, stamp in stamps.items()},
        **{name: _neighbour(name, found, back) for name, found in around.items()},
    )


def _neighbour(name: str, found: tuple[str, Rendered] | None, back: str) -> str:
    if found is None:
        return "<span></span>"
    page, content = found
    arrow = f"← {escape(content.title)}" if name == "before" else f"{escape(content.title)} →"
    return f'<a href="{back}/{address(page)}">{arrow}</a>'


def _nav(page: str, titles: Mapping[str, str], back: str) -> str:
    parts = []
    for section in sections():
        items = "".join(
            f'<li><a href="{back}/{address(each)}"{CURRENT if each == page else ""}>'
            f"{escape(titles[each])}</a></li>"
            for each in section.pages
        )
        opened = " open" if page in section.pages else ""
        parts.append(f"<details{opened}><summary>{escape(section.title)}</summary><ul>{items}</ul></details>")
    return "".join(parts)


def _assets() -> dict[str, bytes]:
    shared = {name: (_SHARED / name).read_bytes() for name in ("style.css", "theme.js", "mark.svg")}
    own = {name: (_HERE / name).read_bytes() for name in ("site.css", "site.js")}
    return {**shared, **own}


def _pictures(rendered: Mapping[str, Rendered]) -> dict[str, bytes]:
    """Return the pictures that pages show."""
    wanted = {
        path.relative_to(folder()).as_posix(): path
        for path in folder().rglob("*")
        if path.suffix in _PICTURES
    }
    said = "".join(content.html for content in rendered.values())
    return {name: path.read_bytes() for name, path in wanted.items() if posixpath.basename(name) in said}


def _search(rendered: Mapping[str, Rendered]) -> list[list[str]]:
    """Return address, title, part and words of each part of each page."""
    found = []
    for page, content in rendered.items():
        for at, said, words in _parts(content):
            found.append([address(page) + (f"#{at}" if at else ""), content.title, said, words[:_MOST_WORDS]])
    return found


def _parts(content: Rendered) -> list[tuple[str, str, str]]:
    """Cut a page's words at its headings of the first three levels."""
    pieces = re.split(r'<h[123] id="([^"]+)">(.*?)</h[123]>', content.html)
    plain = [re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", piece))).strip() for piece in pieces]
    return [(pieces[k], plain[k + 1], plain[k + 2]) for k in range(1, len(pieces) - 2, 3)]
