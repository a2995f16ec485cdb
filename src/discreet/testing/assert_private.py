"""assert_private: an audit as one line of a test."""

from collections.abc import Iterable
from typing import Any

from discreet.apps.auditing import AuditReport, audit
from discreet.kernel.numerics import Real


def assert_private(
    target: Any,
    *,
    claim: Any,
    neighbours: Iterable[Any] | None = None,
    confidence: Real = 1 - 1e-9,
    samples: int | None = 20_000,
    seconds: float = 30,
) -> AuditReport:
    """Fail if the claim of privacy is refuted; takes what `discreet.audit` takes, and returns its report.

    Accuracy: a correct target fails with probability at most 1 - confidence; `report.power` says what a
    passing test would have found.

    >>> assert_private(lambda data, n: [0] * n, claim=0, neighbours=(1, 2), samples=1000).verdict
    'not refuted'
    """
    __tracebackhide__ = True  # pytest then shows the caller's line
    report = audit(
        target, claim=claim, neighbours=neighbours, confidence=confidence, samples=samples, seconds=seconds
    )
    if report.violated:
        raise AssertionError(str(report))
    return report
