"""The ask page: price and expected error while a question is written, and the answer when it is asked.

It uses the data set's own `explain` and `ask`, as REST does, with the same deadline and the same charge.
"""

import secrets
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from discreet.apps.server.approvals import Approval
from discreet.apps.server.dataset import Dataset
from discreet.apps.server.http_errors import after_the_charge, as_json, busy
from discreet.apps.server.journal import digest_of, note
from discreet.apps.server.limits import Rate
from discreet.apps.server.pages.answer_page import charts_of, said
from discreet.apps.server.pages.dataset_pages import describe, examples, gauge_of
from discreet.apps.server.pages.gauge import SYMBOLS, cost_of_plan, odds_of, price_of_plan, price_words, up
from discreet.apps.server.pages.question_builder import building_blocks, sql_name, sql_value
from discreet.apps.server.pages.rendering import WIDTHS, cell_of, page
from discreet.apps.server.pages.session_auth import (
    PageRoute,
    SignedIn,
    Visitor,
    check_csrf,
    read_form,
)
from discreet.apps.server.request_bodies import (
    AskRequest,
    form_numbers,
    read_ask,
    read_question,
)
from discreet.apps.server.rest.bearer_auth import read_body, service_of
from discreet.asking.answers import Answer
from discreet.asking.dry_run import Belief, columns_to_draw, draw_dry_runs, rehearse_often, say_effects
from discreet.asking.planning import Plan
from discreet.asking.policy import Policy, PublicTable, Table
from discreet.errors import DiscreetError, InvalidParameter, PolicyViolation, UnsupportedQuery
from discreet.kernel.numerics import readable_up

AGGREGATES = ("COUNT", "SUM", "AVG", "MEDIAN", "QUANTILE", "MIN", "MAX", "MODE", "VARIANCE", "STDDEV")
KEYWORDS = (
    "SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "HAVING", "LIMIT", "AS", "AND", "OR", "NOT", "IN",
    "BETWEEN", "LIKE", "IS NULL", "DISTINCT", "DESC", "JOIN", "LEFT JOIN", "ON", "CASE", "WHEN", "THEN",
    "ELSE", "END", "CAST", "COALESCE", "ABS", "ROUND", "FLOOR", "CEIL", "LOWER", "UPPER", "LENGTH", "SUBSTR",
    "EXTRACT", "DATE_TRUNC", "WIDTH_BUCKET", "FILTER",
)  # fmt: skip
MOST_KEYS = 200  # of a column, offered as completions
MOST_ROWS = 2000  # of an answer, shown on the page
DRAWS, MOST_TRIED = 30, 3  # of a dry run: draws of the noise, and columns
MOST_DRAWN = 6_000  # cells of all draws together, which take a planner a second or two
TRIED = {"wide": 560.0, "narrow": WIDTHS["narrow"]}  # of its pictures, in pixels
_DRY_RUNS = Rate(0.5, holds=5)  # of one user: each takes a second of a planner, and people try a few in a row


FIELDS = ("sql", "kind", "amount", "confidence")  # of the form, and of an address that fills it in
WAITS_TO_ASK = (
    "This price needs an owner\u2019s approval. The question waits: ask it again once it is approved."
)

page_router = APIRouter(include_in_schema=False, route_class=PageRoute)
json_router = APIRouter(include_in_schema=False)  # what the page's script calls; errors are JSON


@page_router.get("/datasets/{name}/ask")
async def ask_page(request: Request, visitor: SignedIn, name: str) -> Response:
    """Show the page, filled in as the address says."""
    filled = {field: request.query_params.get(field, "") for field in FIELDS}
    return await _show_ask(service_of(request).dataset(name), visitor, filled)


async def _show_ask(
    dataset: Dataset,
    visitor: Visitor,
    filled: Mapping[str, str],
    *,
    problem: DiscreetError | None = None,
    waits: str = "",
    looked: Mapping[str, Any] | None = None,
) -> Response:
    above = dataset.describe()["approve_above"]
    public = await dataset.plan_public(_public_parts)
    return page(
        "ask.html",
        status=problem.status if problem else 202 if waits else 200,
        dataset=dataset,
        gauge=await gauge_of(dataset, visitor),
        **public,
        looked=looked,
        filled={field: filled.get(field, "") for field in FIELDS},
        key=secrets.token_hex(16),
        problem=problem.message if problem else "",
        waits=waits,
        approve_above=price_words(above) if above and not visitor.person.is_owner else "",
        **visitor.frame,
    )


