"""One data set of the service, and everything a user may do with it. REST and pages both go through it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from decimal import Context
from functools import partial
from typing import Any, Literal, TypeVar

from discreet.apps.server.approvals import Approval, Approvals, RepeatedApproval, needs_approval
from discreet.apps.server.deadlines import FixedTimeExecutor
from discreet.apps.server.http_errors import Busy, Unreachable, busy, not_found, too_late
from discreet.apps.server.kept_answers import KeptAnswer, read_kept
from discreet.apps.server.limits import Daily, Limits
from discreet.apps.server.people import Person
from discreet.apps.server.policy_in_force import PolicyInForce
from discreet.apps.server.request_bodies import AskRequest, BookRequest
from discreet.apps.server.watch_sessions import WatchSessions
from discreet.apps.server.worker_pool import WorkerPool, read
from discreet.asking.answers import Answer, Book, Signer
from discreet.asking.curator import Curator
from discreet.asking.planning import BookPlan, Plan, as_notion, price_of
from discreet.asking.policy import Budget, Policy, read_budget
from discreet.asking.query_run import BookRun, ChargedRun, QueryRun
from discreet.asking.watching import watch_margin
from discreet.errors import (
    BudgetExceeded,
    EngineFailure,
    InvalidParameter,
    PolicyViolation,
    Rationed,
    UnsupportedQuery,
)
from discreet.kernel.accounting import notion_json
from discreet.kernel.ledger import Balance, Ledger, Verification
from discreet.kernel.losses import ApproxDP, PureDP

T = TypeVar("T")
Found = TypeVar("Found", tuple[Answer, ...], Book)


@dataclass(frozen=True)
class AskResult:
    """The answers to a request, paid for by one charge that was made now or before."""

    answers: tuple[Answer, ...]

    @property
    def charge(self) -> int:
        """The number of the charge."""
        return int(self.answers[0].receipt.facts["charge"])

    @property
    def charged(self) -> bool:
        """Whether it was made now."""
        return self.answers[0].charged


class Dataset:
    """A curator behind the executor. Results that depend on data are sent at their deadline, not earlier."""

    def __init__(
        self,
        curator: Curator,
        executor: FixedTimeExecutor,
        approvals: Approvals,
        daily: Daily,
        limits: Limits,
        *,
        signer: Signer,
    ) -> None:
        self._signer, self._limits = signer, limits
        self._raised: Budget | None = None  # since the policy was read
        self._executor, self._approvals, self._daily = executor, approvals, daily
        self._watches, self._now = WatchSessions(limits), PolicyInForce(curator, limits)
        self._opening_watches, self._is_changing = 0, False

    @property
    def name(self) -> str:
        """The data set's declared id."""
        return self._curator.policy.id

    @property
    def policy(self) -> Policy:
        """The policy with the columns of the data; all of it is public."""
        return self._curator.resources.known

    @property
    def has_approvals(self) -> bool:
        """Whether some price waits for an owner."""
        return self._curator.policy.serving.approve_above is not None

    @property
    def postgres_port(self) -> int | None:
        """The port that the policy names for the PostgreSQL protocol."""
        return self._curator.policy.serving.postgres

    @property
    def default_price(self) -> dict[str, str]:
        """The price of questions over the PostgreSQL protocol that name none; empty if they must."""
        price = self._curator.policy.serving.default_price
        divide = Context(prec=100).divide  # exact: a policy's numbers are decimals
        return {name: f"{divide(*number.as_integer_ratio()):f}" for name, number in price or ()}

    # --- questions -----------------------------------------------------------------------------------------

    async def explain(self, ask: AskRequest) -> tuple[Plan, ...]:
        """Return the plans of a request: price and expected error. No data is read."""
        plans = await self._executor.plan(partial(self._now.plan, ask))
        self._check_time(plans)
        return plans

    async def explain_book(self, request: BookRequest) -> BookPlan:
        """Return the plan of a book. No data is read."""
        plan = await self._executor.plan(partial(self._now.plan_book, request))
        most = self._curator.policy.serving.max_cells
        if plan.cells > most:
            raise UnsupportedQuery(
                f"A book must have at most {most:,} cells, got {plan.cells:,}. Ask for fewer tables.",
                reason="cells",
            )
        self._check_time((plan,))
        return plan

    async def book(self, person: Person, request: BookRequest, *, key: str | None = None) -> Book | Approval:
        """Do for a book what `ask` does for a question."""
        now = self._now  # the owner may change the policy while this is planned
        plan = await self.explain_book(request)
        run = BookRun(now.curator.resources, (plan,), analyst=person.name)
        return await self._ask(person, run, key, now.pool)

    async def plan_public(self, work: Callable[[Policy], T]) -> T:
        """Return what work makes of the policy, which is public; it waits with the plans for its turn."""
        return await self._executor.plan(partial(work, self.policy))

    async def is_free(self, person: Person, plans: tuple[Plan, ...] | tuple[BookPlan]) -> bool:
        """Return whether this user would get a stored answer for free."""
        return await self._executor.use_ledger(self._run_of(person, plans).find) is not None

    async def ask(self, person: Person, ask: AskRequest, *, key: str | None = None) -> AskResult | Approval:
        """Charge, run, store and answer at the deadline, or return a stored answer at once.

        Above the policy's `approve_above`, the result may be an approval that waits for an owner.
        """
        now = self._now  # the owner may change the policy while this is planned
        run = QueryRun(now.curator.resources, await self.explain(ask), analyst=person.name)
        found = await self._ask(person, run, key, now.pool)
        return found if isinstance(found, Approval) else AskResult(found)

    async def _ask(
        self, person: Person, query_run: ChargedRun[Any, Found], key: str | None, pool: WorkerPool
    ) -> Found | Approval:
        plans, used = query_run.plans, None
        if self._is_above(person, price_of(plans)) and not await self.is_free(person, plans):
            text, price = "; ".join(plan.asked for plan in plans), price_of(plans)
            used = await self._use_approval(person, text, price, key)
            if used.state != "used":
                return used
        counted = self._counted(person, price_of(plans), plans)
        async with self._reopened_if_unpaid(used), counted as keep:
            seconds = self.seconds(plans)
            try:
                found = await self._executor.answer(pool, query_run, key=key, seconds=seconds)
            except (EngineFailure, asyncio.CancelledError) as error:
                if not isinstance(error, Busy | Unreachable):
                    keep()  # charged, and then late or failed
                raise
            if query_run.was_charged:
                keep()
            return found

    def waits(self, person: Person, plans: tuple[Plan, ...]) -> bool:
        """Return whether this user needs an owner's approval for this price."""
        return self._is_above(person, price_of(plans))

    def seconds(self, plans: tuple[Plan, ...] | tuple[BookPlan]) -> float:
        """Return when an answer is due: from plan and policy alone, the deadline of each pass added up."""
        return self._curator.policy.serving.deadline_s * sum(plan.passes for plan in plans)

    def _check_time(self, plans: tuple[Plan, ...] | tuple[BookPlan]) -> None:
        """Refuse what would be late whatever the data, by the work of its statements and cells alone."""
        needed = sum(plan.work.fixed_s for plan in plans)
        if needed > self.seconds(plans) / 2:
            raise UnsupportedQuery(
                f"A question must be estimated at {self.seconds(plans) / 2:.2g} s or less, half of its "
                f"deadline, before any row is read, got {needed:.2g} s. Ask for fewer groups or columns, or "
                "the owner for a longer deadline_s.",
                reason="work",
            )

    # --- watches -------------------------------------------------------------------------------------------

    async def open_watch(
        self, person: Person, terms: Mapping[str, Any], *, key: str | None = None
    ) -> str | Approval:
        """Open a watch, charged in full, and return its name. It exists in this process only."""
        if (known := self._watches.opened(person, terms, key)) is not None:
            return known
        self._watches.check_room(person)
        if self._is_changing:
            raise busy()
        self._opening_watches += 1
        try:
            return await self._open_watch(person, terms, key)
        finally:
            self._opening_watches -= 1

    async def _open_watch(self, person: Person, terms: Mapping[str, Any], key: str | None) -> str | Approval:
        price, used = _watch_price(terms), None
        if self._is_above(person, price):
            text = "watch " + ", ".join(f"{name} {terms[name]}" for name in sorted(terms))
            used = await self._use_approval(person, text, price, key)
            if used.state != "used":
                return used
        async with self._reopened_if_unpaid(used), self._counted(person, price) as keep:
            opening = partial(self._curator.for_analyst(person.name).watch, **terms, key=key)
            watch = await self._executor.use_ledger(opening)
            keep()
        return self._watches.add(person, watch, terms, key)

    async def look_at_watch(self, terms: Mapping[str, Any], *, questions: int) -> float:
        """Return how far from its threshold a watch of so many questions is right; nothing is charged."""
        return await self.plan_public(partial(watch_margin, terms=terms, questions=questions))

    def watches(self, person: Person) -> list[dict[str, Any]]:
        """Return this user's watches in this process, oldest first, with their questions and answers."""
        return [{"watch": name, **each.to_json()} for name, each in self._watches.of(person).items()]

    def stop_watch(self, person: Person, name: str) -> None:
        """Close a user's watch. Its charge stays."""
        self._watches.find(person, name)
        self._watches.drop(name)

    async def test(self, person: Person, name: str, question: str) -> tuple[bool, bool]:
        """Return whether a watch says "above", and whether that was its last answer.

        A test that is not done at its deadline ends its watch, because what it counted is unknown.
        """
        session, use = self._watches.find(person, name), self._executor.use_ledger
        if session.turn.locked():  # until the last test is due, which does not depend on the data
            raise busy()
        async with session.turn:
            watch, seconds = session.watch, self._curator.policy.serving.deadline_s
            asked = await use(watch.begin, question)
            try:
                above = await self._executor.when_due(
                    self._pool,
                    lambda worker: watch.compare(asked, run=lambda plan: worker.run(partial(read, plan))),
                    seconds=seconds,
                )
            except (Busy, Unreachable):  # nothing was read
                await use(watch.settle, asked)
                raise
            except Exception:  # noqa: BLE001  one constant error, whatever failed
                self._watches.drop(name)
                await use(watch.fail, asked)
                raise too_late() from None
            await use(watch.settle, asked)
            session.add_round(question, above=above)
            return above, session.ended

    # --- reading -------------------------------------------------------------------------------------------

    async def history(self, person: Person) -> list[dict[str, Any]]:
        """Return an analyst's own charges and their total, or everything for an owner."""
        whose = None if person.is_owner else person.name
        records = await self._executor.use_ledger(self._ledger.history, analyst=whose)
        return [record.to_json() for record in records]

    async def remaining(self, person: Person) -> Any:
        """Return the most that this user may still be charged, in the budget's own notion."""
        return await self._executor.use_ledger(self._ledger.remaining_for, person.name)

    async def balances(self, person: Person) -> tuple[Balance, ...]:
        """Return the accounts that this user's charges must fit, the data set's first."""
        return await self._executor.use_ledger(self._ledger.balances_for, person.name)

    def describe(self) -> dict[str, Any]:
        """Return the policy and the deadline. None of it is read from the data's rows."""
        serving = self._curator.policy.serving
        above = serving.approve_above
        policy = self.policy if self._raised is None else replace(self.policy, budget=self._raised)
        return {
            **policy.to_json(),
            "digest": self.policy.digest,
            "deadline_s": serving.deadline_s,
            "approve_above": None if above is None else {name: str(number) for name, number in above},
            "daily": None if serving.daily is None else {name: str(number) for name, number in serving.daily},
            "ration": self._curator.policy.ration.to_json(),
        }

    async def budget(self, person: Person) -> dict[str, Any]:
        """Return the budget and what this user may still spend; for an owner, also every account."""
        facts: dict[str, Any] = {
            "budget": notion_json((await self.balances(person))[0].budget),
            "remaining": notion_json(await self.remaining(person)),
            "failures": await self.failures(person),
        }
        if person.is_owner:
            balances = await self._executor.use_ledger(self._ledger.balances)
            facts["accounts"] = [each.to_json() for each in balances]
        return facts

    async def failures(self, person: Person) -> dict[str, Any]:
        """Return how many of this user's questions failed and how many more may; for an owner, all users'."""
        use, ledger = self._executor.use_ledger, self._ledger
        facts: dict[str, Any] = {
            "counted": await use(ledger.failures, person.name),
            "left": await use(ledger.failures_left, person.name),
        }
        if person.is_owner:
            facts["by_analyst"] = await use(ledger.failures_by_analyst)
        return facts

    async def spending(self) -> dict[str, Any]:
        """Return the budget and what was spent of it."""
        balances = await self._executor.use_ledger(self._ledger.balances)
        whole = next(each for each in balances if each.account == self.name)
        return {"spent": whole.spent, "budget": whole.budget}

    async def receipts(self, person: Person, charge: str) -> list[dict[str, Any]]:
        """Return the receipts of an answered charge: a user's own, or any for an owner."""
        if not charge.isascii() or not charge.isdigit() or len(charge) > 18:
            raise not_found()
        return [dict(each.receipt.facts) for each in await self.kept(person, int(charge))]

    async def kept(self, person: Person, charge: int) -> list[KeptAnswer]:
        """Return the stored answers of a charge to those who may see them, free, each with a receipt."""
        seen_by = None if person.is_owner else person.name
        if not 0 < charge < 10**18:
            raise not_found()
        found = await self._executor.use_ledger(self._ledger.find_seen, charge, seen_by)
        if found is None:
            raise not_found()
        return await self._executor.plan(partial(read_kept, found, self._signer, reader=person))

    # --- owners --------------------------------------------------------------------------------------------

    async def verify(self) -> Verification:
        """Recompute the whole chain of the ledger, and raise at the first difference."""
        return await self._executor.use_ledger(self._ledger.verify)

    async def reserve(self, analyst: str, budget: Mapping[str, Any], *, reason: str) -> None:
        """Reserve a share of the budget for one analyst: an entry in the ledger."""
        share = as_notion(read_budget(budget), self.policy.relation)
        await self._executor.use_ledger(self._ledger.reserve, analyst, share, reason=reason)

    async def decide(
        self, owner: Person, approval: str, decision: Literal["approved", "denied"], *, reason: str = ""
    ) -> Approval:
        """Record an owner's decision on a waiting question, and why, in the ledger; then apply it."""
        for each in await self.approvals(owner):
            if (each.id, each.state) == (approval, "waiting"):
                facts = {"analyst": each.person, "question": each.question, "price": each.price}
                record = partial(self._ledger.record_decision, decision, approval=each.id, by=owner.name)
                await self._executor.use_ledger(record, **facts, **({"reason": reason} if reason else {}))
                if reason:
                    await self.give_reason(owner, approval, reason)
        decide = partial(self._approvals.decide, self.name, approval, decision, owner=owner)
        return await self._executor.use_ledger(decide)

    async def raise_budget(self, budget: Mapping[str, Any], *, reason: str) -> None:
        """Allow more: an entry in the ledger. What was spent stays spent."""
        numbers = read_budget(budget)
        raised = as_notion(numbers, self.policy.relation)
        await self._executor.use_ledger(self._ledger.raise_budget, raised, reason=reason)
        self._raised = numbers

    async def give_reason(self, person: Person, approval: str, reason: str) -> None:
        """Keep why a user asks for an approval, or an owner decided on it."""
        await self._executor.use_ledger(self._approvals.give_reason, self.name, approval, person, reason)

    async def reasons(self, approval: str) -> dict[str, str]:
        """Return why an approval was asked for, and why an owner decided so."""
        return await self._executor.use_ledger(self._approvals.reasons, approval)

    async def release_failures(self, analyst: str | None, *, reason: str) -> int:
        """Reset the count of failures, of one analyst or of all, and return how many there were."""
        return await self._executor.use_ledger(self._ledger.release_failures, analyst=analyst, reason=reason)

    async def approvals(self, person: Person) -> tuple[Approval, ...]:
        """Return the questions that needed approval: all of them for an owner, an analyst's own otherwise."""
        return await self._executor.use_ledger(self._approvals.seen_by, self.name, person)

    def open(self) -> None:
        """Open engine, ledger and the first worker now, rather than at the first question."""
        self._now.open()

    def reopened(self, curator: Curator) -> "PolicyInForce":
        """Open engine, ledger and a worker for another policy, while those of today go on."""
        opened = PolicyInForce(curator, self._limits)
        try:
            opened.open()
        except BaseException:
            opened.close()
            raise
        return opened

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Open no watch while the block runs, in which another policy is put in force; a watch ends with its
        own policy."""
        if self._is_changing:
            raise busy()
        if self._watches.any_open or self._opening_watches:
            raise InvalidParameter("a policy must be changed while no watch is open, and one is.")
        self._is_changing = True
        try:
            yield
        finally:
            self._is_changing = False

    def put_in_force(self, opened: "PolicyInForce") -> "PolicyInForce":
        """Take every further question by another policy; return the one before, which is to be closed.

        Watches that no one used for long end here: their questions were planned by the policy before.
        """
        before, self._now = self._now, opened
        self._watches.end_all()
        return before

    def close(self) -> None:
        """Stop the workers, and close files and connections."""
        self._now.close()

    # --- helpers -------------------------------------------------------------------------------------------

    @property
    def _curator(self) -> Curator:
        return self._now.curator

    @property
    def _pool(self) -> WorkerPool:
        return self._now.pool

    @property
    def _ledger(self) -> Ledger:
        return self._curator.ledger

    def _run_of(
        self, person: Person, plans: tuple[Plan, ...] | tuple[BookPlan]
    ) -> ChargedRun[Any, tuple[Answer, ...]] | ChargedRun[Any, Book]:
        kind: Any = BookRun if isinstance(plans[0], BookPlan) else QueryRun
        run: ChargedRun[Any, Any] = kind(self._curator.resources, plans, analyst=person.name)
        return run

    def _is_above(self, person: Person, price: object) -> bool:
        return not person.is_owner and needs_approval(self._curator.policy.serving.approve_above, price)

    async def _use_approval(self, person: Person, text: str, price: Any, key: str | None) -> Approval:
        use = partial(self._approvals.use, self.name, person, text, notion_json(price), request=key)
        return await self._executor.use_ledger(use)

    @asynccontextmanager
    async def _counted(
        self, person: Person, price: object, plans: tuple[Plan, ...] | tuple[BookPlan] = ()
    ) -> AsyncIterator[Callable[[], None]]:
        """Count a price for its token's day, if the policy limits that and it is not free.

        It is taken back unless the block says that something was charged, or may have been.
        """
        cap, use = self._curator.policy.serving.daily, self._executor.use_people
        if cap is None or (plans and await self.is_free(person, plans)):
            yield lambda: None
            return
        day, kept = await use(self._daily.take, person, self.name, price, cap), []
        try:
            yield lambda: kept.append(True)
        finally:
            if not kept:
                await use(self._daily.untake, person, self.name, price, day)

    @asynccontextmanager
    async def _reopened_if_unpaid(self, used: Approval | None) -> AsyncIterator[None]:
        """Reopen a used approval after errors that mean that nothing was charged: a spent budget, a busy
        server, an engine out of reach."""
        try:
            yield
        except (BudgetExceeded, Busy, PolicyViolation, Rationed, Unreachable):
            if used is not None and not isinstance(used, RepeatedApproval):
                await self._executor.use_ledger(self._approvals.reopen, used)
            raise
        if isinstance(used, RepeatedApproval):
            await self._executor.use_ledger(self._approvals.keep_used, used)


def _watch_price(terms: Mapping[str, Any]) -> ApproxDP | PureDP:
    delta = terms.get("delta", 0)
    return ApproxDP(terms["epsilon"], delta) if delta else PureDP(terms["epsilon"])
