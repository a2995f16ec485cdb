"""What a policy allows of that which no noise covers: failures, tiny prices, long watches."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.errors import InvalidParameter
from discreet.numerics import exact_positive

WORDS = ("failures", "failures_in_all", "least_price", "watch_tests")
MOST = 2**31 - 1


@dataclass(frozen=True, kw_only=True)
class Ration:
    """The `ration` of a policy (docs/theory/failures.md).

    `failures` is how many charged questions of one analyst may fail before asking waits for the owner. Once
    `failures_in_all` of a data set have failed, whoever has failed waits, and anyone else has one left.
    `least_price` is the least part of the budget that a question may cost, `watch_tests` the most questions
    of one watch.

    >>> Ration().least_price
    Fraction(1, 10000)
    """

    failures: int = 3
    failures_in_all: int = 10
    least_price: Fraction = Fraction(1, 10**4)
    watch_tests: int = 1000

    def __post_init__(self) -> None:
        for name in ("failures", "failures_in_all", "watch_tests"):
            _check_count(getattr(self, name), name)
        part = exact_positive(self.least_price, name="least_price")
        if part > 1:
            raise InvalidParameter(
                f"least_price must be a part of the budget, at most 1, got {float(part):.6g}.",
                parameter="least_price",
            )
        object.__setattr__(self, "least_price", part)

    @property
    def is_default(self) -> bool:
        """Whether the policy says nothing of it, or nothing else."""
        return self == Ration()

    def to_json(self) -> dict[str, Any]:
        """The settings, exactly."""
        return {name: str(getattr(self, name)) for name in WORDS}

    @classmethod
    def from_json(cls, facts: Mapping[str, str] | None) -> "Ration":
        """The ration that `to_json` wrote; None stands for the default."""
        told = {name: Fraction(text) for name, text in (facts or {}).items()}
        counts = {name: int(number) for name, number in told.items() if name != "least_price"}
        return cls(**{**told, **counts})  # type: ignore[arg-type]


def read_ration(words: object) -> Ration:
    """The ration that a policy states, in part or in whole.

    >>> read_ration({"failures": 5}).failures, read_ration(None).failures
    (5, 3)
    """
    if words is None or isinstance(words, Ration):
        return words or Ration()
    if not isinstance(words, Mapping) or not set(words) <= set(WORDS):
        raise InvalidParameter(
            f"ration must be a table of {', '.join(WORDS)}, got {str(words)[:60]}.", parameter="ration"
        )
    return Ration(**words)


def _check_count(value: object, name: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= MOST:
        raise InvalidParameter(
            f"{name} must be a whole number from 1 to 2^31 - 1, got {str(value)[:60]}.", parameter=name
        )
