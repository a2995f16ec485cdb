"""A session: what each statement of one client does. Describing plans and never charges; running may.

Questions go through `Dataset.ask`, as those of REST do: same plans, budgets, limits, deadlines, approvals.
"""

import asyncio
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from discreet.apps.postgres import catalogue_sql, settings as values
from discreet.apps.postgres.catalogue import Catalogue, FreeAnswer
from discreet.apps.postgres.failures import Refused, as_refused
from discreet.apps.postgres.formats import FLOAT8, OURS, TEXT, Column, PgType
from discreet.apps.postgres.settings import Settings
from discreet.apps.postgres.statements import Statement, read_copy, read_explain
from discreet.apps.server.approvals import Approval
from discreet.apps.server.dataset import AskResult, Dataset
from discreet.apps.server.http_errors import after_the_charge, busy
from discreet.apps.server.journal import digest_of
from discreet.apps.server.people import Person
from discreet.apps.server.request_bodies import AskRequest, read_question
from discreet.apps.server.service import Service
from discreet.asking.answers import FREE, Answer, columns_with_intervals
from discreet.asking.planning import Plan, price_of, read_asked
from discreet.asking.policy import Policy
from discreet.errors import DiscreetError, LedgerConflict, UnsupportedQuery
from discreet.kernel.numerics import short_down

PLAN = (Column("QUERY PLAN", TEXT),)
ATTEMPTS = 8  # charges of one question: more than one only where the owner stopped or released earlier ones
PACE_S = 0.05


@dataclass(frozen=True)
class Result:
    """What a statement gives: columns and rows, or neither; its tag; what is said next to it."""

    tag: str
    columns: tuple[Column, ...] | None = None
    rows: Sequence[tuple[Any, ...]] = ()
    notices: tuple[str, ...] = ()
    is_copy: bool = False


@dataclass
class Running:
    """Questions that are asked now, so that the same question of the same user is asked once."""

    tasks: dict[tuple[str, str, AskRequest], "asyncio.Task[AskResult]"] = field(default_factory=dict)


