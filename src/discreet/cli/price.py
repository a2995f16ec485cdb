"""The price options that ask and explain share."""

from dataclasses import dataclass
from typing import Any

from cyclopts import Parameter

from discreet.cli.source import read_number


@Parameter(name="*")
@dataclass(frozen=True)
class Priced:
    """What the question may cost: exactly one of epsilon, rho and within."""

    epsilon: str | None = None
    "The price in epsilon."
    delta: str | None = None
    "The delta to go with it; by default 0 with public keys, else 1/16 of the opening delta."
    rho: str | None = None
    "The price in rho (zero-concentrated)."
    within: str | None = None
    "Find the least price that keeps the error within this number."
    confidence: str = "0.95"
    "The confidence of the intervals."

    def terms(self) -> dict[str, Any]:
        """The arguments of `ask`, as exact numbers."""
        given = {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "rho": self.rho,
            "within": self.within,
            "confidence": self.confidence,
        }
        return {name: read_number(text, name=name) for name, text in given.items() if text is not None}
