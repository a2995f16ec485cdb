"""A watch over questions, paid for whole before the first of them."""

from typing import Any

from discreet.holdings import Holdings
from discreet.ledger import Request
from discreet.mechanisms import Sparse
from discreet.numerics import Real
from discreet.planning import read_asked
from discreet.release import Watch


def open_watch(
    holdings: Holdings, *, analyst: str, threshold: Real, key: str | None = None, **terms: Any
) -> Watch:
    """Charge a sparse vector of these terms, and give the watch that runs it.

    Privacy: the whole loss is charged durably here; what the watch tells costs nothing more.
    """
    holdings.check()
    engine = holdings.engine()
    stream = Sparse(threshold=0, relation=engine.policy.relation, **terms)
    watch = Watch(stream, threshold, engine.run, lambda asked: read_asked(asked, engine.policy)[1])
    holdings.ledger().charge(Request(loss=stream.loss, analyst=analyst, policy=engine.policy.digest, key=key))
    return watch
