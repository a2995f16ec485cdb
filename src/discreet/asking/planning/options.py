"""Options of a question other than its price: missing bounds, and how the price is divided."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from discreet.asking.policy import spell
from discreet.asking.queries import Question, Slot, quote, walk
from discreet.errors import InvalidParameter
from discreet.kernel.numerics import Real, exact_positive


@dataclass(frozen=True)
class PlanOptions:
    """`bounds` is "auto" where missing ones are to be found; `split` gives columns their weights.

    >>> PlanOptions.read(split={"n": 1, "total": 3}).comment
    ' /* split n 1, total 3 */'
    >>> PlanOptions.read(split={"n 1, total": 3}).comment
    ' /* split "n 1, total" 3 */'
    """

    bounds: str | None = None
    split: tuple[tuple[str, Fraction], ...] = ()

    @classmethod
    def read(cls, *, bounds: str | None = None, split: Mapping[str, Real] | None = None) -> "PlanOptions":
        """Read the options of `ask`."""
        if bounds not in (None, "auto"):
            raise InvalidParameter(f'bounds must be "auto" or absent, got {bounds!r}.', parameter="bounds")
        if split is not None and not isinstance(split, Mapping):
            raise InvalidParameter("split must map columns to weights.", parameter="split")
        if not all(isinstance(name, str) for name in split or ()):
            raise InvalidParameter("split must name columns by text.", parameter="split")
        weights = {name: exact_positive(weight, name="split") for name, weight in (split or {}).items()}
        return cls(bounds, tuple(sorted(weights.items())))

    @property
    def comment(self) -> str:
        """What the ledger keeps with the question's text: other options make another question."""
        parts = [f"bounds {self.bounds}"] if self.bounds else []
        if self.split:
            parts.append(
                "split " + ", ".join(f"{quote(name)} {spell(weight)}" for name, weight in self.split)
            )
        return f" /* {'; '.join(parts)} */" if parts else ""

    def weights(self, question: Question) -> tuple[Fraction, ...]:
        """Return the weight of each aggregate: the largest of the columns that use it, 1 where none says."""
        found = [Fraction(1)] * len(question.measures)
        first, given = len(question.keys), dict(self.split)
        for name in given:
            if name not in dict(question.columns):
                raise InvalidParameter(
                    f"split must name columns of the question, got {name[:60]!r}.", parameter="split"
                )
        stated: dict[int, Fraction] = {}
        for name, expression in question.columns:
            for slot in walk(expression):
                if isinstance(slot, Slot) and slot.index >= first and name in given:
                    place = slot.index - first
                    stated[place] = max(stated.get(place, Fraction(0)), given[name])
        for place, weight in stated.items():
            found[place] = weight
        return tuple(found)
