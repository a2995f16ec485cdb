"""One question on its way from its plan to its answer, a step at a time.

`Curator.ask` takes the steps at once; a server takes them apart, so that what is stored and sent happens at a
time that the data did not choose.
"""

from typing import Any

from discreet.answers import Answer, Receipt, restore, store
from discreet.errors import LedgerConflict
from discreet.holdings import Holdings
from discreet.ledger import Charge, Request
from discreet.planning import Plan, named_price, price_of
from discreet.release import find_bounds, release


class Answering:
    """Plans that are charged, run and stored together: each step once, in this order.

    Privacy: nothing is run that was not charged, and nothing is given that was not stored. What remains is
    read before the data is: a receipt says nothing of how long its question ran.
    """

    def __init__(self, holdings: Holdings, plans: tuple[Plan, ...], *, analyst: str) -> None:
        self.plans = plans
        self._holdings, self._analyst = holdings, analyst
        self._charge: Charge | None = None
        self._left: Any = None
        self._stored: bytes | None = None

    @property
    def charge_id(self) -> int:
        """The number of the charge that pays, or once paid, for the answer."""
        return self._charged.id

    def find(self) -> tuple[Answer, ...] | None:
        """The stored answers that asking would give for nothing; None where it would be charged."""
        found = self._holdings.ledger().find_answer(self._request(key=None))
        return None if found is None else restore(self.plans, found)

    def charge(self, *, key: str | None = None) -> bool:
        """Pay for all plans; False where they were answered before, and this is free."""
        self._holdings.engine()  # before anything is paid: data that cannot be opened costs nothing
        ledger = self._holdings.ledger()
        self._charge = ledger.charge(self._request(key=key))
        self._stored = self._charge.answer
        if self._stored is None:
            self._left = ledger.remaining
        return self._stored is None

    def run(self) -> None:
        """Read the data, once; what is released stays here until it is stored."""
        charge, engine = self._charged, self._holdings.engine()
        plans = [find_bounds(plan, engine.run) for plan in self.plans]
        answers = [
            Answer(plan, release(plan, engine.run), Receipt.of(plan, charge=charge.id, remaining=self._left))
            for plan in plans
        ]
        self._stored = store(answers)

    def store(self) -> tuple[Answer, ...]:
        """Charged becomes answered; only after this may a byte of the answers leave."""
        assert self._stored is not None
        if self._charged.answer is None:
            self._holdings.ledger().answer(self._charged, self._stored)
        return restore(self.plans, self._stored)

    def abandon(self) -> None:
        """Say that no answer will come. Nothing is refunded."""
        self._holdings.ledger().abandon(self._charged)

    @property
    def _charged(self) -> Charge:
        if self._charge is None:
            raise LedgerConflict("a question must be charged before it is run, and it is not.")
        return self._charge

    def _request(self, *, key: str | None) -> Request:
        policy, losses = self.plans[0].policy, [plan.loss for plan in self.plans]
        return Request(
            loss=sum(losses[1:], losses[0]),
            price=named_price(policy, price_of(self.plans)),
            question="; ".join(plan.asked for plan in self.plans),
            analyst=self._analyst,
            policy=policy.digest,
            key=key,
        )