def _public_parts(policy: Policy) -> dict[str, Any]:
    return {
        "examples": examples(policy),
        "tables": describe(policy),
        "completions": completions(policy),
        "blocks": building_blocks(policy),
    }


async def _ask_by_form(request: Request, visitor: Visitor, name: str) -> Response:
    """Ask what a form sent without a script says, and go to the answer's own page."""
    fields = await read_form(request, csrf=visitor.csrf)
    service = service_of(request)
    dataset, kind = service.dataset(name), fields.get("kind", "")
    try:
        if kind not in ("epsilon", "rho", "within"):
            raise InvalidParameter("kind must be epsilon, rho or within.", parameter="kind")
        numbers = form_numbers({kind: fields.get("amount", ""), **fields}, (kind, "confidence"))
        if kind not in numbers:
            raise InvalidParameter("How much must be a number above 0, got nothing.", parameter="amount")
        question = read_question(fields.get("sql"), service.limits)
        note(request, dataset=name, question=digest_of([question]))
        asked = AskRequest(question, numbers)
        if fields.get("do") in ("look", "try"):
            looked = await _look(dataset, visitor, asked, tries=fields["do"] == "try")
            return await _show_ask(dataset, visitor, fields, looked=looked)
        result = await dataset.ask(visitor.person, asked, key=fields.get("key") or None)
    except DiscreetError as error:
        return await _show_ask(dataset, visitor, fields, problem=error)
    if isinstance(result, Approval):
        return await _show_ask(dataset, visitor, fields, waits=WAITS_TO_ASK)
    return RedirectResponse(f"/datasets/{quote(name, safe='')}/answers/{result.charge}", status_code=303)


@page_router.get("/datasets/{name}/receipts/{charge}")
async def receipt(request: Request, visitor: SignedIn, name: str, charge: str) -> Response:
    """Download the receipts of a charge."""
    receipts = await service_of(request).dataset(name).receipts(visitor.person, charge)
    kept = {"content-disposition": f'attachment; filename="receipt-{int(charge)}.json"'}
    return as_json({"receipts": receipts}, headers=kept)


@json_router.post("/datasets/{name}/explain")
async def explain(request: Request, visitor: SignedIn, name: str) -> Response:
    """Return the price and expected error of a question, or why it is refused."""
    dataset, asked = await _read(request, visitor, name)
    try:
        return as_json(await _look(dataset, visitor, asked, tries=False))
    except (UnsupportedQuery, InvalidParameter, PolicyViolation) as error:
        # A half-written question is not a failed request.
        return as_json({"refused": {"message": error.message, "place": error.fields.get("place")}})


@json_router.post("/datasets/{name}/dry-run")
async def dry_run(request: Request, visitor: SignedIn, name: str) -> Response:
    """Return how a question may look, drawn many times on invented people; nothing is charged."""
    dataset, asked = await _read(request, visitor, name)
    return as_json({"tried": await _try(dataset, visitor, asked)})


async def _look(dataset: Dataset, visitor: Visitor, asked: AskRequest, *, tries: bool) -> dict[str, Any]:
    """Return what is known of a question before it is asked."""
    (plan,) = plans = await dataset.explain(asked)
    cost = await dataset.plan_public(lambda _: cost_of_plan(plan))
    gauge = await gauge_of(dataset, visitor)
    odds = await dataset.plan_public(lambda _: [odds_of(plan), gauge.odds])
    return {
        "free": await dataset.is_free(visitor.person, plans),
        "price": _shown(price_of_plan(plan)),
        "cost": _shown(cost),
        "sentences": plan.sentences(),
        "errors": say_errors(plan),
        "gauge": gauge.parts(cost),
        "seconds": dataset.seconds(plans),
        "waits": dataset.waits(visitor.person, plans),
        "odds": odds,
        "tried": await _try(dataset, visitor, asked) if tries else [],
    }


def say_errors(plan: Plan) -> list[dict[str, str]]:
    """Say how far each number may be from the bounded truth, or what a choice may miss."""
    share = f"in {float(100 * plan.confidence):.6g} of 100 cases"
    lines = []
    for name, error in plan.errors.items():
        text, of = "not known beforehand", _remedy(plan)
        if error is not None:
            text, of = f"± {readable_up(error)}", f"of the bounded truth, {share}"
        elif name in plan.missed:
            text, of = "chosen by noise:", f"{plan.missed[name]}, {share}"
        lines.append({"name": name, "text": text, "of": of})
    return lines


