"""Owner: people and their tokens, budgets, the policy as enforced, what waits, releases to review."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from discreet.errors import DiscreetError, InvalidParameter
from discreet.server.journal import note
from discreet.server.pages.datasets import describe
from discreet.server.pages.gauge import NUMBERS, BudgetGauge, numbers_of
from discreet.server.pages.history import newest_first
from discreet.server.pages.rendering import page
from discreet.server.pages.session_auth import PageRoute, SessionAuth, Visitor
from discreet.server.people import DAYS
from discreet.server.refusals import not_found
from discreet.server.service import Service

LATEST = 10  # releases of each data set, to review


def routes(auth: SessionAuth) -> APIRouter:
    """Everything that owners see and do."""
    router = APIRouter(include_in_schema=False, route_class=PageRoute)

    @router.get("/owner")
    async def owner(request: Request) -> Response:
        return await _show(auth.service, await auth.admit_owner(request))

    @router.post("/owner/people")
    async def add(request: Request) -> Response:
        visitor = await auth.admit_owner(request)
        form = await auth.form(request, expected=visitor.csrf)
        name, role = form.get("name", "").strip(), form.get("role", "")
        note(request.scope, added=name[:64], role=role[:16])
        try:
            days = _days(form.get("days", ""))
            token = await auth.service.executor.look(lambda: auth.service.people.add(name, role, days=days))
        except DiscreetError as error:
            return await _show(auth.service, visitor, problem=error)
        return await _show(auth.service, visitor, token=token, of=name)

    @router.post("/owner/people/{name}/token")
    async def another(request: Request, name: str) -> Response:
        visitor = await auth.admit_owner(request)
        await auth.form(request, expected=visitor.csrf)
        _known(auth.service, name)
        note(request.scope, of=name)
        token = await auth.service.executor.look(lambda: auth.service.people.new_token(name, days=DAYS))
        return await _show(auth.service, visitor, token=token, of=name)

    @router.post("/owner/people/{name}/revoke")
    async def revoke(request: Request, name: str) -> Response:
        visitor = await auth.admit_owner(request)
        await auth.form(request, expected=visitor.csrf)
        _known(auth.service, name)
        note(request.scope, of=name)
        await auth.service.executor.look(lambda: auth.service.people.revoke(name))
        return RedirectResponse("/owner#people", status_code=303)

    @router.post("/owner/datasets/{name}/approvals/{approval}")
    async def decide(request: Request, name: str, approval: str) -> Response:
        visitor = await auth.admit_owner(request)
        form = await auth.form(request, expected=visitor.csrf)
        decision = form.get("decision")
        if decision not in ("approved", "denied"):
            raise InvalidParameter("decision must be approved or denied.", parameter="decision")
        note(request.scope, dataset=name, approval=approval[:32], decision=decision)
        await auth.service.dataset(name).decide(visitor.person, approval, decision)  # type: ignore[arg-type]
        return RedirectResponse("/owner#waiting", status_code=303)

    @router.post("/owner/datasets/{name}/shares")
    async def reserve(request: Request, name: str) -> Response:
        visitor = await auth.admit_owner(request)
        form = await auth.form(request, expected=visitor.csrf)
        dataset = auth.service.dataset(name)
        analyst, reason = form.get("analyst", ""), form.get("reason", "").strip()[:200] or "share"
        _known(auth.service, analyst)
        note(request.scope, dataset=name, analyst=analyst)
        try:
            await dataset.reserve(analyst, _budget(form), reason=f"{visitor.person.name}: {reason}")
        except DiscreetError as error:
            return await _show(auth.service, visitor, problem=error)
        return RedirectResponse("/owner#budgets", status_code=303)

    _add_release(router, auth)
    return router


def _add_release(router: APIRouter, auth: SessionAuth) -> None:
    @router.post("/owner/datasets/{name}/failures")
    async def release(request: Request, name: str) -> Response:
        visitor = await auth.admit_owner(request)
        form = await auth.form(request, expected=visitor.csrf)
        reason = form.get("reason", "").strip()[:200]
        note(request.scope, dataset=name)
        try:
            await auth.service.dataset(name).release_failures(None, reason=f"{visitor.person.name}: {reason}")
        except DiscreetError as error:
            return await _show(auth.service, visitor, problem=error)
        return RedirectResponse("/owner#budgets", status_code=303)


async def _show(
    service: Service, visitor: Visitor, *, token: str = "", of: str = "", problem: DiscreetError | None = None
) -> Response:
    everyone = await service.executor.look(
        lambda: [(person, service.people.tokens(person.name)) for person in service.people.everyone()]
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
    return {
        "name": name,
        # Of the data set's own account.
        "standing": BudgetGauge.of((await dataset.balances(visitor.person))[:1], facts["failures"]),
        "accounts": [_account(each) for each in facts.get("accounts", ())],
        "policy": dataset.describe(),
        "tables": describe(dataset.policy),
        "latest": newest_first(charges)[:LATEST],
        "waiting": [each.to_json() for each in approvals if each.state == "waiting"],
    }


def _account(facts: dict[str, Any]) -> dict[str, Any]:
    standing = BudgetGauge(numbers_of(facts["budget"]), numbers_of(facts["remaining"]))
    return {"name": facts["account"], "rule": facts["rule"], "standing": standing}


def _known(service: Service, name: str) -> None:
    if service.people.find(name) is None:
        raise not_found()


def _budget(form: Mapping[str, str]) -> dict[str, Decimal]:
    """The numbers of a budget, exactly as they were written."""
    written = {name: form.get(name, "").strip() for name in NUMBERS}
    try:
        return {name: Decimal(text) for name, text in written.items() if text}
    except ArithmeticError:
        raise InvalidParameter("a share must be stated in numbers.", parameter="budget") from None


def _days(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 6):
        raise InvalidParameter("days must be a whole number.", parameter="days")
    return int(text)
