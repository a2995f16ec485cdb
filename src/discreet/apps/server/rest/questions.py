"""Routes that ask: explain, ask, and watches."""

import math
from collections.abc import Mapping
from fractions import Fraction
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
    BookRequest,
    read_ask,
    read_book,
    read_object,
    read_question,
    read_watch,
)
from discreet.apps.server.rest import schemas
from discreet.apps.server.rest.bearer_auth import Admitted, Owner, read_body, service_of
from discreet.apps.server.rest.schemas import many, record, replies
from discreet.apps.server.service import Service
from discreet.asking.answers import Answer, bounds_of, measured, released
from discreet.kernel.numerics import short_down, short_up

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
    body = schemas.body(schemas.book(limits))
    plan = {**schemas.PLAN, "properties": {**schemas.PLAN["properties"], "free": schemas.FLAG}}
    plan["required"] = [*plan["required"], "free"]
    waiting = replies(schemas.BOOK, *UNPAID, also={202: schemas.WAITING})
    for path, made, responses in (
        ("book/explain", explain_book, replies(plan, *UNPAID)),
        ("book", book, waiting),
    ):
        router.add_api_route(
            f"/api/datasets/{{name}}/{path}", made, methods=["POST"], openapi_extra=body, responses=responses
        )
    return router


async def explain_book(request: Request, person: Admitted, name: str) -> Response:
    """Return the price of a book and the error of each table, before anything is spent."""
    dataset, asked = await _read_book(request, name)
    plan = await dataset.explain_book(asked)
    free = await dataset.is_free(person, (plan,))
    return as_json({**await service_of(request).executor.plan(plan.to_json), "free": free})


async def book(request: Request, person: Admitted, name: str, key: Key = None) -> Response:
    """Return a book of tables that add up, with the error of each and one receipt."""
    dataset, asked = await _read_book(request, name)
    found = await dataset.book(person, asked, key=key)
    if isinstance(found, Approval):
        return _waiting(found)
    note(request, charge=int(found.receipt.facts["charge"]), charged=found.charged)
    with after_the_charge():
        executor = service_of(request).executor
        return await executor.use_ledger(lambda: as_json({**found.to_json(), "released": measured(found)}))


async def _read_book(request: Request, name: str) -> tuple[Dataset, BookRequest]:
    service = service_of(request)
    dataset, asked = service.dataset(name), read_book(await read_body(request), service.limits)
    note(request, dataset=name, question=digest_of([asked.body.decode()]))
    return dataset, asked


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
    return {
        **answer.to_json(),
        "types": dict(answer.types),
        "released": released(answer),
        "bounds": bounds_of(answer.plan).get("bounds"),
    }


def _waiting(approval: Approval) -> Response:
    return as_json({"approval": approval.id, "state": approval.state}, status=202)


# Read-only routes: data sets, budgets, histories, receipts, approvals; the health check and the
# metrics.

read_router = APIRouter()
_LISTED = record({"name": schemas.TEXT, "version": schemas.TEXT, "tables": many(schemas.TEXT)})
_OK = {"content": {"application/json": {"schema": record({"status": schemas.TEXT})}}}
_SIDES = {"spent": short_up, "budget": short_down}  # round to the safe side


@read_router.get("/health", responses={200: _OK})
async def health() -> Response:
    """Say that the process responds. Nothing else is checked, and anyone may ask."""
    return as_json({"status": "ok"})


@read_router.get(
    "/metrics",
    responses={
        200: {"content": {"text/plain": {"schema": schemas.TEXT}}},
        **{code: schemas.reply(code, schemas.ERROR) for code in (401, 403, 409, 429)},
    },
)
async def metrics(request: Request, _: Owner) -> Response:
    """Return counts of requests and the budget spent, for owners; nothing about the data."""
    return Response(await metrics_text(service_of(request)), media_type="text/plain; version=0.0.4")


@read_router.get("/api/datasets", responses=replies(record({"datasets": many(_LISTED)})))
async def datasets(request: Request, _: Admitted) -> Response:
    """List the data sets of this server."""
    every = [
        {"name": each.name, "version": each.policy.version, "tables": list(each.policy.table_names)}
        for each in service_of(request).datasets.values()
    ]
    return as_json({"datasets": every})


@read_router.get("/api/datasets/{name}", responses=replies({"type": "object", "required": ["id"]}))
async def dataset(request: Request, _: Admitted, name: str) -> Response:
    """Describe what may be asked of a data set: its policy, all of which is public."""
    return as_json(service_of(request).dataset(name).describe())


@read_router.get("/api/datasets/{name}/budget", responses=replies(schemas.BUDGET))
async def budget(request: Request, person: Admitted, name: str) -> Response:
    """Return what this user may still spend; for an owner, also every account."""
    facts = await service_of(request).dataset(name).budget(person)
    exact = {part: facts[part] for part in ("budget", "remaining")}
    return as_json({**facts, **{part: _numbers(notion) for part, notion in exact.items()}, "exact": exact})


@read_router.get("/api/datasets/{name}/history", responses=replies(record({"history": many(schemas.RECORD)})))
async def history(request: Request, person: Admitted, name: str) -> Response:
    """Return an analyst's own charges, or everything for an owner."""
    return as_json({"history": await service_of(request).dataset(name).history(person)})


@read_router.get(
    "/api/datasets/{name}/receipts/{charge}", responses=replies(record({"receipts": many(schemas.RECEIPT)}))
)
async def receipts(request: Request, person: Admitted, name: str, charge: str) -> Response:
    """Return the receipts of an answered charge: an analyst's own, or any for an owner."""
    return as_json({"receipts": await service_of(request).dataset(name).receipts(person, charge)})


@read_router.get(
    "/api/datasets/{name}/approvals", responses=replies(record({"approvals": many(schemas.APPROVAL)}))
)
async def approvals(request: Request, person: Admitted, name: str) -> Response:
    """Return the questions that needed approval: an analyst's own, or all for an owner."""
    found = await service_of(request).dataset(name).approvals(person)
    return as_json({"approvals": [each.to_json() for each in found]})


async def metrics_text(service: Service) -> str:
    """Return counts of requests and the ledger's numbers, in Prometheus' text format; never a duration."""
    lines = ["# TYPE discreet_requests_total counter"]
    for (method, route, status), count in sorted(service.journal.counts().items()):
        labels = f'method="{method}",route="{route}",status="{status}"'
        lines.append(f"discreet_requests_total{{{labels}}} {count}")
    lines += ["# TYPE discreet_spent gauge", "# TYPE discreet_budget gauge"]
    for each in service.datasets.values():
        for kind, notion in (await each.spending()).items():
            for measure in schemas.MEASURES:
                if hasattr(notion, measure):
                    labels = f'dataset="{_escaped(each.name)}",measure="{measure}"'
                    lines.append(f"discreet_{kind}{{{labels}}} {_SIDES[kind](getattr(notion, measure))}")
    return "\n".join(lines) + "\n"


def _escaped(label: str) -> str:
    return label.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _numbers(notion: Mapping[str, str]) -> dict[str, float]:
    """Return a notion's numbers as JSON can hold them, rounded down where a double is not exact."""
    exact = {name: Fraction(text) for name, text in notion.items() if name not in ("notion", "relation")}
    return {name: _round_down(number) for name, number in exact.items()}


def _round_down(number: Fraction) -> float:
    nearest = float(number)
    return nearest if Fraction(repr(nearest)) == number else math.nextafter(nearest, -math.inf)
