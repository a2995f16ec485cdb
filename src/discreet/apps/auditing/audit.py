"""dp.audit: a claim is tested by attacking it."""

import inspect
import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from discreet.apps.auditing.blackbox import Attack, Target
from discreet.apps.auditing.claim import Claim, verify
from discreet.apps.auditing.report import AuditReport
from discreet.apps.auditing.targets import Audited, read_mechanism
from discreet.errors import InvalidParameter
from discreet.kernel.numerics import Real, exact_positive, exact_probability, exact_whole

STAGES = (2_000, 20_000, 200_000, 1_000_000)


def audit(
    target: Any,
    *,
    claim: Any = None,
    neighbours: Iterable[Any] | None = None,
    confidence: Real = 1 - 1e-6,
    samples: int | None = None,
    seconds: float = 60,
    progress: Callable[[str], None] = lambda message: None,
) -> AuditReport:
    """Try to refute a privacy claim.

        violated:  Pr[M(D) ∈ E] > e^ε Pr[M(D') ∈ E] + δ for a shown event E, at a claimed (ε, δ)

    target: a mechanism of discreet, or f(data, n) that returns n independent outputs on data, of any kind,
    exceptions included. claim: an ε, a notion, or a PrivacyLoss; a mechanism's own loss unless stated.
    neighbours: a pair (D, D') or several. samples: outputs of each neighbour, of the more promising of
    several pairs; by default 2000 to 10⁶ in turn until refuted or out of `seconds`.

    A mechanism with a finite law is enumerated first, which decides exactly; then it is sampled all the same,
    because code can differ from its law.

    Accuracy: the lower bound is wrong with probability at most 1 - confidence, whatever the target: events
    are chosen and counted on separate samples, and the risk is divided among all that were counted.

    >>> audit(lambda data, n: [data] * n, claim=1, neighbours=(0, 1), samples=1000).verdict
    'violated'
    """
    started = time.perf_counter()
    promise = Claim.read(_claim_of(target) if claim is None else claim)
    sure = exact_probability(confidence, name="confidence")
    if not 0 < sure < 1:
        raise InvalidParameter(f"confidence must lie in (0, 1), got {confidence}.", parameter="confidence")
    patience = _read_seconds(seconds) if samples is None else math.inf  # what is asked for is drawn
    audited = read_target(target, neighbours)
    verified = _verify(audited, promise)
    if verified is None or not verified.violated:
        stages = STAGES if samples is None else stages_to(samples, pairs=len(audited.pairs))
        sampled = attack(
            audited.target,
            promise,
            audited.pairs,
            sure=sure,
            stages=stages,
            seconds=patience,
            progress=progress,
        )
        verified = sampled if verified is None or sampled.violated else verified.also(sampled)
    return replace(verified, seconds=time.perf_counter() - started)


def _claim_of(target: Any) -> Any:
    """Return what a mechanism claims of itself; a function claims nothing."""
    if inspect.isroutine(target) or not hasattr(target, "loss"):
        raise InvalidParameter(
            "claim must be given for a function: what it is said to keep. Pass claim=1 for epsilon 1.",
            parameter="claim",
        )
    return target.loss


def attack(
    target: Target,
    claim: Claim,
    pairs: Sequence[tuple[Any, Any]],
    *,
    sure: Fraction,
    stages: Sequence[int],
    seconds: float,
    progress: Callable[[str], None],
) -> AuditReport:
    """The report of larger and larger samples, until the claim is refuted or a stage would last too long."""
    attempt = Attack(target, claim, pairs, 1 - sure, progress)
    ran = attempt.run(stages, patience=seconds)
    return replace(
        AuditReport.of_trials(attempt.trials, claim, confidence=float(sure), samples=ran),
        seconds=attempt.seconds,
    )


def stages_to(samples: int, *, pairs: int) -> tuple[int, ...]:
    """The stages before `samples` outputs: none for a single pair, smaller ones to choose among several.

    >>> stages_to(500_000, pairs=1), stages_to(500_000, pairs=16)
    ((500000,), (2000, 20000, 200000, 500000))
    """
    most = exact_whole(samples, name="samples", least=100)
    return (*(stage for stage in STAGES if pairs > 1 and 2 * stage <= most), most)


def _read_seconds(seconds: float) -> float:
    """A length of time; infinity is patience without end."""
    return seconds if seconds == math.inf else float(exact_positive(seconds, name="seconds"))


def _verify(audited: Audited, claim: Claim) -> AuditReport | None:
    """Return the exact report, where the law is finite for some of the pairs."""
    verified = verify(audited.law, audited.enumerated, claim)
    return None if verified is None else AuditReport.of_verification(verified, claim)


def read_target(target: Any, neighbours: Iterable[Any] | None) -> Audited:
    """A function with its pairs, or a mechanism with its own or the given pairs."""
    if inspect.isroutine(target) or not hasattr(target, "loss"):
        if not callable(target):
            raise InvalidParameter(
                f"target must be a function f(data, n) or a mechanism, got {type(target).__name__}.",
                parameter="target",
            )
        return Audited(target, read_pairs(neighbours))
    audited = read_mechanism(target)
    if neighbours is None:
        return audited
    pairs = read_pairs(neighbours)
    return replace(audited, pairs=pairs, enumerated=pairs)


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
    pairs = list(neighbours) if isinstance(neighbours, Iterable) else []
    if not pairs or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        raise InvalidParameter(
            "neighbours must be a pair (D, D') or a list of such pairs, each a tuple.", parameter="neighbours"
        )
    return pairs
