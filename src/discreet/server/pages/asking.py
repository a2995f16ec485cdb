"""Ask: the price and the expected error while a question is written; the answer when it is asked.

All of it goes through the data set's own `explain` and `ask`, as in REST: one path, one deadline, one charge.
"""

from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from typing import Any

from fastapi import APIRouter, Request, Response

from discreet import pictures
from discreet.answers import Answer, show_error, show_value, uneven_ends
from discreet.errors import DiscreetError, InvalidParameter, PolicyViolation, UnsupportedQuery
from discreet.numerics import Interval
from discreet.planning import Plan
from discreet.server.approvals import Approval
from discreet.server.dataset import Dataset
from discreet.server.http_errors import as_json
from discreet.server.journal import digest_of, note
from discreet.server.pages.datasets import describe, examples, gauge_of, sql_name
from discreet.server.pages.figures import in_both_themes
from discreet.server.pages.gauge import SYMBOLS, cost_of_plan, price_of_plan, up
from discreet.server.pages.rendering import page
from discreet.server.pages.session_auth import PageRoute, SessionAuth, Visitor, check_csrf
from discreet.server.refusals import after_the_charge
from discreet.server.request_bodies import AskRequest, read_ask
from discreet.tables import Policy, PublicTable, Table, spell

AGGREGATES = ("COUNT", "SUM", "AVG", "MEDIAN", "QUANTILE", "MIN", "MAX", "MODE", "VARIANCE", "STDDEV")
WORDS = (
    "SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "HAVING", "LIMIT", "AS", "AND", "OR", "NOT", "IN",
    "BETWEEN", "LIKE", "IS NULL", "DISTINCT", "DESC", "JOIN", "LEFT JOIN", "ON", "CASE", "WHEN", "THEN",
    "ELSE", "END", "CAST", "COALESCE", "ABS", "ROUND", "FLOOR", "CEIL", "LOWER", "UPPER", "LENGTH", "SUBSTR",
    "EXTRACT", "DATE_TRUNC", "WIDTH_BUCKET", "FILTER",
)  # fmt: skip
MOST_KEYS = 200  # of a column, that completion knows
MOST_ROWS = 2000  # of an answer, that a page shows


def pages(auth: SessionAuth) -> APIRouter:
    """The page itself, and receipts to keep."""
    router = APIRouter(include_in_schema=False, route_class=PageRoute)

    @router.get("/datasets/{name}/ask")
    async def ask_page(request: Request, name: str) -> Response:
        visitor = await auth.admit(request)
        dataset = auth.service.dataset(name)
        return page(
            "ask.html",
            dataset=dataset,
            standing=await gauge_of(dataset, visitor),
            examples=examples(dataset.policy),
            tables=describe(dataset.policy),
            completions=completions(dataset.policy),
            **visitor.frame,
        )

    @router.get("/datasets/{name}/receipts/{charge}")
    async def receipt(request: Request, name: str, charge: str) -> Response:
        visitor = await auth.admit(request)
        receipts = await auth.service.dataset(name).receipts(visitor.person, charge)
        kept = {"content-disposition": f'attachment; filename="receipt-{int(charge)}.json"'}
        return as_json({"receipts": receipts}, headers=kept)

    return router


