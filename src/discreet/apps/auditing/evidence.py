"""What an audit saw: events with their counts, from which every number of its report follows again."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from discreet.apps.auditing.claim import Claim, Finding
from discreet.kernel.numerics import normal_quantile, success_lower, success_upper, wilson

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
