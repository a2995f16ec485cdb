"""The report of an audit: the verdict, its witness, its power, and the evidence it follows from.

Tested by: tests/auditing/test_audit.py
"""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, Self, TypeAlias

from discreet.apps.auditing.claim import Claim, Finding, Verification
from discreet.errors import InvalidParameter
from discreet.kernel.numerics import (
    exact_probability,
    lines_html,
    normal_quantile,
    success_lower,
    success_upper,
    wilson,
)

# What an audit saw: events with their counts, from which every number of its report follows again.

PRIOR = 10  # imagined outputs on either side
SHOWN = 120  # characters of a neighbour in a report


@dataclass(frozen=True)
class Trial:
    """One event, counted on fresh outputs of both neighbours: `first` and `second` are (count, outputs)."""

    event: dict[str, Any]
    neighbours: tuple[str, str]
    first: tuple[int, int]
    second: tuple[int, int]
    risk: Fraction

    def judge(self, claim: Claim) -> Finding:
        """What it proves; false with probability at most `risk`, half of it for each of the two bounds."""
        half = self.risk / 2
        return claim.judge(success_lower(*self.first, risk=half), success_upper(*self.second, risk=half))

    def promise(self, claim: Claim) -> float:
        """About what `judge` will find, from Wilson's bounds: decides which trial is worth certifying."""
        z = normal_quantile(self.risk / 2)
        lower = wilson(*self.first, z=-z)
        upper = wilson(*self.second, z=z)
        return claim.judge(Fraction(max(lower, 0.0)), Fraction(max(upper, 1e-300))).strength

    @property
    def ratio(self) -> float:
        """About the log-ratio of the two rates, drawn towards 0: ranks trials that prove nothing yet."""
        (count, outputs), (other, others) = self.first, self.second
        return math.log((count + PRIOR) / (outputs + PRIOR) * (others + PRIOR) / (other + PRIOR))

    def to_json(self) -> dict[str, Any]:
        """Counts as whole numbers, the risk as exact text."""
        return {
            "event": self.event,
            "neighbours": list(self.neighbours),
            "first": list(self.first),
            "second": list(self.second),
            "risk": str(self.risk),
        }

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> Self:
        """The trial that was saved."""
        left, right = saved["neighbours"]
        return cls(
            saved["event"],
            (left, right),
            (saved["first"][0], saved["first"][1]),
            (saved["second"][0], saved["second"][1]),
            Fraction(saved["risk"]),
        )


def strongest(trials: Sequence[Trial], claim: Claim) -> Trial:
    """The trial that seems to prove most. All of them paid for the choice: their risks add up."""
    return max(trials, key=lambda trial: trial.promise(claim))


def show(data: Any) -> str:
    """A neighbour in a few words; audits run on made-up data, so its values may be shown."""
    text = " ".join(repr(data).split())
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."


# What an audit would have found: a silent one says little without it.

SURE = 1.645  # standard errors: found with probability 0.95


@dataclass(frozen=True)
class Power:
    """Violations that would have been refuted with probability 0.95 (by normal approximation).

    `epsilon`: the least true loss, were it shown as openly as by randomised response. `event`: the least
    probability of an event that is impossible on the other neighbour.
    """

    epsilon: float
    event: float

    def __str__(self) -> str:
        return (
            f"a true loss of {self.epsilon:.4g} shown as by randomised response, or an event of probability "
            f"{self.event:.2g} that a neighbour cannot produce, would have been refuted with probability 95 %"
        )


def estimate_power(*, outputs: int, risk: Fraction, epsilon: float, delta: float) -> Power:
    """The power of one trial of this many outputs per neighbour against the claim (epsilon, delta)."""
    z = normal_quantile(risk / 2)

    def refuted(p: float, q: float) -> bool:
        seen_p = max(p - SURE * math.sqrt(p * (1 - p) / outputs), 0.0)
        seen_q = min(q + SURE * math.sqrt(q * (1 - q) / outputs), 1.0)
        lower = wilson(seen_p * outputs, outputs, z=-z) - delta
        return lower > math.exp(min(epsilon, 700)) * wilson(seen_q * outputs, outputs, z=z)

    def response(loss: float) -> bool:
        odds = math.exp(-loss)
        return refuted(delta + (1 - delta) / (1 + odds), (1 - delta) * odds / (1 + odds))

    least = _least(response, epsilon, epsilon + 64)
    return Power(least, _least(lambda rate: refuted(rate, 0.0), 0.0, 1.0))


def _least(passes: Callable[[float], bool], low: float, high: float) -> float:
    """The least number in (low, high) that passes, by bisection; infinity if none does."""
    if not passes(high):
        return math.inf
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if passes(middle) else (middle, high)
    return high


Verdict: TypeAlias = Literal["violated", "not refuted"]
VERSION = 1


