"""A watch over questions, paid for whole before the first of them."""

from typing import Any

from discreet.asking.planning import budget_of, read_asked
from discreet.asking.policy import Policy
from discreet.asking.release import Watch
from discreet.asking.resources import Resources
from discreet.kernel.ledger import Charge, Request
from discreet.kernel.losses import ApproxDP, PureDP
from discreet.kernel.mechanisms import Sparse
from discreet.kernel.numerics import Real


def open_watch(
    resources: Resources, *, analyst: str, threshold: Real, key: str | None = None, **terms: Any
) -> Watch:
    """Charge a sparse vector of these terms, and give the watch that runs it.

    Privacy: the whole loss is charged durably here; what the watch tells costs nothing more.
    """
    engine = resources.reach()
    policy, book = engine.policy, Tests(resources)
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
    book.watch = resources.ledger().open_watch(request)
    return watch


class Tests:
    """The questions of one watch in the ledger: each is under way from before the data is read."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self.watch: Charge | None = None

    def begin(self) -> Charge:
        """Enter one more, if the allowance of failures admits it and the data is in reach."""
        assert self.watch is not None
        self._resources.reach()
        return self._resources.ledger().begin_test(self.watch)

    def settle(self, entered: Charge) -> None:
        """It has its answer, which costs nothing more and is kept nowhere."""
        self._resources.ledger().answer(entered, b"")

    def fail(self, entered: Charge) -> None:
        """It failed, or was late: counted before its error leaves."""
        self._resources.ledger().abandon(entered)


def _price(policy: Policy, stream: Sparse) -> ApproxDP | None:
    """The price as it was named, where a plain sum of the rounds would be charged instead."""
    if not stream.delta or not isinstance(budget_of(policy), PureDP | ApproxDP):
        return None
    return ApproxDP(stream.epsilon, stream.delta, policy.relation)
