"""Answers that stay: each has an address, free to those who may see it; comparisons; checked receipts.

`/datasets/{name}/answers/{number}` is a page; with `.json`, `.csv`, `.svg` or `.receipt` it is a file.
Everything here is read from the ledger: no data is touched, and nothing is charged.

Tested by: tests/server/pages/test_answers.py
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any, TypeAlias
from urllib.parse import parse_qsl, quote, urlencode

from fastapi import APIRouter, Depends, Request, Response

from discreet.apps.server.http_errors import as_json, busy, not_found
from discreet.apps.server.kept_answers import KeptAnswer
from discreet.apps.server.limits import Rate
from discreet.apps.server.pages.gauge import price_words
from discreet.apps.server.pages.question_builder import sql_name
from discreet.apps.server.pages.rendering import WIDTHS, cell_of, margin, page
from discreet.apps.server.pages.session_auth import PageRoute, Visitor, session_auth
from discreet.apps.server.people import Person
from discreet.apps.server.rest.bearer_auth import read_body, service_of
from discreet.asking.answers import Shown, check_receipt, draw_chart, fingerprint, show_value
from discreet.errors import DiscreetError, InvalidParameter
from discreet.kernel.numerics import Interval

PAGE = 50  # rows of a table on one page
CHECKS_PER_S = 5.0  # receipts that one address may have checked
_CHECKS = Rate(CHECKS_PER_S)

page_router = APIRouter(include_in_schema=False, route_class=PageRoute)
file_router = APIRouter(include_in_schema=False)


async def _reader(request: Request) -> Visitor:
    """Return who reads: a signed-in browser, or a program with a token."""
    given = request.headers.get("authorization", "")
    if not given:
        return await session_auth(request).admit(request)
    service, address = service_of(request), request.client.host if request.client else ""
    scheme, _, token = given.partition(" ")
    token = token.strip() if scheme.lower() == "bearer" else ""
    person: Person = await service.executor.use_people(service.admit, token, address=address)
    return Visitor(person, "")


Reader: TypeAlias = Annotated[Visitor, Depends(_reader)]


@page_router.get("/datasets/{name}/answers/{number:int}")
async def answer(request: Request, visitor: Reader, name: str, number: int) -> Response:
    """Show an answer from the ledger."""
    dataset, asked = service_of(request).dataset(name), request.query_params
    every = await dataset.kept(visitor.person, number)
    kept = _part(every, asked.get("part", "1"))
    here = f"/datasets/{quote(name, safe='')}/answers/{number}"
    facts = await service_of(request).executor.plan(
        partial(_facts, kept, asked, str(request.base_url) + here[1:], len(every))
    )
    return page(
        "answer.html", dataset=dataset, kept=kept, parts=len(every), here=here, **facts, **visitor.frame
    )


def _facts(kept: KeptAnswer, asked: Mapping[str, str], address: str, parts: int) -> dict[str, Any]:
    shown, receipt = kept.shown, kept.receipt.facts
    facts = {
        "price": price_words(receipt["price"]),
        "sentences": receipt["plan"],
        "question": receipt["question"],
        "key": fingerprint(kept.signed["signature"]["key"]),
        "around": around_median(str(receipt["question"])),
        "copies": copies(address, str(receipt["question"]), kept, part=kept.part + 1 if parts > 1 else None),
        "view": None,
        "charts": None,
        "measures": (),
        "measure": None,
    }
    if shown is not None:
        measure = asked.get("measure") if asked.get("measure") in shown.measures else None
        facts |= {
            "view": TableView(shown, asked).facts(),
            "charts": charts_of(shown, measure),
            "measures": shown.measures,
            "measure": measure,
        }
    return facts


@file_router.get("/datasets/{name}/answers/{number:int}.{kind}")
async def file(request: Request, visitor: Reader, name: str, number: int, kind: str) -> Response:
    """Return an answer as JSON, CSV or SVG, or its signed receipt."""
    every = await service_of(request).dataset(name).kept(visitor.person, number)
    kept = _part(every, request.query_params.get("part", "1"))
    if kind == "receipt":
        return as_json(kept.signed, headers=_download(f"receipt-{number}.json"))
    if kind == "json":
        whole = [each.to_json() for each in every]
        is_one = len(every) == 1 or "part" in request.query_params
        return as_json(kept.to_json() if is_one else {"answers": whole})
    if kind not in ("csv", "svg") or kept.shown is None:
        raise not_found()
    if kind == "csv":
        headers = _download(f"{number}.csv")
        return Response(kept.shown.to_csv(), media_type="text/csv; charset=utf-8", headers=headers)
    if not kept.shown.measures:
        raise not_found()
    measure = request.query_params.get("measure")
    drawing = draw_chart(
        kept.shown.drawable(), measure=measure if measure in kept.shown.measures else None
    ).markup(paper=True)
    return Response(drawing, media_type="image/svg+xml", headers=_download(f"{number}.svg"))


def _download(name: str) -> dict[str, str]:
    return {"content-disposition": f'attachment; filename="answer-{name}"'}


def _part(every: Sequence[KeptAnswer], text: str) -> KeptAnswer:
    if not (text.isascii() and text.isdigit() and len(text) < 6 and 0 < int(text) <= len(every)):
        raise not_found()
    return every[int(text) - 1]


def copies(
    address: str, question: str, kept: KeptAnswer, *, part: int | None = None
) -> list[tuple[str, str]]:
    """Return how a program gets the same answer, free: the token is read from the environment."""
    table = f"{address}.csv" + (f"?part={part}" if part else "")
    said = 0 if kept.shown is None else len(kept.shown.notes)
    python = (
        "import os, pandas\n\n"
        f"answer = pandas.read_csv(\n    {table!r},\n"
        f"{f'    skiprows={said},  # what the limits left out' + chr(10) if said else ''}"
        '    storage_options={"Authorization": "Bearer " + os.environ["DISCREET_TOKEN"]},\n)'
    )
    curl = f'curl -H "Authorization: Bearer $DISCREET_TOKEN" \\\n  "{table}"'
    return [("Python", python), ("cURL", curl), ("SQL", question)]


_MEDIAN = re.compile(r'\bQUANTILE\(([\w".]+), 0\.5\)(?: AS (?:"([^"]+)"|(\w+)))?')


def around_median(question: str) -> str:
    """Return a question with the 45% and 55% quantiles around its median; empty where it has none.

    The question is as receipts write it, where a median is a quantile of 0.5.

    >>> around_median("SELECT QUANTILE(age, 0.5) AS a FROM people")
    'SELECT QUANTILE(age, 0.45) AS a_45, QUANTILE(age, 0.5) AS a, QUANTILE(age, 0.55) AS a_55 FROM people'
    """
    found = _MEDIAN.search(question)
    if found is None or question.count("QUANTILE(") > 1:
        return ""
    value, name = found[1], found[2] or found[3] or "median"
    low, high = (f"QUANTILE({value}, 0.{end}) AS {sql_name(f'{name}_{end}')}" for end in (45, 55))
    return f"{question[: found.start()]}{low}, {found[0]}, {high}{question[found.end() :]}"


class TableView:
    """Rows of a table as an address names them: searched, sorted, the largest, and by pages."""

    def __init__(self, shown: Shown, asked: Mapping[str, str]) -> None:
        self._shown, self._asked = shown, asked
        self._find = asked.get("find", "").strip()[:200]
        self._sort = asked["sort"] if asked.get("sort") in shown.types else None
        self._down = asked.get("down") == "1"
        self._top = asked.get("top") == "20"

    def facts(self) -> dict[str, Any]:
        """Return what the template shows."""
        rows = self._rows()
        pages = max(1, -(-len(rows) // PAGE))
        written = self._asked.get("page", "1")
        number = (
            min(pages, int(written)) if written.isascii() and written.isdigit() and len(written) < 7 else 1
        )
        start = max(0, number - 1) * PAGE
        return {
            "columns": [self._column(name) for name in self._shown.columns],
            "rows": [self._row(*each) for each in rows[start : start + PAGE]],
            "found": len(rows),
            "all": len(self._shown.rows),
            "find": self._find,
            "top": self._top,
            "kept": {
                name: self._asked[name]
                for name in ("sort", "down", "measure", "part")
                if self._asked.get(name)
            },
            "page": max(1, number),
            "pages": pages,
            "before": self._address(page=str(number - 1)) if number > 1 else "",
            "after": self._address(page=str(number + 1)) if number < pages else "",
            "largest": self._address(top="" if self._top else "20", page=""),
            "says": said(self._shown),
            "faded": any(is_faded(self._shown, ends) for ends in self._shown.intervals),
        }

    def _rows(self) -> list[tuple[Mapping[str, Any], Mapping[str, Interval | None]]]:
        every: list[tuple[Mapping[str, Any], Mapping[str, Interval | None]]]
        every = list(zip(self._shown.rows, self._shown.intervals, strict=True))
        wanted = self._find.casefold()
        if wanted:
            every = [
                each for each in every if any(wanted in show_value(v).casefold() for v in each[0].values())
            ]
        by, down = self._sort, self._down
        if self._top and by is None and self._shown.measures:
            by, down = self._shown.measures[0], True
        if by is not None:
            known = [each for each in every if each[0][by] is not None]
            known.sort(key=lambda each: each[0][by], reverse=down)
            every = known + [each for each in every if each[0][by] is None]
        return every[:20] if self._top else every

    def _column(self, name: str) -> dict[str, Any]:
        is_sorted, numeric = name == self._sort, self._shown.types[name] in ("integer", "number")
        down = not self._down if is_sorted else name in self._shown.measures
        return {
            "name": name,
            "number": numeric and name in self._shown.noisy,
            "sorted": ("descending" if self._down else "ascending") if is_sorted else "none",
            "address": self._address(sort=name, down="1" if down else "", page=""),
        }

    def _row(self, row: Mapping[str, Any], ends: Mapping[str, Interval | None]) -> dict[str, Any]:
        cells = [cell_of(row[name], ends[name]) for name in self._shown.columns]
        return {"cells": cells, "faded": is_faded(self._shown, ends)}

    def _address(self, **changes: str) -> str:
        names = ("part", "measure", "find", "sort", "down", "top", "page")
        return "?" + urlencode({n: v for n in names if (v := changes.get(n, self._asked.get(n, "")))})


def is_faded(shown: Shown, ends: Mapping[str, Interval | None]) -> bool:
    """Return whether no number of a row can be told from zero."""
    known = [each for name in shown.measures if (each := ends[name]) is not None]
    return bool(known) and all(each.lower <= 0 <= each.upper for each in known)


def said(shown: Shown) -> list[str]:
    """Return what is said under a table, a sentence each."""
    words = []
    if shown.has_intervals:
        words.append(f"± holds with {100 * shown.confidence:.6g}% confidence.")
    elif shown.rows and shown.noisy:
        words.append("Chosen by noise, without ±: the plan says how far the choice may be from the best.")
    if not shown.rows:
        words.append("No group was large enough to be shown. That does not mean that there are none.")
    return words + [f"{each[:1].upper()}{each[1:]}." for each in (*shown.notes, *shown.remarks)]


def charts_of(shown: Shown, measure: str | None = None) -> dict[str, str] | None:
    """Return the chart for wide and for narrow screens; None where no column is a number."""
    table = shown.drawable()
    if not table.measures:
        return None
    return {name: draw_chart(table, measure=measure, width=width).markup() for name, width in WIDTHS.items()}


# Two answers side by side.


@page_router.get("/datasets/{name}/compare")
async def compare(request: Request, visitor: Reader, name: str) -> Response:
    """Show two answers side by side, and which differences are more than noise."""
    dataset, asked = service_of(request).dataset(name), request.query_params
    pair, problem = [], ""
    for which in ("one", "other"):
        text = asked.get(which, "").strip()
        if text:
            number = int(text) if text.isascii() and text.isdigit() and len(text) < 18 else 0
            try:
                pair.append((await dataset.kept(visitor.person, number))[0])
            except DiscreetError as error:
                problem = f"Answer {text[:18]}: {error.message}"
    facts = None
    if len(pair) == 2 and pair[0].shown is not None and pair[1].shown is not None:
        try:
            work = partial(differences, pair[0].shown, pair[1].shown)
            facts = await service_of(request).executor.plan(work)
        except InvalidParameter as error:
            problem = error.message
    given = {which: asked.get(which, "")[:18] for which in ("one", "other")}
    return page(
        "compare.html", dataset=dataset, pair=pair, facts=facts, given=given, problem=problem, **visitor.frame
    )


def differences(one: Shown, other: Shown) -> dict[str, Any]:
    """Return, for each group of both answers, the difference of each shared number and its interval.

    Accuracy: both intervals hold at once with at least the sum of their confidences minus one, whatever ties
    the two noises together; then the difference is between the differences of opposite ends.
    """
    keys = one.drawable().keys
    shared = [name for name in one.measures if name in other.measures]
    if keys != other.drawable().keys or not shared:
        raise InvalidParameter(
            "two answers must have the same groups and at least one number of the same name to be compared."
        )
    found = {
        tuple(row[key] for key in keys): (row, ends)
        for row, ends in zip(other.rows, other.intervals, strict=True)
    }
    rows = []
    for row, ends in zip(one.rows, one.intervals, strict=True):
        label = tuple(row[key] for key in keys)
        if label in found:
            theirs, their_ends = found[label]
            cells = [_difference(row[n], ends[n], theirs[n], their_ends[n]) for n in shared]
            rows.append({"label": ", ".join(map(show_value, label)), "cells": cells})
    return {
        "keys": keys,
        "measures": shared,
        "rows": rows,
        "confidence": max(0.0, one.confidence + other.confidence - 1),
        "alone": len(one.rows) + len(other.rows) - 2 * len(rows),
    }


def _difference(one: Any, ends: Interval | None, other: Any, their_ends: Interval | None) -> dict[str, Any]:
    shown = {"one": cell_of(one, ends), "other": cell_of(other, their_ends), "margin": "", "real": None}
    if one is None or other is None or ends is None or their_ends is None:
        return {**shown, "text": "–"}
    apart = Interval(ends.lower - their_ends.upper, ends.upper - their_ends.lower)
    real = not apart.lower <= 0 <= apart.upper
    text = show_value(one - other, apart)
    return {**shown, "text": text, "margin": margin(one - other, apart), "real": real}


# Receipts: anyone may have one checked, by its signature; nothing is looked up.


@page_router.get("/receipts")
async def receipts(request: Request) -> Response:
    """Show the page that checks receipts, and this server's public key."""
    return _receipts_page(request)


