"""A watch over questions, paid for whole before the first of them."""

from typing import Any

from discreet.holdings import Holdings
from discreet.ledger import Charge, Request
from discreet.losses import ApproxDP, PureDP
from discreet.mechanisms import Sparse
from discreet.numerics import Real
from discreet.planning import budget_of, read_asked
from discreet.release import Watch
from discreet.tables import Policy


def open_watch(
    holdings: Holdings, *, analyst: str, threshold: Real, key: str | None = None, **terms: Any
) -> Watch:
    """Charge a sparse vector of these terms, and give the watch that runs it.

    Privacy: the whole loss is charged durably here; what the watch tells costs nothing more.
    """
    engine = holdings.reach()
    policy, book = engine.policy, Tests(holdings)
    stream = Sparse(threshold=0, relation=policy.relation, **terms)
    watch = Watch(
        stream,
        threshold,
        engine.run,
        lambda asked: read_asked(asked, policy)[1],
        book=book,
        most=policy.ration.watch_tests,
    )
    request = Request(
        loss=stream.loss, price=_price(policy, stream), analyst=analyst, policy=policy.digest, key=key
    )
    book.watch = holdings.ledger().open_watch(request)
    return watch


class Tests:
    """The questions of one watch in the ledger: each is under way from before the data is read."""

    def __init__(self, holdings: Holdings) -> None:
        self._holdings = holdings
        self.watch: Charge | None = None

    def begin(self) -> Charge:
        """Enter one more, if the allowance of failures admits it and the data is in reach."""
        assert self.watch is not None
        self._holdings.reach()
        return self._holdings.ledger().begin_test(self.watch)

    def settle(self, entered: Charge) -> None:
        """It has its answer, which costs nothing more and is kept nowhere."""
        self._holdings.ledger().answer(entered, b"")

    def fail(self, entered: Charge) -> None:
        """It failed, or was late: counted before its error leaves."""
        self._holdings.ledger().abandon(entered)


def _price(policy: Policy, stream: Sparse) -> ApproxDP | None:
    """The price as it was named, where a plain sum of the rounds would be charged instead."""
    if not stream.delta or not isinstance(budget_of(policy), PureDP | ApproxDP):
        return None
    return ApproxDP(stream.epsilon, stream.delta, policy.relation)
