"""Routes that ask: explain, ask, and watches."""

import json
from typing import Annotated, Any, TypeAlias

from fastapi import APIRouter, Header, Request, Response

from discreet.apps.server.approvals import Approval
from discreet.apps.server.dataset import AskResult, Dataset
from discreet.apps.server.http_errors import after_the_charge, as_json
from discreet.apps.server.journal import digest_of, note
from discreet.apps.server.limits import Limits
from discreet.apps.server.request_bodies import (
    WATCH_TERMS,
    AskRequest,
    read_ask,
    read_object,
    read_question,
    read_watch,
)
from discreet.apps.server.rest import schemas
from discreet.apps.server.rest.bearer_auth import Admitted, read_body, service_of
from discreet.apps.server.rest.schemas import many, record, replies
from discreet.asking.answers import Answer, store

Key: TypeAlias = Annotated[str | None, Header(alias="Idempotency-Key", min_length=1, max_length=200)]
UNPAID = (400, 403, 413)

watch_router = APIRouter()


def ask_router(limits: Limits) -> APIRouter:
    """Return the routes of ask and explain; the limits are part of their schema."""
    router, body = APIRouter(), schemas.body(schemas.ask(limits))
    plans = replies(schemas.one_or_many(schemas.PLAN, "plans", "free"), *UNPAID)
    answers = schemas.one_or_many(schemas.ANSWER, "answers", "charged")
    waiting = replies(answers, *UNPAID, also={202: schemas.WAITING})
    for path, route, responses in (("explain", explain, plans), ("ask", ask, waiting)):
        router.add_api_route(
            f"/api/datasets/{{name}}/{path}", route, methods=["POST"], openapi_extra=body, responses=responses
        )
    return router


async def explain(request: Request, person: Admitted, name: str) -> Response:
    """Return the price and the expected error of a question, before anything is spent."""
    dataset, ask = await _read_ask(request, name)
    plans = await dataset.explain(ask)
    free = await dataset.is_free(person, plans)
    shown = await service_of(request).executor.plan(lambda: [plan.to_json() for plan in plans])
    return as_json({"plans": shown, "free": free} if ask.is_list else {**shown[0], "free": free})


async def ask(request: Request, person: Admitted, name: str, key: Key = None) -> Response:
    """Return a private answer with its intervals and its receipt. Charged before any data is read."""
    dataset, asked = await _read_ask(request, name)
    result = await dataset.ask(person, asked, key=key)
    if isinstance(result, Approval):
        return _waiting(result)
    note(request, charge=result.charge, charged=result.charged)
    with after_the_charge():
        executor = service_of(request).executor
        return await executor.use_ledger(lambda: as_json(_answers(result, as_list=asked.is_list)))


@watch_router.post(
    "/api/datasets/{name}/watch",
    status_code=201,
    openapi_extra=schemas.body(schemas.WATCH),
    responses=replies(record({"watch": schemas.TEXT}), *UNPAID, status=201, also={202: schemas.WAITING}),
)
async def watch(request: Request, person: Admitted, name: str, key: Key = None) -> Response:
    """Open a watch, charged in full. It exists in this process, and ends with it."""
    dataset = service_of(request).dataset(name)
    terms = read_watch(read_object(await read_body(request), set(WATCH_TERMS)))
    note(request, dataset=name)
    opened = await dataset.open_watch(person, terms, key=key)
    return _waiting(opened) if isinstance(opened, Approval) else as_json({"watch": opened}, status=201)


@watch_router.get(
    "/api/datasets/{name}/watch", responses=replies(record({"watches": many(schemas.OPEN_WATCH)}))
)
async def watches(request: Request, person: Admitted, name: str) -> Response:
    """Return your own watches in this process, with their questions and answers."""
    return as_json({"watches": service_of(request).dataset(name).watches(person)})


@watch_router.delete(
    "/api/datasets/{name}/watch/{watch}", responses=replies(record({"stopped": schemas.TEXT}))
)
async def stop(request: Request, person: Admitted, name: str, watch: str) -> Response:
    """Close your watch. Its charge stays."""
    service_of(request).dataset(name).stop_watch(person, watch)
    note(request, dataset=name)
    return as_json({"stopped": watch})


@watch_router.post(
    "/api/datasets/{name}/watch/{watch}/test",
    openapi_extra=schemas.body(schemas.TEST),
    responses=replies(record({"above": schemas.FLAG, "finished": schemas.FLAG}), *UNPAID),
)
async def test(request: Request, person: Admitted, name: str, watch: str) -> Response:
    """Return whether a COUNT or SUM is above the watch's threshold, with noise."""
    service = service_of(request)
    dataset, facts = service.dataset(name), read_object(await read_body(request), {"sql"})
    question = read_question(facts.get("sql"), service.limits)
    note(request, dataset=name, question=digest_of([question]))
    above, finished = await dataset.test(person, watch, question)
    return as_json({"above": above, "finished": finished})


async def _read_ask(request: Request, name: str) -> tuple[Dataset, AskRequest]:
    service = service_of(request)
    dataset, ask = service.dataset(name), read_ask(await read_body(request), service.limits)
    note(request, dataset=name, question=digest_of(ask.questions))
    return dataset, ask


def _answers(result: AskResult, *, as_list: bool) -> dict[str, Any]:
    shown = [_answer(answer) for answer in result.answers]
    return {"answers": shown, "charged": result.charged} if as_list else shown[0]


def _answer(answer: Answer) -> dict[str, Any]:
    (stored,) = json.loads(store([answer]))["answers"]
    return {
        **answer.to_json(),
        "types": dict(answer.types),
        "released": stored["sets"],
        "bounds": stored.get("bounds"),
    }


def _waiting(approval: Approval) -> Response:
    return as_json({"approval": approval.id, "state": approval.state}, status=202)
