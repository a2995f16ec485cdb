"""The owner page: users and tokens, budgets, the policy, approvals, and releases to review."""

import unicodedata
from collections import defaultdict
from fractions import Fraction
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from discreet.apps.server.journal import note
from discreet.apps.server.pages.dataset_pages import describe, newest_first
from discreet.apps.server.pages.gauge import NUMBERS, BudgetGauge, numbers_of, up
from discreet.apps.server.pages.policy_changes import (
    change_policy,
    changeable,
    digest_of_changeable,
    files_to_choose,
    write_raised,
)
from discreet.apps.server.pages.rendering import page, say_on_page
from discreet.apps.server.pages.session_auth import OwnerForm, OwnerSignedIn, PageRoute, Visitor
from discreet.apps.server.pages.waiting_page import read_reason
from discreet.apps.server.people import DAYS, now
from discreet.apps.server.request_bodies import form_numbers
from discreet.apps.server.rest.bearer_auth import service_of
from discreet.apps.server.service import Service
from discreet.errors import DiscreetError, InvalidParameter

DONE = {
    "raised": "The budget is raised, in the ledger and in the policy file.",
    "raised_alone": "The budget is raised in the ledger. Write the same in the policy file, which is read "
    "at the next start.",
    "changed": "The policy is changed, and holds from now on.",
    "reserved": "The share is kept. No other analyst can spend it.",
}
CHANGES = {
    "dataset.version": "version of the data",
    "dataset.population": "about how many people",
    "server.deadline_s": "seconds to an answer",
    "server.approve_above": "you approve above ε",
    "server.daily": "ε of a token in a day",
}
LATEST = 10  # releases of each data set, to review

router = APIRouter(include_in_schema=False, route_class=PageRoute)


@router.get("/owner")
async def owner(request: Request, visitor: OwnerSignedIn) -> Response:
    """Show the page."""
    done = DONE.get(request.query_params.get("done", ""), "")
    return await _show(service_of(request), visitor, done=done)


@router.post("/owner/people")
async def add(request: Request, sent: OwnerForm) -> Response:
    """Add a user, and show the first token."""
    service, form = service_of(request), sent.fields
    name, role = unicodedata.normalize("NFC", form.get("name", "").strip()), form.get("role", "")
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
async def revoke(request: Request, sent: OwnerForm, name: str) -> Response:
    """Revoke all tokens of a user, but not the last owner's."""
    service = service_of(request)
    service.check_known(name)
    note(request, of=name)
    try:
        await service.executor.use_people(service.people.revoke, name)
    except DiscreetError as error:
        return await _show(service, sent.visitor, problem=error)
    return _back("people")


@router.post("/owner/datasets/{name}/budget")
async def raise_budget(request: Request, sent: OwnerForm, name: str) -> Response:
    """Raise a budget: an entry in the ledger."""
    service, form = service_of(request), sent.fields
    note(request, dataset=name)
    try:
        reason = f"{sent.visitor.person.name}: {read_reason(form)}"
        numbers = form_numbers(form, NUMBERS)
        await service.dataset(name).raise_budget(numbers, reason=reason)
        written = await write_raised(service, name, numbers)
    except DiscreetError as error:
        return await _show(service, sent.visitor, problem=error)
    return _back("budgets", done="raised" if written else "raised_alone")


@router.post("/owner/datasets/{name}/policy")
async def change(request: Request, sent: OwnerForm, name: str) -> Response:
    """Change what the policy says of version, people, time and limits, and serve the data set by it."""
    service = service_of(request)
    service.dataset(name)
    note(request, dataset=name)
    try:
        changed = await change_policy(service, name, sent.fields)
    except DiscreetError as error:
        return await _show(service, sent.visitor, problem=error, else_do="open the file as its own data set")
    return _back("budgets", done="changed" if changed else "")


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
    return _back("budgets", done="reserved")


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


# One page for an ethics board: who is protected, what ε means, what was released. It is made to be printed.


@router.get("/datasets/{name}/report")
async def report(request: Request, visitor: OwnerSignedIn, name: str) -> Response:
    """Show the report; the ledger's chain is recomputed for it."""
    service = service_of(request)
    dataset = service.dataset(name)
    verified = await dataset.verify()
    records = await dataset.history(visitor.person)
    charges = [record for record in records if record["kind"] == "charge"]
    return page(
        "report.html",
        dataset=dataset,
        now=now(),
        verified=verified,
        gauge=BudgetGauge.of((await dataset.balances(visitor.person))[:1]),
        accounts=[_account(each) for each in (await dataset.budget(visitor.person))["accounts"]],
        policy=dataset.describe(),
        tables=await dataset.plan_public(describe),
        releases=count_releases(charges),
        first=min((record["time"] for record in charges), default=""),
        last=max((record["time"] for record in charges), default=""),
        **visitor.frame,
    )


def count_releases(charges: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return, for each analyst, how many questions were charged and answered, and what they cost in all."""
    found: dict[str, dict[str, Any]] = {}
    for charge in charges:
        mine = found.setdefault(charge["analyst"], {"charged": 0, "answered": 0, "cost": Fraction(0)})
        mine["charged"] += 1
        mine["answered"] += charge["state"] == "answered"
        mine["cost"] += Fraction(charge["cost"] or 0)
    return [{"analyst": analyst, **facts} for analyst, facts in sorted(found.items())]


def _back(section: str, *, done: str = "") -> Response:
    return RedirectResponse(f"/owner{'?done=' + done if done else ''}#{section}", status_code=303)


async def _show(
    service: Service,
    visitor: Visitor,
    *,
    token: str = "",
    of: str = "",
    done: str = "",
    problem: DiscreetError | None = None,
    else_do: str = "",
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
        done=done,
        problem=say_on_page(problem, else_do),
        datasets=[await _dataset(service, each, visitor) for each in service.datasets],
        days=DAYS,
        labels=defaultdict(str, CHANGES),
        can_open=service.folder is not None,
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
        "tables": await dataset.plan_public(describe),
        "latest": newest_first(charges)[:LATEST],
        "budget": {
            part: up(Fraction(str(facts["budget"][part]))) for part in NUMBERS if part in facts["budget"]
        },
        "changeable": changeable(dataset) if service.policy_file(name) else {},
        "seen": digest_of_changeable(dataset),
        "files": files_to_choose(service, name),
        "waiting": sum(each.state == "waiting" for each in approvals),
    }


def say_account(account: str) -> str:
    """Return whose an account is.

    >>> say_account("bank"), say_account("bank/analyst/ann"), say_account("bank/rest")
    ('everyone together', 'limit of ann', 'free for all')
    """
    _, kind, whose = [*account.split("/", 2), "", ""][:3]
    names = {"": "everyone together", "rest": "free for all"}
    return names.get(kind) or {"share": "kept for", "analyst": "limit of"}.get(kind, kind) + f" {whose}"


def _account(facts: dict[str, Any]) -> dict[str, Any]:
    gauge = BudgetGauge(numbers_of(facts["budget"]), numbers_of(facts["remaining"]))
    return {"name": say_account(facts["account"]), "rule": facts["rule"], "gauge": gauge}


def _days(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 6):
        raise InvalidParameter("days must be a whole number.", parameter="days")
    return int(text)
