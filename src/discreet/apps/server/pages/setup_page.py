"""An owner opens a data set: a file, what is promised of its columns, and how much may be learned in all.

Nothing of the data is read before the data set is opened: the page knows the header of the file, and a dry
run shows a first question on invented people while the promises are typed.

Tested by: tests/server/pages/test_setup_page.py
"""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from discreet.apps.server.data_folder import LEDGER, DataFolder
from discreet.apps.server.http_errors import as_json, not_found
from discreet.apps.server.journal import note
from discreet.apps.server.limits import Rate
from discreet.apps.server.pages.ask_page import draw_tried, say_errors
from discreet.apps.server.pages.dataset_pages import examples
from discreet.apps.server.pages.gauge import in_100
from discreet.apps.server.pages.rendering import page, say_on_page
from discreet.apps.server.pages.session_auth import (
    OwnerSignedIn,
    PageRoute,
    Visitor,
    check_csrf,
    read_form,
)
from discreet.apps.server.rest.bearer_auth import service_of
from discreet.apps.server.service import Service
from discreet.asking.engines import describe_policy
from discreet.asking.engines.duckdb.registration import describe_file
from discreet.asking.planning import as_notion, plan_asked
from discreet.asking.policy import (
    TYPES,
    ColumnDraft,
    Draft,
    Policy,
    from_toml,
    guess_type,
    guess_unit,
)
from discreet.errors import DiscreetError, InvalidParameter
from discreet.kernel.losses import PureDP

MOST_COLUMNS = 200
FIELDS = ("id", "unit", "limit", "population", "version", "epsilon", "delta", "per_analyst", "approve_above")
OF_A_COLUMN = ("type", "low", "high", "keys")
EPSILONS = ("0.2", "0.5", "1", "2", "3")  # offered by their odds
DEFAULTS = {"limit": "auto", "version": "1", "epsilon": "1", "delta": "0.000001"}
SHARE = Fraction(1, 10)  # of the budget, that the question of the dry run costs
_TRIES = Rate(1, holds=6)

router = APIRouter(include_in_schema=False, route_class=PageRoute)
json_router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class FileToOpen:
    """A file of the server's folder, known by its header alone, and what its owner typed of it so far."""

    folder: DataFolder
    name: str
    types: Mapping[str, str | None]

    @classmethod
    def find(cls, service: Service, name: str) -> "FileToOpen":
        """Return the file of this name, or raise."""
        folder = _folder(service)
        found = describe_file(folder.file(name))
        if len(found) > MOST_COLUMNS:
            raise InvalidParameter(f"a file must have at most {MOST_COLUMNS} columns to be opened here.")
        return cls(folder, name, found)

    @property
    def has_types(self) -> bool:
        """Whether the file itself says its columns' types."""
        return any(kind not in ("text", None) for kind in self.types.values())

    def draft(self, fields: Mapping[str, str]) -> Draft:
        """Return the policy that was typed."""
        columns = tuple(
            ColumnDraft(name=name, **{part: fields.get(f"{part}.{n}", "") for part in OF_A_COLUMN})
            for n, (name, kind) in enumerate(self.types.items())
            if kind is not None and fields.get(f"type.{n}")
        )
        stated = {field: fields.get(field, "")[:200] for field in FIELDS}
        if stated["unit"] not in ("", *self.types):
            raise InvalidParameter("unit must be a column of the file.", parameter="unit")
        table = table_name(self.name)
        return Draft(source=self.name, table=table, columns=columns, ledger=LEDGER, **stated)

    def blank(self) -> dict[str, str]:
        """Return the fields before anything is typed: what names alone suggest."""
        given = {**dict.fromkeys(FIELDS, ""), **DEFAULTS, "id": table_name(self.name)}
        given["unit"] = guess_unit(list(self.types))
        for n, (name, kind) in enumerate(self.types.items()):
            given |= {f"{part}.{n}": "" for part in OF_A_COLUMN}
            given[f"type.{n}"] = (kind if self.has_types else guess_type(name)) or ""
        return given


def table_name(file: str) -> str:
    """Return what a file's table is called in questions.

    >>> table_name("my visits (2026).csv.gz"), table_name("2026.csv")
    ('my_visits_2026', 't2026')
    """
    plain = re.sub(r"[^A-Za-z0-9]+", "_", file.partition(".")[0]).strip("_").lower()[:40] or "data"
    return plain if plain[0].isalpha() else f"t{plain}"


def _folder(service: Service) -> DataFolder:
    if service.folder is None:
        raise not_found()
    return service.folder


@router.get("/owner/new")
async def begin(request: Request, visitor: OwnerSignedIn) -> Response:
    """Show the files, or the form for one of them."""
    service, name = service_of(request), request.query_params.get("file", "")
    if not name:
        files = await asyncio.to_thread(_folder(service).files)
        return page("setup_files.html", files=files, most=service.limits.upload_bytes, **visitor.frame)
    found = await asyncio.to_thread(FileToOpen.find, service, name)
    return await _show(service, visitor, found, found.blank())