@dataclass
class Session:
    """One authenticated client of one data set."""

    service: Service
    dataset: Dataset
    person: Person
    address: str
    catalogue: Catalogue
    running: Running
    settings: Settings
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def column_types(self) -> dict[str, PgType]:
        """The types of all columns by lower-case name, to guess the types of parameters."""
        policy = self.catalogue.policy
        columns = [each for table in policy.tables for each in table.columns]
        columns += [each for table in policy.public for each in table.columns]
        return {each.name.lower(): OURS[each.type] for each in columns}

    async def admit(self) -> None:
        """Check that the token is still valid, and wait while the client is faster than its rate."""
        for _ in range(int(2 / PACE_S)):
            found = await self.service.executor.use_people(
                self.service.readmit, self.person, address=self.address
            )
            if found is not None:
                self.person = found
                return
            await asyncio.sleep(PACE_S)
        raise busy()

    async def is_free(self, statement: Statement) -> bool:
        """Return whether a statement asks nothing of the data."""
        return statement.kind == "query" and await self._free(statement, apply=False) is not None

    # --- describing ----------------------------------------------------------------------------------------

    async def describe(self, statement: Statement) -> tuple[Column, ...] | None:
        """Return the columns that a statement will give, or None if it gives no rows. Never charges."""
        if statement.kind == "show":
            return (Column(values.name_of(statement), TEXT),)
        if statement.kind == "explain":
            await self._explain(statement)
            return PLAN
        if statement.kind != "query":
            return None
        found = await self._free(statement, apply=False)
        if found is not None:
            return found.columns
        (plan,) = await self.dataset.explain(await self._request(statement))
        return self._columns(plan)

    def _columns(self, plan: Plan) -> tuple[Column, ...]:
        shown = set(columns_with_intervals(plan)) if self.settings.intervals else set()
        found = []
        for name, kind in plan.columns:
            found.append(Column(name, OURS[kind]))
            if name in shown:
                found.extend(Column(f"{name}_{end}", FLOAT8) for end in ("lower", "upper"))
        return tuple(found)

    # --- running -------------------------------------------------------------------------------------------

    async def run(self, statement: Statement) -> Result:
        """Run a statement. A question is charged before data is read, and answered at its deadline."""
        kind = statement.kind
        if self.settings.status == "E" and kind not in ("rollback", "rollback_to", "commit"):
            raise Refused("25P02", "The transaction failed. ROLLBACK ends it; charges in it stay.")
        if kind == "query":
            return await self._query(statement)
        if kind == "copy":
            found = await self._query(read_copy(statement))
            return Result(f"COPY {len(found.rows)}", found.columns, found.rows, found.notices, is_copy=True)
        if kind == "explain":
            return await self._explain(statement)
        return self._change(statement)

    def _change(self, statement: Statement) -> Result:
        """Run a statement about transactions and settings."""
        kind, settings, tag = statement.kind, self.settings, statement.tag
        if kind == "begin":
            settings.begin()
        elif kind in ("commit", "rollback"):
            tag = "COMMIT" if settings.end(undo=kind == "rollback") else "ROLLBACK"
        elif kind == "savepoint":
            settings.savepoint(values.name_of(statement))
        elif kind == "rollback_to":
            settings.back_to(values.name_of(statement))
        elif kind == "release":
            settings.release(values.name_of(statement))
        elif kind == "set":
            name, value, local = values.read_set(statement)
            settings.set(name, value, local=local)
        elif kind == "reset":
            name = values.name_of(statement)
            if statement.tag == "RESET" and name.upper() != "ALL":
                settings.set(name, None)
            else:
                settings.reset()
        elif kind == "show":
            return self._show(values.name_of(statement))
        return Result(tag)

    def _show(self, name: str) -> Result:
        if name.lower() == "all":
            every = sorted(self.settings.every().items())
            columns = tuple(Column(each, TEXT) for each in ("name", "setting", "description"))
            return Result("SHOW", columns, [(each, value, "") for each, value in every])
        return Result("SHOW", (Column(name, TEXT),), [(self.settings.show(name),)])

    async def _explain(self, statement: Statement) -> Result:
        inner, as_json = read_explain(statement)
        if inner.kind != "query":
            raise Refused("42601", "EXPLAIN must be followed by a question.")
        if await self._free(inner, apply=False) is not None:
            return Result("EXPLAIN", PLAN, [("Answered from the policy: free, and no data is read.",)])
        (plan,) = await self.dataset.explain(await self._request(inner))
        free = await self.dataset.is_free(self.person, (plan,))
        self._note("explain", 200, question=digest_of([inner.text]))
        if as_json:
            return Result("EXPLAIN", PLAN, [(json.dumps({**plan.to_json(), "free": free}, default=str),)])
        said = [*plan.sentences(), *([f"Already answered: {FREE}."] if free else [])]
        return Result("EXPLAIN", PLAN, [(line,) for line in said])

    async def _query(self, statement: Statement) -> Result:
        found = await self._free(statement, apply=True)
        if found is not None:
            return Result(f"SELECT {len(found.rows)}", found.columns, found.rows)
        request = await self._request(statement)
        (plan,) = await self.dataset.explain(request)
        columns = self._columns(plan)
        digest = digest_of(request.questions)
        try:
            result = await self._ask(request)
        except BaseException as error:
            status = error.status if isinstance(error, DiscreetError) else 403
            self._note("ask", status, question=digest)
            raise
        self._note("ask", 200, question=digest, charge=result.charge, charged=result.charged)
        (answer,) = result.answers
        with after_the_charge():
            intervals = self.settings.intervals
            rows = await self.service.executor.use_ledger(_rows, answer, intervals=intervals)
            left = _in_words(await self.dataset.remaining(self.person))
        price = answer.receipt.in_words("price")
        paid = f"charged {price}" if result.charged else f"{FREE}; charged before: {price}"
        return Result(f"SELECT {len(rows)}", columns, rows, (f"{paid}; left: {left}",))

    async def _free(self, statement: Statement, *, apply: bool) -> FreeAnswer | None:
        """Return the answer to a statement that asks nothing of the data; None for a question."""
        facts = catalogue_sql.Facts(
            self.person.name,
            self.dataset.name,
            f"PostgreSQL {values.SERVER_VERSION}, differentially private answers",
            self.settings.every(),
        )

        def answer() -> FreeAnswer | None:
            tree = catalogue_sql.parse(statement.text)
            if tree is None:
                return None
            keys = catalogue_sql.declared_keys(tree, self.catalogue.policy)
            if keys is not None or not catalogue_sql.about_catalogue(tree, self.catalogue.policy):
                return keys
            change = catalogue_sql.setting_of(tree)
            if change is not None:
                if apply:
                    self.settings.set(change[0], change[1], local=change[2])
                return FreeAnswer((Column("set_config", TEXT),), [(change[1],)])
            return catalogue_sql.run(tree, self.catalogue, facts)

        return await self.catalogue.use(answer)

    # --- asking --------------------------------------------------------------------------------------------

    async def _request(self, statement: Statement) -> AskRequest:
        """Return a question with its price; what is no question is refused as such, priced or not."""
        text = _unqualified(
            statement, [each.lower() for each in self.catalogue.policy.table_names], self.dataset.name
        )
        question = read_question(text, self.service.limits)
        try:
            return AskRequest(question, self.settings.terms())
        except Refused:
            await self.service.executor.plan(partial(_check_question, question, self.catalogue.policy))
            raise

    async def _ask(self, request: AskRequest) -> AskResult:
        """Ask, or wait for the same question of the same user that is under way: it is charged once.

        A cancelled client gets its error at once. Its question runs to its deadline; the charge stays.
        """
        name = (self.dataset.name, self.person.name, request)
        task = self.running.tasks.get(name)
        if task is None:
            task = asyncio.ensure_future(ask_once(self.dataset, self.person, request))
            self.running.tasks[name] = task
            task.add_done_callback(lambda done: _forget(self.running, name, done))
        self.cancelled.clear()
        stop = asyncio.ensure_future(self.cancelled.wait())
        try:
            await asyncio.wait({task, stop}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stop.cancel()
        if not task.done():
            raise Refused(
                "57014",
                "Canceled. If it was charged, the charge stays; asked again after its deadline, the answer "
                "is free.",
            )
        return task.result()

    def _note(self, route: str, status: int, **facts: Any) -> None:
        self.service.journal.write(
            "POSTGRES", route, status, person=self.person.name, dataset=self.dataset.name, **facts
        )

    def note_failure(self, error: BaseException) -> Refused:
        """Return an error as it is sent, and mark an open transaction as failed."""
        self.settings.fail()
        return as_refused(error)


async def ask_once(dataset: Dataset, person: Person, request: AskRequest) -> AskResult:
    """Ask under a key made from the question and its price, so that a retry anywhere is charged once.

    A charge that the owner ended without an answer (a clean stop, a released failure) may be made anew.
    """
    plans = await dataset.explain(request)
    text = json.dumps([plans[0].policy.digest, [plan.asked for plan in plans], repr(price_of(plans))])
    digest = hashlib.sha256(text.encode()).hexdigest()
    for attempt in range(ATTEMPTS):
        try:
            return await _ask_until_done(dataset, person, request, f"postgres {digest} {attempt}")
        except LedgerConflict:
            if attempt + 1 == ATTEMPTS:
                raise
    raise AssertionError


async def _ask_until_done(dataset: Dataset, person: Person, request: AskRequest, key: str) -> AskResult:
    """Ask; while another process runs the same question, wait for its deadline."""
    waits = 3
    while True:
        try:
            result = await dataset.ask(person, request, key=key)
        except LedgerConflict as error:
            if error.fields.get("state") != "running" or not waits:
                raise
            waits -= 1
            await asyncio.sleep(dataset.seconds(await dataset.explain(request)))
            continue
        if isinstance(result, Approval):
            raise _waits(result)
        return result


def _waits(approval: Approval) -> Refused:
    if approval.state == "denied":
        return Refused("42501", "An owner denied this question at this price. Nothing was charged.")
    return Refused(
        "42501",
        f"The question waits for an owner's approval (request {approval.id}). Nothing was charged.",
        "Ask it again, at the same price, when it is approved.",
    )


def _check_question(question: str, policy: Policy) -> None:
    try:
        read_asked(question, policy)
    except UnsupportedQuery as error:
        if error.fields.get("reason") != "after":
            raise


def _forget(running: Running, name: tuple[str, str, AskRequest], task: "asyncio.Task[AskResult]") -> None:
    running.tasks.pop(name, None)
    if not task.cancelled():
        task.exception()  # mark as retrieved: possibly no one waits for it any more


def _rows(answer: Answer, *, intervals: bool) -> list[tuple[Any, ...]]:
    if answer.failure is not None:  # the columns that were described are not there
        raise Refused("22003", answer.failure, "Ask the question inside by itself: it is stored, and free.")
    shown = set(columns_with_intervals(answer.plan)) if intervals else set()
    rows = []
    for row, ends in zip(answer.rows, answer.intervals, strict=True):
        cells: list[Any] = []
        for name in answer.columns:
            cells.append(row[name])
            if name in shown:
                found = ends[name]
                cells.extend((None, None) if found is None else map(float, found))
        rows.append(tuple(cells))
    return rows


def _in_words(notion: object) -> str:
    names = ("epsilon", "delta", "rho", "mu")
    found = {name: getattr(notion, name) for name in names if hasattr(notion, name)}
    return ", ".join(f"{name} {short_down(number)}" for name, number in found.items())


def _unqualified(statement: Statement, tables: list[str], database: str) -> str:
    """Return a question without the schema before its tables' names, blanks in its place.

    >>> from discreet.apps.postgres.statements import read_statement
    >>> _unqualified(read_statement('SELECT 1 FROM "public"."T"'), ["t"], "town")
    'SELECT 1 FROM          "T"'
    """
    text, tokens = statement.text, statement.tokens
    for place in range(len(tokens) - 2):
        schema, dot, table = tokens[place : place + 3]
        if schema.text.lower() != "public" or dot.text != "." or table.text.lower() not in tables:
            continue
        start = schema.start
        if (
            place >= 2
            and tokens[place - 1].text == "."
            and tokens[place - 2].text.lower() == database.lower()
        ):
            start = tokens[place - 2].start
        text = text[:start] + " " * (dot.end - start) + text[dot.end :]
    return text
