"""One question from its plan to its answer, step by step.

`Curator.ask` takes all steps at once; a server takes them one by one, so that it can store and send at fixed
times.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Generic, TypeAlias, TypeVar

from discreet.asking.answers import Answer, Book, Receipt, restore, restore_book, store, store_book
from discreet.asking.planning import BookPlan, Plan, named_price, price_of
from discreet.asking.release import Run, release, release_book
from discreet.asking.resources import Resources
from discreet.errors import LedgerConflict
from discreet.kernel.ledger import Charge, Request
from discreet.kernel.plan import Permit

Planned = TypeVar("Planned", bound=Plan | BookPlan)
Answered = TypeVar("Answered")
Runner: TypeAlias = Callable[[tuple[Planned, ...], Permit], bytes]


def run_plans(plans: tuple[Plan, ...], permit: Permit, run: Run) -> bytes:
    """Read the data for charged plans, draw the noise, and return the answers as they are stored."""
    released = release(plans, permit, run)
    return store([Answer(plan, numbers, _receipt(plan, permit)) for plan, numbers in released])


def run_book(plans: tuple[BookPlan, ...], permit: Permit, run: Run) -> bytes:
    """Do the same for a charged book."""
    (plan,) = plans
    return store_book(plan, release_book(plan, permit, run), _receipt(plan, permit))


def _receipt(plan: Plan | BookPlan, permit: Permit) -> Receipt:
    return Receipt.of(plan, charge=permit.charge, remaining=permit.remaining, failures=permit.failures)


class ChargedRun(ABC, Generic[Planned, Answered]):
    """Plans that are charged, run and stored together: each step once, in this order.

    Privacy: nothing runs that was not charged, and nothing is returned that was not stored. The remaining
    budget is read before the data, so a receipt does not reveal how long its question ran.
    """

    def __init__(self, resources: Resources, plans: tuple[Planned, ...], *, analyst: str) -> None:
        self.plans: tuple[Planned, ...] = plans
        self._promises = tuple(plan.promises for plan in plans)  # what is charged is what may run
        self._resources, self._analyst = resources, analyst
        self._charge: Charge | None = None
        self._permit: Permit | None = None
        self._stored: bytes | None = None

    @property
    def was_charged(self) -> bool:
        """Whether it was charged now, and not answered before."""
        return self._charge is not None and self._charge.answer is None

    @abstractmethod
    def _run_here(self, plans: tuple[Planned, ...], permit: Permit) -> bytes:
        """Run charged plans in this process."""

    @abstractmethod
    def _restore(self, stored: bytes, *, charged: bool) -> Answered:
        """Return answers as they were stored."""

    def find(self) -> Answered | None:
        """Return stored answers that asking would return for free, or None if it would be charged."""
        found = self._resources.ledger().find_answer(self._request(key=None))
        return None if found is None else self._restore(found, charged=False)

    def charge(self, *, key: str | None = None) -> bool:
        """Charge all plans; return False if they were answered before, which is free."""
        self._resources.reach()  # before the charge: data that cannot be reached costs nothing
        ledger = self._resources.ledger()
        self._charge = ledger.charge(self._request(key=key))
        self._stored = self._charge.answer
        if self._stored is None:
            self._permit = Permit(
                self._charge.id, ledger.remaining, self._promises, ledger.failures(self._analyst)
            )
        return self._stored is None

    def run(self, runner: "Runner[Planned] | None" = None) -> None:
        """Read the data once; the result stays here until it is stored."""
        if self._permit is None:
            raise LedgerConflict("a question must be charged before it is run, and this one is not.")
        self._stored = (runner or self._run_here)(self.plans, self._permit)

    def store(self) -> Answered:
        """Store the answers in the ledger and return them: nothing may be sent before this."""
        assert self._stored is not None
        charged = self._charged.answer is None
        if charged:
            self._resources.ledger().answer(self._charged, self._stored)
        return self._restore(self._stored, charged=charged)

    def abandon(self) -> None:
        """Record in the ledger that there will be no answer: a failure is counted, and nothing refunded."""
        self._resources.ledger().abandon(self._charged)

    @property
    def _charged(self) -> Charge:
        if self._charge is None:
            raise LedgerConflict("a question must be charged before it is run, and this one is not.")
        return self._charge

    def _request(self, *, key: str | None) -> Request:
        policy = self.plans[0].policy
        first, *rest = (promise.loss for promises in self._promises for promise in promises)
        return Request(
            loss=sum(rest, first),
            price=named_price(policy, price_of(self.plans)),
            question="; ".join(plan.asked for plan in self.plans),
            analyst=self._analyst,
            policy=policy.answers_digest,
            formerly=policy.digest,
            key=key,
        )


class QueryRun(ChargedRun[Plan, tuple[Answer, ...]]):
    """Questions that share one charge."""

    def _run_here(self, plans: tuple[Plan, ...], permit: Permit) -> bytes:
        return run_plans(plans, permit, self._resources.engine().run)

    def _restore(self, stored: bytes, *, charged: bool) -> tuple[Answer, ...]:
        return restore(self.plans, stored, charged=charged)


class BookRun(ChargedRun[BookPlan, Book]):
    """A book, whose tables share one charge."""

    def _run_here(self, plans: tuple[BookPlan, ...], permit: Permit) -> bytes:
        return run_book(plans, permit, self._resources.engine().run)

    def _restore(self, stored: bytes, *, charged: bool) -> Book:
        (plan,) = self.plans
        return restore_book(plan, stored, charged=charged)
