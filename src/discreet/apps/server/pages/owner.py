"""The owner page: users and tokens, budgets, the policy, approvals, and releases to review."""

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from discreet.apps.server.journal import note
from discreet.apps.server.pages.dataset_pages import describe, newest_first
from discreet.apps.server.pages.gauge import NUMBERS, BudgetGauge, numbers_of
from discreet.apps.server.pages.rendering import page
from discreet.apps.server.pages.session_auth import OwnerForm, OwnerSignedIn, PageRoute, Visitor
from discreet.apps.server.people import DAYS
from discreet.apps.server.request_bodies import form_numbers
from discreet.apps.server.rest.bearer_auth import service_of
from discreet.apps.server.service import Service
from discreet.errors import DiscreetError, InvalidParameter

LATEST = 10  # releases of each data set, to review

router = APIRouter(include_in_schema=False, route_class=PageRoute)


@router.get("/owner")
async def owner(request: Request, visitor: OwnerSignedIn) -> Response:
    """Show the page."""
    return await _show(service_of(request), visitor)


@router.post("/owner/people")
async def add(request: Request, sent: OwnerForm) -> Response:
    """Add a user, and show the first token."""
    service, form = service_of(request), sent.fields
    name, role = form.get("name", "").strip(), form.get("role", "")
    note(request, added=name[:64], role=role[:16])
    try:
        days = _days(form.get("days", ""))
        token = await service.executor.use_people(service.people.add, name, role, days=days)
    except DiscreetError as error:
        return await _show(service, sent.visitor, problem=error)
    return await _show(service, sent.visitor, token=token, of=name)


@router.post("/owner/people/{name}/token")
async def another(request: Request, sent: OwnerForm, name: str) -> Response:
    """Create another token for a user, and show it."""
    service = service_of(request)
    service.check_known(name)
    note(request, of=name)
    token = await service.executor.use_people(service.people.new_token, name, days=DAYS)
    return await _show(service, sent.visitor, token=token, of=name)


@router.post("/owner/people/{name}/revoke")
async def revoke(request: Request, _: OwnerForm, name: str) -> Response:
    """Revoke all tokens of a user."""
    service = service_of(request)
    service.check_known(name)
    note(request, of=name)
    await service.executor.use_people(service.people.revoke, name)
    return _back("people")


@router.post("/owner/datasets/{name}/approvals/{approval}")
async def decide(request: Request, sent: OwnerForm, name: str, approval: str) -> Response:
    """Approve or deny a waiting question."""
    decision = sent.fields.get("decision")
    if decision not in ("approved", "denied"):
        raise InvalidParameter("decision must be approved or denied.", parameter="decision")
    note(request, dataset=name, approval=approval[:32], decision=decision)
    dataset = service_of(request).dataset(name)
    await dataset.decide(sent.visitor.person, approval, decision)  # type: ignore[arg-type]
    return _back("waiting")


@router.post("/owner/datasets/{name}/shares")
async def reserve(request: Request, sent: OwnerForm, name: str) -> Response:
    """Reserve a share of the budget for one analyst."""
    service, form = service_of(request), sent.fields
    dataset = service.dataset(name)
    analyst, reason = form.get("analyst", ""), form.get("reason", "").strip()[:200] or "share"
    service.check_known(analyst)
    note(request, dataset=name, analyst=analyst)
    try:
        await dataset.reserve(
            analyst, form_numbers(form, NUMBERS), reason=f"{sent.visitor.person.name}: {reason}"
        )
    except DiscreetError as error:
        return await _show(service, sent.visitor, problem=error)
    return _back("budgets")


@router.post("/owner/datasets/{name}/failures")
async def release(request: Request, sent: OwnerForm, name: str) -> Response:
    """Reset the count of failed questions."""
    service = service_of(request)
    reason = f"{sent.visitor.person.name}: {sent.fields.get('reason', '').strip()[:200]}"
    note(request, dataset=name)
    try:
        await service.dataset(name).release_failures(None, reason=reason)
    except DiscreetError as error:
        return await _show(service, sent.visitor, problem=error)
    return _back("budgets")


def _back(section: str) -> Response:
    return RedirectResponse(f"/owner#{section}", status_code=303)


async def _show(
    service: Service, visitor: Visitor, *, token: str = "", of: str = "", problem: DiscreetError | None = None
) -> Response:
    people = service.people
    everyone = await service.executor.use_people(
        lambda: [(person, people.tokens(person.name)) for person in people.everyone()]
    )
    return page(
        "owner.html",
        status=problem.status if problem else 200,
        everyone=everyone,
        token=token,
        of=of,
        problem=problem.message if problem else "",
        datasets=[await _dataset(service, each, visitor) for each in service.datasets],
        days=DAYS,
        **visitor.frame,
    )


async def _dataset(service: Service, name: str, visitor: Visitor) -> dict[str, Any]:
    dataset = service.dataset(name)
    facts = await dataset.budget(visitor.person)
    records = await dataset.history(visitor.person)
    charges = [record for record in records if record["kind"] == "charge"]
    approvals = await dataset.approvals(visitor.person)
    whole = (await dataset.balances(visitor.person))[:1]  # the data set's own account
    return {
        "name": name,
        "gauge": BudgetGauge.of(whole, facts["failures"]),
        "accounts": [_account(each) for each in facts.get("accounts", ())],
        "policy": dataset.describe(),
        "tables": describe(dataset.policy),
        "latest": newest_first(charges)[:LATEST],
        "waiting": [each.to_json() for each in approvals if each.state == "waiting"],
    }


def _account(facts: dict[str, Any]) -> dict[str, Any]:
    gauge = BudgetGauge(numbers_of(facts["budget"]), numbers_of(facts["remaining"]))
    return {"name": facts["account"], "rule": facts["rule"], "gauge": gauge}


def _days(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 6):
        raise InvalidParameter("days must be a whole number.", parameter="days")
    return int(text)
