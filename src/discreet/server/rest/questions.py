"""Routes of questions: data sets, explain, ask, watch."""

import json
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Request, Response

from discreet.answers import Answer, store
from discreet.server.approvals import Approval
from discreet.server.dataset import AskResult
from discreet.server.http_errors import as_json
from discreet.server.journal import digest_of
from discreet.server.people import Person
from discreet.server.refusals import after_the_charge
from discreet.server.request_bodies import WATCH_TERMS, read_ask, read_object, read_question, read_watch
from discreet.server.rest import schemas
from discreet.server.rest.bearer_auth import BearerAuth, noted
from discreet.server.service import Service

Key = Annotated[str | None, Header(alias="Idempotency-Key", min_length=1, max_length=200)]


def add_routes(routes: APIRouter, service: Service, auth: BearerAuth) -> None:
    """Add them to a router."""
    Admitted = Annotated[Person, Depends(auth.admit)]  # noqa: N806  a type, though a local one
    asked = schemas.body(schemas.ask(service.limits))
    unpaid = (400, 403, 413)

    @routes.post(
        "/api/datasets/{name}/explain",
        openapi_extra=asked,
        responses=schemas.replies(schemas.given(schemas.PLAN, "plans", "free"), *unpaid),
    )
    async def explain(request: Request, person: Admitted, name: str) -> Response:
        """The price and the expected error of a question, before anything is spent."""
        dataset = service.dataset(name)
        ask = read_ask(await auth.body(request), service.limits)
        noted(request, dataset=name, question=digest_of(ask.questions))
        plans = await dataset.explain(ask)
        free = await dataset.is_free(person, plans)
        shown = await service.executor.plan(lambda: [plan.to_json() for plan in plans])
        return as_json({"plans": shown, "free": free} if ask.is_list else {**shown[0], "free": free})

    @routes.post(
        "/api/datasets/{name}/ask",
        openapi_extra=asked,
        responses=schemas.replies(
            schemas.given(schemas.ANSWER, "answers", "charged"), *unpaid, also={202: schemas.WAITING}
        ),
    )
    async def ask(request: Request, person: Admitted, name: str, key: Key = None) -> Response:
        """A private answer, with its intervals and its receipt. Charged before any data is read."""
        dataset = service.dataset(name)
        ask = read_ask(await auth.body(request), service.limits)
        noted(request, dataset=name, question=digest_of(ask.questions))
        given = await dataset.ask(person, ask, key=key)
        if isinstance(given, Approval):
            return _waiting(given)
        noted(request, charge=given.charge, charged=given.charged)
        with after_the_charge():
            return await service.executor.look(lambda: as_json(_answers(given, as_list=ask.is_list)))

    @routes.post(
        "/api/datasets/{name}/watch",
        status_code=201,
        openapi_extra=schemas.body(schemas.WATCH),
        responses=schemas.replies(
            schemas.record({"watch": schemas.TEXT}), *unpaid, status=201, also={202: schemas.WAITING}
        ),
    )
    async def watch(request: Request, person: Admitted, name: str, key: Key = None) -> Response:
        """Open a watch, charged whole. It lives in this process, and ends with it."""
        dataset = service.dataset(name)
        terms = read_watch(read_object(await auth.body(request), set(WATCH_TERMS)))
        noted(request, dataset=name)
        opened = await dataset.open_watch(person, terms, key=key)
        return _waiting(opened) if isinstance(opened, Approval) else as_json({"watch": opened}, status=201)

    @routes.get(
        "/api/datasets/{name}/watch",
        responses=schemas.replies(schemas.record({"watches": schemas.many(schemas.OPEN_WATCH)})),
    )
    async def watches(person: Admitted, name: str) -> Response:
        """One's own watches in this process: what was asked of each, and what it said."""
        return as_json({"watches": service.dataset(name).watches(person)})

    @routes.delete(
        "/api/datasets/{name}/watch/{watch}",
        responses=schemas.replies(schemas.record({"stopped": schemas.TEXT})),
    )
    async def stop(request: Request, person: Admitted, name: str, watch: str) -> Response:
        """End one's watch. What it cost stays charged."""
        service.dataset(name).stop_watch(person, watch)
        noted(request, dataset=name)
        return as_json({"stopped": watch})

    @routes.post(
        "/api/datasets/{name}/watch/{watch}/test",
        openapi_extra=schemas.body(schemas.TEST),
        responses=schemas.replies(schemas.record({"above": schemas.FLAG, "finished": schemas.FLAG}), *unpaid),
    )
    async def test(request: Request, person: Admitted, name: str, watch: str) -> Response:
        """Whether a COUNT or SUM is above the watch's threshold, by its noise."""
        dataset = service.dataset(name)
        facts = read_object(await auth.body(request), {"sql"})
        question = read_question(facts.get("sql"), service.limits)
        noted(request, dataset=name, question=digest_of([question]))
        above, finished = await dataset.test(person, watch, question)
        return as_json({"above": above, "finished": finished})


def _answers(given: AskResult, *, as_list: bool) -> dict[str, Any]:
    shown = [_answer(answer) for answer in given.answers]
    return {"answers": shown, "charged": given.charged} if as_list else shown[0]


def _answer(answer: Answer) -> dict[str, Any]:
    types = {name: expression.type for name, expression in answer.plan.question.columns}
    (stored,) = json.loads(store([answer]))["answers"]
    return {
        **answer.to_json(),
        "types": types,
        "released": stored["sets"],
        "bounds": stored.get("bounds"),
    }


def _waiting(approval: Approval) -> Response:
    return as_json({"approval": approval.id, "state": approval.state}, status=202)
