"""The watches page: open a watch, ask it questions, stop it. It needs no script."""

import secrets
from collections import defaultdict
from collections.abc import Mapping
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from discreet.apps.server.approvals import Approval
from discreet.apps.server.dataset import Dataset
from discreet.apps.server.journal import digest_of, note
from discreet.apps.server.pages.dataset_pages import gauge_of, sql_name
from discreet.apps.server.pages.rendering import page
from discreet.apps.server.pages.session_auth import Form, PageRoute, SignedIn, Visitor
from discreet.apps.server.request_bodies import WATCH_TERMS, form_numbers, read_question, read_watch
from discreet.apps.server.rest.bearer_auth import service_of
from discreet.errors import DiscreetError

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
) -> Response:
    return page(
        "watches.html",
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