@dataclass(frozen=True, repr=False)
class AuditReport:
    """What an audit proved.

    `lower_bound` is an ε that the target certainly has at `delta` (with the stated confidence; exactly, where
    `method` is "exact"); the verdict is "violated" if it exceeds `claimed`. "not refuted" is not a proof of
    privacy: `power` says what would have been found. `samples` counts outputs of each neighbour in the
    deciding stage.
    """

    lower_bound: float
    verdict: Verdict
    witness: str
    delta: float
    claimed: float
    claim: Claim
    method: Literal["exact", "sampled"]
    confidence: float
    neighbours: tuple[str, str]
    samples: int
    power: Power | None
    trials: tuple[Trial, ...]
    seconds: float = 0.0

    @property
    def violated(self) -> bool:
        """Whether the claim is refuted."""
        return self.verdict == "violated"

    def __repr__(self) -> str:
        return f"<AuditReport: {self.verdict}, epsilon >= {self.lower_bound:.6g}, claimed {self.claimed:.6g}>"

    def _repr_html_(self) -> str:
        title, *lines = str(self).splitlines()
        return lines_html(title, [line.strip() for line in lines])

    def __str__(self) -> str:
        at = f" at delta = {self.delta:.3g}" if self.delta else ""
        sure = "exactly" if self.method == "exact" else f"with confidence 1 - {1 - self.confidence:.1g}"
        lines = [
            f"{self.verdict}: {self.claim.text}",
            f"  epsilon >= {self.lower_bound:.6g}{at} ({sure}); claimed {self.claimed:.6g}",
            f"  witness: {self.witness}",
            f"  neighbours: {self.neighbours[0]} and {self.neighbours[1]}",
            f"  power: {self.power}"
            if self.power
            else "  power: every event of the listed neighbours was checked",
            f"  {self.samples} outputs of each neighbour, {self.seconds:.2f} s",
        ]
        return "\n".join(lines)

    def to_json(self) -> str:
        """The report and the counts it follows from."""
        return json.dumps(
            {
                "version": VERSION,
                "verdict": self.verdict,
                "lower_bound": self.lower_bound if math.isfinite(self.lower_bound) else "infinity",
                "delta": self.delta,
                "claimed": self.claimed,
                "claim": self.claim.to_json(),
                "witness": self.witness,
                "method": self.method,
                "confidence": self.confidence,
                "neighbours": list(self.neighbours),
                "samples": self.samples,
                "seconds": self.seconds,
                "trials": [trial.to_json() for trial in self.trials],
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The report recomputed from saved counts: nothing but counts, risks and the claim is believed."""
        saved = json.loads(text)
        trials = [Trial.from_json(trial) for trial in saved["trials"]]
        if saved["method"] != "sampled" or not trials:
            raise InvalidParameter("saved evidence must hold counts. Run an exact audit again to check it.")
        sure = exact_probability(saved["confidence"], name="confidence")
        if sum(trial.risk for trial in trials) > 1 - sure:
            raise InvalidParameter("saved evidence must not spend more risk than its confidence leaves.")
        claim = Claim.from_json(saved["claim"])
        report = cls.of_trials(trials, claim, confidence=float(sure), samples=saved["samples"])
        return replace(report, seconds=saved["seconds"])

    @classmethod
    def of_verification(cls, verification: Verification, claim: Claim) -> Self:
        """The report of an exact check."""
        finding, (first, second) = verification.finding, (show(data) for data in verification.pair)
        p, q = verification.probabilities
        named = ", ".join(str(outcome) for outcome in verification.outcomes[:3])
        more = f" and {len(verification.outcomes) - 3} more" if len(verification.outcomes) > 3 else ""
        return cls(
            lower_bound=finding.lower_bound,
            verdict=verdict_of(finding),
            witness=f"the output is {named}{more}: probability {p:.6g} on {first}, {q:.6g} on {second}",
            delta=finding.delta,
            claimed=finding.claimed,
            claim=claim,
            method="exact",
            confidence=1.0,
            neighbours=(first, second),
            samples=0,
            power=None,
            trials=(),
        )

    def also(self, sampled: "AuditReport") -> "AuditReport":
        """An exact report with the samples that agree with it."""
        return replace(self, samples=sampled.samples, power=sampled.power, trials=sampled.trials)

    @classmethod
    def of_trials(cls, trials: Sequence[Trial], claim: Claim, *, confidence: float, samples: int) -> Self:
        """The report that counts lead to."""
        best = strongest(trials, claim)
        finding = best.judge(claim)
        outputs = min(best.first[1], best.second[1])
        return cls(
            lower_bound=finding.lower_bound,
            verdict=verdict_of(finding),
            witness=_witness(best),
            delta=finding.delta,
            claimed=finding.claimed,
            claim=claim,
            method="sampled",
            confidence=confidence,
            neighbours=best.neighbours,
            samples=samples,
            power=estimate_power(
                outputs=outputs, risk=best.risk, epsilon=finding.claimed, delta=finding.delta
            ),
            trials=tuple(trials),
        )


def verdict_of(finding: Finding) -> Verdict:
    """Violated if and only if more is proved than was claimed."""
    return "violated" if finding.excess > 0 else "not refuted"


def _witness(trial: Trial) -> str:
    rates = [count / outputs for count, outputs in (trial.first, trial.second)]
    return (
        f"{trial.event['words']}: {trial.first[0]} of {trial.first[1]} outputs ({rates[0]:.3g}) on "
        f"{trial.neighbours[0]}, {trial.second[0]} of {trial.second[1]} ({rates[1]:.3g}) "
        f"on {trial.neighbours[1]}"
    )
