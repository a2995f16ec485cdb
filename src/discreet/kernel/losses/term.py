"""A term of a loss: a family and how often it is used. Repetition is written here, once for all families."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from discreet.errors import InvalidParameter
from discreet.kernel.losses.family import Family, read_family
from discreet.kernel.numerics import exact_whole


@dataclass(frozen=True)
class Term:
    """`count` uses of one family."""

    family: Family
    count: int = 1

    def __str__(self) -> str:
        return str(self.family) if self.count == 1 else f"{self.count} * {self.family}"

    def to_json(self) -> dict[str, Any]:
        """The term's family with its count."""
        return {"count": self.count, **self.family.to_json()}


Terms: TypeAlias = tuple[Term, ...]


def gather(terms: Iterable[Term]) -> tuple[Term, ...]:
    """The terms in one order, equal families added up."""
    counts: dict[Family, int] = {}
    for term in terms:
        counts[term.family] = counts.get(term.family, 0) + term.count
    merged = (Term(family, count) for family, count in counts.items() if count)
    return tuple(sorted(merged, key=lambda term: str(term.family)))


def read_terms(data: Any) -> tuple[Term, ...]:
    """The terms that `Term.to_json` wrote."""
    if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
        raise InvalidParameter("the terms of a stored loss must be a list of objects.", parameter="terms")
    return gather(_read_term(item) for item in data)


def _read_term(data: dict[str, Any]) -> Term:
    rest = dict(data)
    count = exact_whole(rest.pop("count", 1), name="count", least=1)
    return Term(read_family(rest), count)


def show_terms(terms: tuple[Term, ...]) -> str:
    """The terms as a sum."""
    return " + ".join(str(term) for term in terms) or "nothing"