@page_router.post("/receipts")
async def check(request: Request) -> Response:
    """Check a receipt that was pasted or sent."""
    if not _CHECKS.allows(request.client.host if request.client else ""):
        raise busy()
    text = _pasted(await read_body(request))
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        document = None
    try:
        checked = check_receipt(document, key=service_of(request).signer.key)
    except DiscreetError as error:
        return _receipts_page(request, text=text, problem=error.message, status=error.status)
    return _receipts_page(request, text=text, checked=checked)


@file_router.get("/receipts/key")
async def key(request: Request) -> Response:
    """Return the public key that receipts of this server are signed with."""
    return Response(service_of(request).signer.key + "\n", media_type="text/plain")


def _pasted(body: bytes) -> str:
    try:
        return dict(parse_qsl(body.decode("utf-8", "replace"), max_num_fields=2)).get("receipt", "")
    except ValueError:
        return ""


def _receipts_page(
    request: Request, *, text: str = "", checked: Any = None, problem: str = "", status: int = 200
) -> Response:
    key = service_of(request).signer.key
    price = price_words(checked.receipt["price"]) if checked is not None else ""
    return page(
        "receipts.html",
        status=status,
        key=key,
        short=fingerprint(key),
        text=text,
        checked=checked,
        price=price,
        problem=problem,
    )
