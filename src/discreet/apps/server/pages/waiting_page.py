"""Questions that wait for an owner: what is asked, why, at what price and error; never what it would say.

Tested by: tests/server/pages/test_waiting.py
"""

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from discreet.apps.server.approvals import LONGEST_REASON, Approval
from discreet.apps.server.dataset import Dataset
from discreet.apps.server.journal import note
from discreet.apps.server.pages.ask_page import say_errors
from discreet.apps.server.pages.dataset_pages import gauge_of
from discreet.apps.server.pages.gauge import SYMBOLS, BudgetGauge, cost_of_plan, down, price_words
from discreet.apps.server.pages.rendering import page
from discreet.apps.server.pages.session_auth import Form, OwnerForm, PageRoute, SignedIn, Visitor
from discreet.apps.server.people import Person
from discreet.apps.server.request_bodies import AskRequest
from discreet.apps.server.rest.bearer_auth import service_of
from discreet.errors import DiscreetError, InvalidParameter

SHOWN = 100  # decided questions on the page

router = APIRouter(include_in_schema=False, route_class=PageRoute)


@router.get("/datasets/{name}/waiting")
async def waiting(request: Request, visitor: SignedIn, name: str) -> Response:
    """Show the questions that waited or wait: all to an owner, an analyst's own otherwise."""
    dataset = service_of(request).dataset(name)
    every = list(reversed(await dataset.approvals(visitor.person)))
    facts = [await _facts(dataset, visitor, each) for each in every[:SHOWN]]
    return page(
        "waiting.html",
        dataset=dataset,
        waiting=[each for each in facts if each["state"] == "waiting"],
        decided=[each for each in facts if each["state"] != "waiting"],
        longest=LONGEST_REASON,
        **visitor.frame,
    )


@router.post("/datasets/{name}/waiting/{approval}/reason")
async def reason(request: Request, sent: Form, name: str, approval: str) -> Response:
    """Keep why the asker needs the answer."""
    note(request, dataset=name, approval=approval[:32])
    text = read_reason(sent.fields)
    await service_of(request).dataset(name).give_reason(sent.visitor.person, approval, text)
    return _back(name)


@router.post("/owner/datasets/{name}/approvals/{approval}")
async def decide(request: Request, sent: OwnerForm, name: str, approval: str) -> Response:
    """Approve or deny a waiting question."""
    decision = sent.fields.get("decision")
    if decision not in ("approved", "denied"):
        raise InvalidParameter("decision must be approved or denied.", parameter="decision")
    note(request, dataset=name, approval=approval[:32], decision=decision)
    text = read_reason(sent.fields) if sent.fields.get("reason", "").strip() else ""
    dataset = service_of(request).dataset(name)
    await dataset.decide(sent.visitor.person, approval, decision, reason=text)  # type: ignore[arg-type]
    return _back(name)


def read_reason(fields: Mapping[str, str]) -> str:
    """Read the reason that a form gives."""
    text = " ".join(fields.get("reason", "").split())
    if not 0 < len(text) <= LONGEST_REASON or not text.isprintable():
        raise InvalidParameter(f"reason must be 1 to {LONGEST_REASON} characters.", parameter="reason")
    return text


def _back(name: str) -> Response:
    return RedirectResponse(f"/datasets/{quote(name, safe='')}/waiting", status_code=303)


async def _facts(dataset: Dataset, visitor: Visitor, approval: Approval) -> dict[str, Any]:
    price = json.loads(approval.price)
    facts = {
        **approval.to_json(),
        "price": price_words(price),
        "reasons": {"asker": "", "owner": "", **await dataset.reasons(approval.id)},
        "again": _address(dataset.name, approval, price),
        "errors": [],
        "after": "",
    }
    if approval.state != "waiting":
        return facts
    terms = {name: Fraction(number) for name, number in price.items() if name in ("epsilon", "delta", "rho")}
    try:
        (plan,) = await dataset.explain(AskRequest(approval.question, terms))
        cost = await dataset.plan_public(lambda _: cost_of_plan(plan))
    except DiscreetError:  # a watch, or several questions at once: their errors are not known here
        return facts
    asker = Visitor(Person(approval.person, "analyst"), "") if visitor.person.is_owner else visitor
    gauge = await gauge_of(dataset, asker)
    return {**facts, "errors": say_errors(plan), "after": _effect(gauge, cost)}


def _effect(gauge: BudgetGauge, cost: dict[str, Fraction]) -> str:
    left = gauge.remaining[gauge.measure]
    after = left - cost.get(gauge.measure, Fraction(0))
    symbol = SYMBOLS[gauge.measure]
    if after < 0:
        return f"more than is left: {symbol} {down(left)}"
    return f"{symbol} {down(left)} is left before, {down(after)} after"


def _address(name: str, approval: Approval, price: dict[str, str]) -> str:
    kind = next((each for each in ("epsilon", "rho") if each in price), "")
    asked = urlencode({"sql": approval.question, "kind": kind, "amount": price.get(kind, "")})
    return f"/datasets/{quote(name, safe='')}/ask?{asked}"
