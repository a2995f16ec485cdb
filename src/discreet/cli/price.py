"""The price options that ask and explain share."""

from dataclasses import dataclass
from typing import Annotated, Any

from cyclopts import Parameter

from discreet.cli.options import read_named, read_number


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
    auto_bounds: Annotated[bool, Parameter(negative="")] = False
    "Find bounds that are not declared, privately, with a quarter of the price."
    split: tuple[str, ...] = ()
    "A column's weight in the division of the price, as total=3; may be repeated."

    def terms(self) -> dict[str, Any]:
        """The arguments of `ask`, as exact numbers."""
        given = {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "rho": self.rho,
            "within": self.within,
            "confidence": self.confidence,
        }
        terms: dict[str, Any] = {
            name: read_number(text, name=name) for name, text in given.items() if text is not None
        }
        if self.auto_bounds:
            terms["bounds"] = "auto"
        if self.split:
            named = (read_named(each) for each in self.split)
            terms["split"] = {name: read_number(text, name="split") for name, text in named}
        return terms