@router.post("/owner/new")
async def open_it(request: Request, visitor: OwnerSignedIn) -> Response:
    """Open the data set that a form describes, or show what it would say."""
    service = service_of(request)
    fields, found = await _read(request, visitor)
    try:
        draft = found.draft(fields)
        text = draft.to_toml()
        if fields.get("do") == "look":
            seen = await service.executor.plan(partial(preview, found, draft, draws=True))
            return await _show(service, visitor, found, fields, seen=seen)
        await service.executor.plan(partial(read_draft, found, text))
        note(request, opened=draft.id)
        reason = fields.get("other_people", "").strip()[:200] or None
        opening = partial(service.open_new, draft.id, text, other_people=reason)
        dataset = await asyncio.to_thread(opening)
    except DiscreetError as error:
        return await _show(service, visitor, found, fields, problem=error)
    asked = urlencode({"sql": typical(dataset.policy)})
    return RedirectResponse(f"/datasets/{quote(dataset.name, safe='')}/ask?{asked}", status_code=303)


@json_router.post("/owner/new/look")
async def look(request: Request, visitor: OwnerSignedIn) -> Response:
    """Return what the draft so far would mean: odds, a first question's errors, and its dry run."""
    fields, found = await _read(request, visitor)
    draws = _TRIES.allows(visitor.person.name)
    try:
        draft = found.draft(fields)
        seen = await service_of(request).executor.plan(partial(preview, found, draft, draws=draws))
    except DiscreetError as error:
        return as_json({"problem": error.message.split("\n")[0]})
    return as_json(seen)


@json_router.put("/owner/files/{name}")
async def send(request: Request, visitor: OwnerSignedIn, name: str) -> Response:
    """Keep a file that an owner sends from their browser."""
    check_csrf(request.headers.get("x-csrf", ""), visitor.csrf)
    service = service_of(request)
    note(request, file=name[:64])
    await _folder(service).receive(name, request.stream(), most=service.limits.upload_bytes)
    return as_json({"file": name}, status=201)


async def _read(request: Request, visitor: Visitor) -> tuple[Mapping[str, str], FileToOpen]:
    fields = await read_form(request, csrf=visitor.csrf, most=20 + MOST_COLUMNS * len(OF_A_COLUMN))
    return fields, await asyncio.to_thread(FileToOpen.find, service_of(request), fields.get("file", ""))


async def _show(
    service: Service,
    visitor: Visitor,
    found: FileToOpen,
    fields: Mapping[str, str],
    *,
    seen: Mapping[str, Any] | None = None,
    problem: DiscreetError | None = None,
) -> Response:
    odds = await service.executor.plan(
        lambda: [(epsilon, in_100(PureDP(Fraction(epsilon)).loss)) for epsilon in EPSILONS]
    )
    columns = [
        {"n": n, "name": name, **{part: fields.get(f"{part}.{n}", "") for part in OF_A_COLUMN}}
        for n, (name, kind) in enumerate(found.types.items())
        if kind is not None
    ]
    return page(
        "setup.html",
        status=problem.status if problem else 200,
        file=found.name,
        table=table_name(found.name),
        columns=columns,
        types=TYPES,
        given={field: fields.get(field, "") for field in (*FIELDS, "other_people")},
        odds=odds,
        seen=seen,
        asks_who=problem is not None and "other_people" in problem.message,
        problem=say_on_page(problem, "say so below"),
        **visitor.frame,
    )


def read_draft(found: FileToOpen, text: str) -> Policy:
    """Return the policy of a draft, with the columns of its file; only the header is read."""
    return describe_policy(from_toml(text, folder=Path(found.folder.place)))


def typical(policy: Policy) -> str:
    """Return a question to begin with: of the examples, the one that shows most."""
    every = dict(examples(policy))
    chosen = next((title for title in every if title.startswith("people by ")), None)
    return every[chosen or next((title for title in every if title.startswith("mean ")), "people in all")]


def preview(found: FileToOpen, draft: Draft, *, draws: bool) -> dict[str, Any]:
    """Return what a draft means: its budget in odds, and a question at a tenth of it on invented people."""
    policy = read_draft(found, text := draft.to_toml())
    budget = as_notion(policy.budget, policy.relation)
    epsilon = dict(policy.budget)["epsilon"] * SHARE
    (plan,) = plan_asked(typical(policy), policy, epsilon=epsilon)
    return {
        "problem": "",
        "odds": "Someone who is unsure whether a person is in the data (50 in 100) guesses right, after all "
        f"answers together, in at most {in_100(budget.loss)} of 100 cases.",
        "question": plan.asked,
        "price": f"ε {float(epsilon):g}, a tenth of the budget",
        "errors": say_errors(plan),
        "tried": draw_tried(plan, policy) if draws else None,
        "text": text,
    }