def _remedy(plan: Plan) -> str:
    """Say what would make an error known."""
    if any(table.limit == "auto" for table in plan.policy.tables):
        return "The limit is found first: see it on invented people."
    return "" if plan.policy.population else "The owner has not stated how many people there are."


async def _try(dataset: Dataset, visitor: Visitor, asked: AskRequest) -> list[dict[str, str]]:
    if not _DRY_RUNS.allows(visitor.person.name):
        raise busy()
    (plan,) = await dataset.explain(asked)
    return await dataset.plan_public(partial(draw_tried, plan))


def draw_tried(plan: Plan, policy: Policy) -> list[dict[str, str]]:
    """Draw how a question may look, many times, on invented people: fewer times for many cells."""
    times = min(DRAWS, MOST_DRAWN // max(1, plan.work.cells))
    if times == 0:  # too many groups for a picture
        return []
    belief = Belief.read(people=None, rows=None, beyond=Fraction(1, 100), policy=policy)
    runs = rehearse_often(replace(plan, after=None), belief, times=times)
    return [
        {
            "column": column,
            "says": say_effects(runs, column),
            **{name: draw_dry_runs(runs, column, width=width).markup() for name, width in TRIED.items()},
        }
        for column in columns_to_draw(runs[0])[:MOST_TRIED]
    ]


@json_router.post("/datasets/{name}/ask")
async def ask(request: Request, visitor: SignedIn, name: str) -> Response:
    """Ask a question, and return its answer as a table and a chart."""
    if request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        return await _ask_by_form(request, visitor, name)
    dataset, asked = await _read(request, visitor, name)
    result = await dataset.ask(visitor.person, asked, key=request.headers.get("idempotency-key"))
    if isinstance(result, Approval):
        return as_json({"waiting": result.to_json()}, status=202)
    (answer,) = result.answers
    with after_the_charge():
        return as_json(
            {
                "charge": result.charge,
                "charged": result.charged,
                "price": price_words(answer.receipt.facts["price"]),
                **await dataset.plan_public(
                    lambda _: {"table": table_of(answer), "chart": charts_of(answer.shown)}
                ),
                "gauge": (await gauge_of(dataset, visitor)).parts({}),
            }
        )


def _shown(parts: Mapping[str, Fraction]) -> dict[str, str]:
    return {SYMBOLS.get(name, "δ"): up(part) for name, part in parts.items()}


async def _read(request: Request, visitor: Visitor, name: str) -> tuple[Dataset, AskRequest]:
    """Check the CSRF token, and read one question."""
    check_csrf(request.headers.get("x-csrf", ""), visitor.csrf)
    service = service_of(request)
    dataset, asked = service.dataset(name), read_ask(await read_body(request), service.limits)
    if asked.is_list:
        raise InvalidParameter("sql must be one question on this page, got a list.", parameter="sql")
    note(request, dataset=name, question=digest_of(asked.questions))
    return dataset, asked


def completions(policy: Policy) -> list[dict[str, str]]:
    """Return the completions: tables, columns, public labels, aggregates and keywords."""
    found: dict[str, str] = {}
    every: tuple[Table | PublicTable, ...] = (*policy.tables, *policy.public)
    for table in every:
        found.setdefault(sql_name(table.name), "table")
        for column in table.columns:
            found.setdefault(sql_name(column.name), column.type)
            for key in (column.keys or ())[:MOST_KEYS]:
                found.setdefault(sql_value(key, column.type), f"key of {column.name}")
    found.update(dict.fromkeys(AGGREGATES, "aggregate"))
    found.update({text: "keyword" for text in KEYWORDS if text not in found})
    return [{"text": text, "kind": kind} for text, kind in found.items()]


def table_of(answer: Answer) -> dict[str, Any]:
    """Return the released table as text: each value, and ± its interval where it has one."""
    rows = [
        [cell_of(row[column], ends[column]) for column in answer.columns]
        for row, ends in zip(answer.rows[:MOST_ROWS], answer.intervals[:MOST_ROWS], strict=True)
    ]
    return {
        "columns": list(answer.columns),
        "rows": rows,
        "left_out": max(0, len(answer.rows) - MOST_ROWS),
        "says": said(answer.shown),
    }
