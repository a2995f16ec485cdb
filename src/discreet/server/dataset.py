"""One data set of the service, and what a person may do with it. REST and pages both go through here."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from discreet.accounting import notion_json
from discreet.answers import Answer
from discreet.curator import Curator
from discreet.errors import BudgetExceeded, PolicyViolation, Rationed, UnsupportedQuery
from discreet.ledger import Balance, Verification
from discreet.losses import ApproxDP, PureDP
from discreet.planning import Plan, as_notion, budget_of, price_of
from discreet.query_run import QueryRun
from discreet.server.approvals import Approval, Approvals, RepeatedApproval, needs_approval
from discreet.server.deadlines import FixedTimeExecutor
from discreet.server.limits import Limits
from discreet.server.people import Person
from discreet.server.plans import Plans
from discreet.server.refusals import Busy, Unreachable, busy, not_found, too_late
from discreet.server.request_bodies import AskRequest
from discreet.server.watch_sessions import Watches
from discreet.server.worker import read
from discreet.server.worker_pool import WorkerPool
from discreet.tables import Policy, read_budget

LONGEST_PASS = (
    0.9  # of its deadline that a pass may take before the engine stops it, as its process still can
)


@dataclass(frozen=True)
class AskResult:
    """What asking gave: the answers, of one charge that was made now or before."""

    answers: tuple[Answer, ...]

    @property
    def charge(self) -> int:
        """The number of the charge behind them."""
        return int(self.answers[0].receipt.facts["charge"])

    @property
    def charged(self) -> bool:
        """Whether it was made now."""
        return self.answers[0].charged


class Dataset:
    """A curator behind the executor. Whatever touches data is given when it is due, and not before."""

    def __init__(
        self, curator: Curator, executor: FixedTimeExecutor, approvals: Approvals, limits: Limits
    ) -> None:
        self._curator, self._executor, self._approvals = curator, executor, approvals
        self._plans, self._watches = Plans(curator), Watches(limits)
        curator.limit_time(LONGEST_PASS * curator.policy.serving.deadline_s)
        curator.opening()  # refused here, where other processes could not open it
        self._pool = WorkerPool(curator.opening, **_size(curator.policy.engine, limits))

    @property
    def name(self) -> str:
        """The data set's declared id."""
        return self._curator.policy.id

    @property
    def policy(self) -> Policy:
        """What the owner declared, with the columns of the data; all of it is public."""
        return self._curator.known_policy

    # --- questions -----------------------------------------------------------------------------------------

    async def explain(self, ask: AskRequest) -> tuple[Plan, ...]:
        """The plans of an ask: price and expected error. No data is touched."""
        plans = await self._executor.plan(partial(self._plans.of, ask))
        self._check_time(plans)
        return plans

    async def is_free(self, person: Person, plans: tuple[Plan, ...]) -> bool:
        """Whether this person would be answered from the ledger, for nothing."""
        return await self._executor.look(self._query_run(person, plans).find) is not None

    async def ask(self, person: Person, ask: AskRequest, *, key: str | None = None) -> AskResult | Approval:
        """Charge, run, store and give, when due; or give at once what is stored. Above the policy's
        `approve_above`, what comes back instead may be an approval that waits for an owner.
        """
        plans = await self.explain(ask)
        query_run, used = self._query_run(person, plans), None
        if self._is_above(person, price_of(plans)) and not await self.is_free(person, plans):
            text, price = "; ".join(plan.asked for plan in plans), price_of(plans)
            used = await self._use_approval(person, text, price, key)
            if used.state != "used":
                return used
        async with self._given_back_if_unpaid(used):
            seconds = self.seconds(plans)
            return AskResult(await self._executor.answer(self._pool, query_run, key=key, seconds=seconds))

    def seconds(self, plans: tuple[Plan, ...]) -> float:
        """When an answer is due: from plan and policy alone, so much for each pass over the data."""
        return self._curator.policy.serving.deadline_s * sum(plan.passes for plan in plans)

    def _check_time(self, plans: tuple[Plan, ...]) -> None:
        """Refuse what would be late whatever the data are: by the work of its statements and cells alone."""
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
        """Open a watch, charged whole: its name. It lives in this process alone; a key opens one."""
        if (known := self._watches.opened(person, terms, key)) is not None:
            return known
        self._watches.check_room(person)
        price, used = _watch_price(terms), None
        if self._is_above(person, price):
            words = "watch " + ", ".join(f"{name} {terms[name]}" for name in sorted(terms))
            used = await self._use_approval(person, words, price, key)
            if used.state != "used":
                return used
        async with self._given_back_if_unpaid(used):
            opening = partial(self._curator.for_analyst(person.name).watch, **terms, key=key)
            watch = await self._executor.look(opening)
        return self._watches.add(person, watch, terms, key)

    def watches(self, person: Person) -> list[dict[str, Any]]:
        """This person's watches in this process, oldest first, with what was asked of each and said."""
        return [{"watch": name, **each.to_json()} for name, each in self._watches.of(person).items()]

    def stop_watch(self, person: Person, name: str) -> None:
        """End a person's watch. What it cost stays charged."""
        self._watches.find(person, name)
        self._watches.drop(name)

    async def test(self, person: Person, name: str, question: str) -> tuple[bool, bool]:
        """Whether a watch says above, and whether that was its last answer. A test that is not done when
        due ends its watch: what it counted is not known.
        """
        session = self._watches.find(person, name)
        if session.turn.locked():  # until the last test is due: this says nothing of the data
            raise busy()
        async with session.turn:
            watch, seconds = session.watch, self._curator.policy.serving.deadline_s
            asked = await self._executor.look(partial(watch.begin, question))
            try:
                above = await self._executor.when_due(
                    self._pool,
                    lambda worker: watch.compare(asked, run=lambda plan: worker.do(partial(read, plan))),
                    seconds=seconds,
                )
            except (Busy, Unreachable):  # nothing was read
                await self._executor.look(partial(watch.settle, asked))
                raise
            except Exception:  # noqa: BLE001  one constant, whatever broke
                self._watches.drop(name)
                await self._executor.look(partial(watch.fail, asked))
                raise too_late() from None
            await self._executor.look(partial(watch.settle, asked))
            session.note(question, above=above)
            return above, session.ended

    # --- looking -------------------------------------------------------------------------------------------

    async def history(self, person: Person) -> list[dict[str, Any]]:
        """An analyst's own charges, with their own sum; everything, to an owner."""
        whose = None if person.is_owner else person.name
        records = await self._executor.look(partial(self._curator.ledger.history, analyst=whose))
        return [record.to_json() for record in records]

    async def remaining(self, person: Person) -> Any:
        """What this person may still be charged at most, as a value of the budget's own class."""
        return await self._executor.look(partial(self._curator.ledger.remaining_for, person.name))

    async def balances(self, person: Person) -> tuple[Balance, ...]:
        """How the accounts stand that this person's charges must fit, the data set's first."""
        return await self._executor.look(partial(self._curator.ledger.balances_for, person.name))

    def describe(self) -> dict[str, Any]:
        """The policy, and when answers are due: nothing of it was read from the data's rows."""
        serving = self._curator.policy.serving
        above = serving.approve_above
        return {
            **self.policy.to_json(),
            "digest": self.policy.digest,
            "deadline_s": serving.deadline_s,
            "approve_above": None if above is None else {name: str(number) for name, number in above},
            "ration": self._curator.policy.ration.to_json(),
        }

    async def budget(self, person: Person) -> dict[str, Any]:
        """What this person may still spend, and of what budget; to an owner, how every account stands."""
        ledger = self._curator.ledger
        facts: dict[str, Any] = {
            "budget": notion_json(budget_of(self.policy)),
            "remaining": notion_json(await self.remaining(person)),
            "failures": await self.failures(person),
        }
        if person.is_owner:
            facts["accounts"] = [each.to_json() for each in await self._executor.look(ledger.balances)]
        return facts

    async def failures(self, person: Person) -> dict[str, Any]:
        """How many of this person's questions failed, and may yet; to an owner, everybody's."""
        ledger = self._curator.ledger
        facts: dict[str, Any] = {
            "counted": await self._executor.look(partial(ledger.failures, person.name)),
            "left": await self._executor.look(partial(ledger.failures_left, person.name)),
        }
        if person.is_owner:
            facts["by_analyst"] = await self._executor.look(ledger.failures_by_analyst)
        return facts

    async def spending(self) -> dict[str, Any]:
        """What is spent, and of what budget."""
        return {
            "spent": await self._executor.look(lambda: self._curator.ledger.spent),
            "budget": budget_of(self.policy),
        }

    async def receipts(self, person: Person, charge: str) -> list[dict[str, Any]]:
        """The receipts of an answered charge: a person's own, or any, to an owner."""
        if not charge.isascii() or not charge.isdigit() or len(charge) > 18:
            raise not_found()
        found = await self._executor.look(partial(self._curator.ledger.find_charge, int(charge)))
        if found is None or not found.answer or not (person.is_owner or found.analyst == person.name):
            raise not_found()
        return [facts["receipt"] for facts in json.loads(found.answer)["answers"]]

    async def verify(self) -> Verification:
        """Recompute the whole chain, or raise at the first difference."""
        return await self._executor.look(self._curator.ledger.verify)

    async def reserve(self, analyst: str, budget: Mapping[str, Any], *, reason: str) -> None:
        """Keep a share of the budget for one analyst: an owner's entry in the chain."""
        share = as_notion(read_budget(budget), self.policy.relation)
        await self._executor.look(partial(self._curator.ledger.reserve, analyst, share, reason=reason))

    async def decide(self, owner: Person, approval: str, decision: Literal["approved", "denied"]) -> Approval:
        """An owner's word on a question that waits: an entry of the chain, and then it counts."""
        waiting = [
            each for each in await self.approvals(owner) if (each.id, each.state) == (approval, "waiting")
        ]
        for each in waiting:
            facts = {"analyst": each.person, "question": each.question, "price": each.price, "by": owner.name}
            entered = partial(self._curator.ledger.record_decision, decision, approval=each.id, **facts)
            await self._executor.look(entered)
        decided = partial(self._approvals.decide, self.name, approval, decision, owner=owner)
        return await self._executor.look(decided)

    async def release_failures(self, analyst: str | None, *, reason: str) -> int:
        """Count failures from zero again, one analyst's or all: an owner's entry. How many there were."""
        return await self._executor.look(
            partial(self._curator.ledger.release_failures, analyst=analyst, reason=reason)
        )

    async def approvals(self, person: Person) -> tuple[Approval, ...]:
        """What waited for an owner: all of it to an owner, an analyst's own otherwise."""
        return await self._executor.look(partial(self._approvals.seen_by, self.name, person))

    def open(self) -> None:
        """Open engine, ledger and the first worker, which otherwise happens at the first question."""
        self._curator.open_all()
        self._pool.open()

    def close(self) -> None:
        """End the workers, give back files and connections."""
        self._pool.close()
        self._curator.close()

    # --- parts ---------------------------------------------------------------------------------------------

    def _query_run(self, person: Person, plans: tuple[Plan, ...]) -> QueryRun:
        return QueryRun(self._curator.resources, plans, analyst=person.name)

    def _is_above(self, person: Person, price: object) -> bool:
        return not person.is_owner and needs_approval(self._curator.policy.serving.approve_above, price)

    async def _use_approval(self, person: Person, text: str, price: Any, key: str | None) -> Approval:
        use = partial(self._approvals.use, self.name, person, text, notion_json(price), request=key)
        return await self._executor.look(use)

    @asynccontextmanager
    async def _given_back_if_unpaid(self, used: Approval | None) -> AsyncIterator[None]:
        """An approval that met a spent budget, a busy server or a lost engine may be used again: nothing was
        charged.
        """
        try:
            yield
        except (BudgetExceeded, Busy, PolicyViolation, Rationed, Unreachable):
            if used is not None and not isinstance(used, RepeatedApproval):
                await self._executor.look(partial(self._approvals.give_back, used))
            raise


def _size(engine: object, limits: Limits) -> dict[str, int]:
    """How many workers there may be: one, and no spare, where each would start a Spark of its own."""
    driver = isinstance(engine, str) and engine.startswith(("spark", "local["))
    return {"most": 1, "spares": 0} if driver else {"most": limits.runners, "spares": 1}


def _watch_price(terms: Mapping[str, Any]) -> ApproxDP | PureDP:
    delta = terms.get("delta", 0)
    return ApproxDP(terms["epsilon"], delta) if delta else PureDP(terms["epsilon"])
