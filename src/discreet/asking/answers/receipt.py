"""Receipt: what was done and what it cost; nothing of the data."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib import metadata
from typing import Any

from discreet.asking.planning import BookPlan, Plan
from discreet.kernel.numerics import short_down, short_up

FREE = "from the ledger, free"  # how each interface describes an answer that was stored before
_NUMBERS = ("epsilon", "delta", "rho", "mu")


@dataclass(frozen=True)
class Receipt:
    """What was done and what it cost; nothing of the data. Readable and shareable.

    `charged` says whether it was paid for now; an answer that was stored before comes from the ledger, free.
    """

    facts: Mapping[str, Any]
    charged: bool = True

    @classmethod
    def of(cls, plan: Plan | BookPlan, *, charge: int, remaining: object, failures: int = 0) -> "Receipt":
        """Return the receipt of a plan that was charged and run."""
        facts = {
            "format": 1,
            "discreet": metadata.version("discreet"),
            "charge": charge,
            "dataset": plan.policy.id,
            "version": plan.policy.version,
            "policy": plan.policy.digest,
            "question": plan.text,
            "plan": plan.sentences(),
            "price": _numbers(plan.price, short_up),
            "loss": plan.loss.to_json(),
            "remaining": _numbers(remaining, short_down),
            "failures": failures,
        }
        return cls(facts)

    def in_words(self, fact: str) -> str:
        """Return the price, or what remains, as text: epsilon 0.5, delta 1e-06."""
        return ", ".join(f"{name} {self.facts[fact][name]}" for name in _NUMBERS if name in self.facts[fact])

    def to_json(self) -> dict[str, Any]:
        """Return the facts, for programs; and whether they were charged for now."""
        return {**self.facts, "charged": self.charged}

    def __str__(self) -> str:
        spent, left = self.in_words("price"), self.in_words("remaining")
        lines = [
            f"Receipt {self.facts['charge']} for data set {self.facts['dataset']!r}, "
            f"version {self.facts['version']!r}",
            *self.facts["plan"],
            f"Charged: {spent}. Remaining: {left}."
            if self.charged
            else f"Given {FREE}. Charged before: {spent}. Remaining then: {left}.",
        ]
        if failures := self.facts.get("failures"):
            lines.append(f"Questions that failed before it, and count: {failures}.")
        return "\n".join(lines)


def _numbers(notion: object, short: Callable[[Fraction], str]) -> dict[str, str]:
    """Return a notion's numbers, short and on the safe side, by name."""
    return {name: short(getattr(notion, name)) for name in _NUMBERS if hasattr(notion, name)}
