"""The watches page: see how sure a watch is, open it, ask it questions, stop it. It needs no script.

Tested by: tests/server/pages/test_watches.py
"""

import secrets
from collections import defaultdict
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from discreet.apps.server.approvals import Approval
from discreet.apps.server.dataset import Dataset
from discreet.apps.server.journal import digest_of, note
from discreet.apps.server.pages.dataset_pages import gauge_of
from discreet.apps.server.pages.question_builder import sql_name
from discreet.apps.server.pages.rendering import page
from discreet.apps.server.pages.session_auth import Form, PageRoute, SignedIn, Visitor
from discreet.apps.server.request_bodies import WATCH_TERMS, form_numbers, read_question, read_watch
from discreet.apps.server.rest.bearer_auth import service_of
from discreet.errors import DiscreetError, InvalidParameter
from discreet.kernel.numerics import readable_up

WAITS = "This price needs an owner\u2019s approval. Open the watch again once it is approved."

router = APIRouter(include_in_schema=False, route_class=PageRoute)


@router.get("/datasets/{name}/watches")
async def show(request: Request, visitor: SignedIn, name: str) -> Response:
    """Show the user's own watches in this process."""
    return await _show(service_of(request).dataset(name), visitor)


@router.post("/datasets/{name}/watches")
async def begin(request: Request, sent: Form, name: str) -> Response:
    """Open a watch."""
    dataset = _dataset(request, name)
    try:
        terms, key = read_watch(form_numbers(sent.fields, WATCH_TERMS)), sent.fields.get("key") or None
        if sent.fields.get("do") == "look":
            return await _show(
                dataset, sent.visitor, filled=sent.fields, margin=await _margin(dataset, sent.fields, terms)
            )
        opened = await dataset.open_watch(sent.visitor.person, terms, key=key)
    except DiscreetError as error:
        return await _show(dataset, sent.visitor, problem=error, filled=sent.fields)
    if isinstance(opened, Approval):
        return await _show(dataset, sent.visitor, waits=WAITS)
    return _back(name)


@router.post("/datasets/{name}/watches/{watch}/test")
async def test(request: Request, sent: Form, name: str, watch: str) -> Response:
    """Ask a watch its next question."""
    dataset = _dataset(request, name)
    try:
        question = read_question(sent.fields.get("sql"), service_of(request).limits)
        note(request, question=digest_of([question]))
        await dataset.test(sent.visitor.person, watch, question)
    except DiscreetError as error:
        return await _show(dataset, sent.visitor, problem=error, filled={**sent.fields, "watch": watch})
    return _back(name)


@router.post("/datasets/{name}/watches/{watch}/stop")
async def stop(request: Request, sent: Form, name: str, watch: str) -> Response:
    """Stop a watch."""
    _dataset(request, name).stop_watch(sent.visitor.person, watch)
    return _back(name)


async def _margin(dataset: Dataset, fields: Mapping[str, str], terms: Mapping[str, Any]) -> str:
    """Say how far off a count must be for a watch to be right, before it is paid for."""
    written = fields.get("questions", "").strip() or "20"
    if not (written.isascii() and written.isdigit() and len(written) < 7 and int(written)):
        raise InvalidParameter("questions must be a whole number from 1 to 999,999.", parameter="questions")
    far = readable_up(await dataset.look_at_watch(terms, questions=int(written)))
    return (
        f"With {written} questions, and in 95 of 100 cases, all answers are right about counts of people "
        f"that are {far} or more away from the threshold. A number that one person moves by k must be k "
        "times as far. Nothing was charged."
    )


def _dataset(request: Request, name: str) -> Dataset:
    note(request, dataset=name)
    return service_of(request).dataset(name)


def _back(name: str) -> Response:
    return RedirectResponse(f"/datasets/{quote(name, safe='')}/watches", status_code=303)


async def _show(
    dataset: Dataset,
    visitor: Visitor,
    *,
    problem: DiscreetError | None = None,
    filled: Mapping[str, str] | None = None,
    waits: str = "",
    margin: str = "",
) -> Response:
    return page(
        "watches.html",
        margin=margin,
        status=problem.status if problem else 202 if waits else 200,
        dataset=dataset,
        watches=dataset.watches(visitor.person),
        gauge=await gauge_of(dataset, visitor),
        example=f"SELECT COUNT(*) FROM {sql_name(dataset.policy.tables[0].name)}",  # noqa: S608  text to edit
        seconds=dataset.describe()["deadline_s"],
        problem=problem.message.splitlines()[0] if problem else "",  # the other lines underline plain text
        waits=waits,
        filled=defaultdict(str, filled or {}),
        key=secrets.token_hex(16),  # a form that is sent twice opens one watch
        **visitor.frame,
    )
