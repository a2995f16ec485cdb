"""One data set of the house, and what a person may do with it. REST and pages both go through here."""

import threading
from collections import OrderedDict
from dataclasses import dataclass
from functools import partial
from typing import Any

from discreet.answering import Answering
from discreet.answers import Answer
from discreet.curator import Curator
from discreet.ledger import Record
from discreet.planning import Plan
from discreet.server.asks import Ask
from discreet.server.deadlines import Desk
from discreet.server.people import Person
from discreet.tables import Policy

PLANS_KEPT = 512


@dataclass(frozen=True)
class Given:
    """What asking gave: the answers, the number of the charge behind them, and whether it was made now."""

    answers: tuple[Answer, ...]
    charge: int
    charged: bool


class Dataset:
    """A curator behind the desk."""

    def __init__(self, curator: Curator, desk: Desk) -> None:
        self._curator, self._desk = curator, desk
        self._plans: OrderedDict[tuple[object, ...], tuple[Plan, ...]] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The data set's declared id."""
        return self._curator.policy.id

    @property
    def policy(self) -> Policy:
        """What the owner declared, with the columns of the data; all of it is public."""
        return self._curator.known_policy

    async def explain(self, ask: Ask) -> tuple[Plan, ...]:
        """The plans of an ask: price and expected error. No data is touched."""
        return await self._desk.plan(partial(self._plan, ask))

    async def is_free(self, person: Person, ask: Ask) -> bool:
        """Whether this person would be answered from the ledger, for nothing."""
        answering = self._answering(person, await self.explain(ask))
        return await self._desk.look(answering.find) is not None

    async def ask(self, person: Person, ask: Ask, *, key: str | None = None) -> Given:
        """Charge, run, store and give, when due; or give at once what is stored."""
        plans = await self.explain(ask)
        answering = self._answering(person, plans)
        answers, charged = await self._desk.answer(answering, key=key, seconds=self.seconds(plans))
        return Given(answers, answering.charge_id, charged)

    def seconds(self, plans: tuple[Plan, ...]) -> float:
        """When an answer is due: from plan and policy alone, so much for each pass over the data."""
        passes = sum(len(each.exact.plans) for plan in plans for each in plan.sets)
        return self._curator.policy.serving.deadline_s * max(1, passes)

    def history(self, person: Person) -> tuple[Record, ...]:
        """An analyst's own charges; everything, to an owner."""
        records = self._curator.history
        return records if person.is_owner else tuple(r for r in records if r.analyst == person.name)

    def remaining(self, person: Person) -> Any:
        """What this person may still spend at most, as a value of the budget's own class."""
        return self._curator.for_analyst(person.name).remaining

    def close(self) -> None:
        self._curator.close()

    def _answering(self, person: Person, plans: tuple[Plan, ...]) -> Answering:
        return self._curator.for_analyst(person.name).answering(plans)

    def _plan(self, ask: Ask) -> tuple[Plan, ...]:
        """Plans are frozen and depend on policy and ask alone: equal asks share them."""
        with self._lock:
            if (known := self._plans.get(ask.identity)) is not None:
                self._plans.move_to_end(ask.identity)
                return known
        plans = self._curator.explain(ask.questions, **ask.terms)
        with self._lock:
            self._plans[ask.identity] = plans
            while len(self._plans) > PLANS_KEPT:
                self._plans.popitem(last=False)
        return plans
