"""Watches: open one, see its rounds, ask the next, stop it. No script: forms, and a page for each answer."""

import re
import secrets
from collections import defaultdict
from collections.abc import Mapping
from decimal import Decimal
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from discreet.errors import DiscreetError, InvalidParameter
from discreet.server.approvals import Approval
from discreet.server.dataset import Dataset
from discreet.server.journal import digest_of, note
from discreet.server.pages.datasets import gauge_of, sql_name
from discreet.server.pages.rendering import page
from discreet.server.pages.session_auth import PageRoute, SessionAuth, Visitor
from discreet.server.request_bodies import WATCH_TERMS, read_question, read_watch
from discreet.tables import Policy

WAITS = "This price waits for an owner\u2019s word. Open the watch again once it is given."

_NUMBER = re.compile(r"-?[0-9]{0,400}\.?[0-9]{1,400}([eE][+-]?[0-9]{1,9})?")


def routes(auth: SessionAuth) -> APIRouter:
    """An analyst's own watches in this process."""
    router = APIRouter(include_in_schema=False, route_class=PageRoute)

    @router.get("/datasets/{name}/watches")
    async def every(request: Request, name: str) -> Response:
        visitor = await auth.admit(request)
        return await _show(auth.service.dataset(name), visitor)

    @router.post("/datasets/{name}/watches")
    async def begin(request: Request, name: str) -> Response:
        visitor, dataset, form = await _read(auth, request, name)
        try:
            key = form.get("key") or None
            opened = await dataset.open_watch(visitor.person, read_watch(_numbers(form)), key=key)
        except DiscreetError as error:
            return await _show(dataset, visitor, problem=error, filled=form)
        if isinstance(opened, Approval):
            return await _show(dataset, visitor, waits=WAITS)
        return _back(name)

    @router.post("/datasets/{name}/watches/{watch}/test")
    async def test(request: Request, name: str, watch: str) -> Response:
        visitor, dataset, form = await _read(auth, request, name)
        try:
            question = read_question(form.get("sql"), auth.service.limits)
            note(request.scope, question=digest_of([question]))
            await dataset.test(visitor.person, watch, question)
        except DiscreetError as error:
            return await _show(dataset, visitor, problem=error, filled={**form, "watch": watch})
        return _back(name)

    @router.post("/datasets/{name}/watches/{watch}/stop")
    async def stop(request: Request, name: str, watch: str) -> Response:
        visitor, dataset, _ = await _read(auth, request, name)
        dataset.stop_watch(visitor.person, watch)
        return _back(name)

    return router


async def _read(auth: SessionAuth, request: Request, name: str) -> tuple[Visitor, Dataset, Mapping[str, str]]:
    visitor = await auth.admit(request)
    form = await auth.form(request, expected=visitor.csrf)
    note(request.scope, dataset=name)
    return visitor, auth.service.dataset(name), form


def _numbers(form: Mapping[str, str]) -> dict[str, int | Decimal]:
    """The numbers of a form, exactly as they were written."""
    written = {name: form.get(name, "").strip() for name in WATCH_TERMS}
    for name, text in written.items():
        if text and not _NUMBER.fullmatch(text):
            raise InvalidParameter(f"{name} must be a number, got something else.", parameter=name)
    return {name: int(text) if text.isdigit() else Decimal(text) for name, text in written.items() if text}


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
        standing=await gauge_of(dataset, visitor),
        example=_example(dataset.policy),
        seconds=dataset.describe()["deadline_s"],
        problem=problem.message.splitlines()[0] if problem else "",  # the rest draws its place in plain text
        waits=waits,
        filled=defaultdict(str, filled or {}),
        key=secrets.token_hex(16),  # a form that is sent twice opens one watch
        **visitor.frame,
    )


def _example(policy: Policy) -> str:
    source = f"FROM {sql_name(policy.tables[0].name)}"
    return f"SELECT COUNT(*) {source}"
