"""One question on its way from its plan to its answer, a step at a time.

`Curator.ask` takes the steps at once; a server takes them apart, so that what is stored and sent happens at a
time that the data did not choose.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from discreet.answers import Answer, Receipt, restore, store
from discreet.errors import LedgerConflict
from discreet.holdings import Holdings
from discreet.ledger import Charge, Request
from discreet.planning import Plan, named_price, price_of
from discreet.release import Run, find_bounds, release


@dataclass(frozen=True)
class Permit:
    """What the ledger says of a charge: its number, and what remained after it."""

    charge: int
    remaining: Any


Runner: TypeAlias = Callable[[tuple[Plan, ...], Permit], bytes]


def run_plans(plans: tuple[Plan, ...], permit: Permit, run: Run) -> bytes:
    """Read the data for charged plans and draw the noise: their answers, as they are stored."""
    found = [find_bounds(plan, run) for plan in plans]
    return store(
        [
            Answer(
                plan, release(plan, run), Receipt.of(plan, charge=permit.charge, remaining=permit.remaining)
            )
            for plan in found
        ]
    )


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
        return None if found is None else restore(self.plans, found, charged=False)

    def charge(self, *, key: str | None = None) -> bool:
        """Pay for all plans; False where they were answered before, and this is free."""
        self._holdings.engine()  # before anything is paid: data that cannot be opened costs nothing
        ledger = self._holdings.ledger()
        self._charge = ledger.charge(self._request(key=key))
        self._stored = self._charge.answer
        if self._stored is None:
            self._left = ledger.remaining
        return self._stored is None

    def run(self, runner: Runner | None = None) -> None:
        """Read the data, once; what is released stays here until it is stored."""
        permit = Permit(self._charged.id, self._left)
        self._stored = (runner or self._run_here)(self.plans, permit)

    def store(self) -> tuple[Answer, ...]:
        """Charged becomes answered; only after this may a byte of the answers leave."""
        assert self._stored is not None
        charged = self._charged.answer is None
        if charged:
            self._holdings.ledger().answer(self._charged, self._stored)
        return restore(self.plans, self._stored, charged=charged)

    def abandon(self) -> None:
        """Say that no answer will come. Nothing is refunded."""
        self._holdings.ledger().abandon(self._charged)

    def _run_here(self, plans: tuple[Plan, ...], permit: Permit) -> bytes:
        return run_plans(plans, permit, self._holdings.engine().run)

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
