"""dp.audit: a claim is tested by attacking it."""

import time
from collections.abc import Callable, Iterable
from typing import Any

from discreet.auditing.blackbox import Attack
from discreet.auditing.claim import Claim
from discreet.auditing.report import AuditReport
from discreet.errors import InvalidParameter
from discreet.numerics import Real, exact_probability, exact_whole

STAGES = (10_000, 100_000, 1_000_000)


def audit(
    target: Any,
    *,
    claim: Any,
    neighbours: Iterable[Any] | None = None,
    confidence: Real = 1 - 1e-6,
    samples: int | None = None,
    seconds: float = 60,
    progress: Callable[[str], None] = lambda message: None,
) -> AuditReport:
    """Try to refute a privacy claim.

        violated:  Pr[M(D) ∈ E] > e^ε Pr[M(D') ∈ E] + δ for a shown event E, at a claimed (ε, δ)

    target: f(data, n) that returns n independent outputs on data, of any kind, exceptions included.
    claim: an ε, a notion, or a PrivacyLoss. neighbours: a pair (D, D'), or a list of pairs.
    samples: outputs of each neighbour; by default 10⁴, 10⁵, 10⁶ in turn until refuted or out of `seconds`.

    Accuracy: the lower bound is wrong with probability at most 1 - confidence, whatever the target: events
    are chosen and counted on separate samples, and the risk is divided among all that were counted.

    >>> audit(lambda data, n: [data] * n, claim=1, neighbours=(0, 1), samples=1000).verdict
    'violated'
    """
    started = time.perf_counter()
    promise = Claim.read(claim)
    sure = exact_probability(confidence, name="confidence")
    if not 0 < sure < 1:
        raise InvalidParameter(f"confidence must lie in (0, 1), got {confidence}.", parameter="confidence")
    attack = Attack(_as_target(target), promise, read_pairs(neighbours), 1 - sure, progress)
    stages = STAGES if samples is None else (exact_whole(samples, name="samples", least=100),)
    ran = attack.run(stages, patience=seconds)
    return AuditReport.of_trials(
        attack.trials,
        promise,
        confidence=float(sure),
        samples=ran,
        seconds=time.perf_counter() - started,
    )


def read_pairs(neighbours: Iterable[Any] | None) -> list[tuple[Any, Any]]:
    """One pair (a tuple of two), or an iterable of pairs.

    >>> read_pairs((0, 1)), read_pairs([(0, 1), (1, 2)])
    ([(0, 1)], [(0, 1), (1, 2)])
    """
    if neighbours is None:
        raise InvalidParameter(
            "neighbours must be given for a function. Pass a pair (D, D') or pairs from auditing.neighbours.",
            parameter="neighbours",
        )
    if isinstance(neighbours, tuple) and len(neighbours) == 2:
        return [neighbours]
    pairs = [pair for pair in neighbours if isinstance(pair, tuple) and len(pair) == 2]
    if not pairs:
        raise InvalidParameter("neighbours must be a pair (D, D') or a list of pairs, got none.")
    return pairs


def _as_target(target: Any) -> Any:
    if not callable(target):
        raise InvalidParameter("target must be a function f(data, n) or a mechanism.", parameter="target")
    return target