def answers(auth: SessionAuth) -> APIRouter:
    """What the page's script asks, in JSON; the word against forgery comes in a header."""
    router = APIRouter(include_in_schema=False)

    @router.post("/datasets/{name}/explain")
    async def explain(request: Request, name: str) -> Response:
        visitor, dataset, asked = await _read(auth, request, name)
        try:
            (plan,) = plans = await dataset.explain(asked)
            cost = await auth.service.executor.plan(partial(cost_of_plan, plan))
        except (UnsupportedQuery, InvalidParameter, PolicyViolation) as error:
            # A question that is half written is no failure of the request that asks about it.
            return as_json({"refused": {"message": error.message, "place": error.fields.get("place")}})
        free = await dataset.is_free(visitor.person, plans)
        return as_json(
            {
                "free": free,
                "price": _shown(price_of_plan(plan)),
                "cost": _shown(cost),
                "sentences": plan.sentences(),
                "errors": plan.errors,
                "figure": _forecast(plan),
                "standing": (await gauge_of(dataset, visitor)).parts(cost),
                "seconds": dataset.seconds(plans),
            }
        )

    @router.post("/datasets/{name}/ask")
    async def ask(request: Request, name: str) -> Response:
        visitor, dataset, asked = await _read(auth, request, name)
        given = await dataset.ask(visitor.person, asked, key=request.headers.get("idempotency-key"))
        if isinstance(given, Approval):
            return as_json({"waiting": given.to_json()}, status=202)
        (answer,) = given.answers
        with after_the_charge():
            return as_json(
                {
                    "charge": given.charge,
                    "charged": given.charged,
                    "table": table_of(answer),
                    "figure": _chart(answer),
                    "standing": (await gauge_of(dataset, visitor)).parts({}),
                }
            )

    return router


def _shown(parts: Mapping[str, Fraction]) -> dict[str, str]:
    return {SYMBOLS.get(name, "δ"): up(part) for name, part in parts.items()}


async def _read(auth: SessionAuth, request: Request, name: str) -> tuple[Visitor, Dataset, AskRequest]:
    """Who asks what of which data set; one question at a time."""
    visitor = await auth.admit(request)
    check_csrf(request.headers.get("x-csrf", ""), visitor.csrf)
    dataset = auth.service.dataset(name)
    asked = read_ask(await auth.body(request), auth.service.limits)
    if asked.is_list:
        raise InvalidParameter("a page must ask one question at a time, got a list.", parameter="sql")
    note(request.scope, dataset=name, question=digest_of(asked.questions))
    return visitor, dataset, asked


def completions(policy: Policy) -> list[dict[str, str]]:
    """Words that may come next: keys are public labels that the owner declared."""
    found: dict[str, str] = {}
    every: tuple[Table | PublicTable, ...] = (*policy.tables, *policy.public)
    for table in every:
        found.setdefault(sql_name(table.name), "table")
        for column in table.columns:
            found.setdefault(sql_name(column.name), column.type)
            for key in (column.keys or ())[:MOST_KEYS]:
                text = str(spell(key))
                quoted = "'" + text.replace("'", "''") + "'" if isinstance(key, str) else text
                found.setdefault(quoted, f"key of {column.name}")
    found.update(dict.fromkeys(AGGREGATES, "aggregate"))
    found.update({word: "word" for word in WORDS if word not in found})
    return [{"word": word, "kind": kind} for word, kind in found.items()]


def table_of(answer: Answer) -> dict[str, Any]:
    """The released table in words: each value, and ± its interval where it has one."""
    rows = [
        [_cell(row[column], ends[column]) for column in answer.columns]
        for row, ends in zip(answer.rows[:MOST_ROWS], answer.intervals[:MOST_ROWS], strict=True)
    ]
    return {
        "columns": list(answer.columns),
        "rows": rows,
        "left_out": max(0, len(answer.rows) - MOST_ROWS),
        "confidence": f"{float(answer.plan.confidence):.4g}",
    }


def _cell(value: Any, ends: Interval | None) -> Mapping[str, str]:
    if ends is None or value is None:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return {"text": show_value(value), "kind": "number" if number else "key"}
    return {"text": show_value(value, ends), "margin": margin(value, ends), "kind": "number"}


def margin(value: int | float, ends: Interval) -> str:
    """± how far the interval reaches, or its two ends where they lie unevenly; rounded outwards.

    >>> margin(20.0, Interval(-1234.56, 1274.56)), margin(5.0, Interval(0.0, 11358.8))
    ('± 1,260', '0 to 11,360')
    """
    return uneven_ends(value, ends) or f"± {show_error(value, ends)}"


def _forecast(plan: Plan) -> Any:
    try:
        return in_both_themes(pictures.forecast(plan))
    except DiscreetError:  # no column's error is known beforehand
        return None


def _chart(answer: Answer) -> Any:
    try:
        return in_both_themes(pictures.answer(answer))
    except DiscreetError:  # nothing in it has an interval
        return None
