"""What the plans of one question share: the pairs of unit and group, and the units' norms, computed once.

An engine that can keep a result for the length of a question lends a `Store`; names are counted up inside it
and end with it. Which plans share is decided by the plans alone, so no result and no failure depends on it.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol, TypeAlias

from sqlglot import exp

from discreet.asking.engines.sql.relations import Relations
from discreet.asking.engines.sql.weighing import Weighing
from discreet.asking.planning import ExactMeasure, ExactPlan, ExactTable

Run: TypeAlias = Callable[[ExactPlan], ExactTable]


class Store(Protocol):
    """Keeps the rows of statements under names of ours, until the question is over."""

    def keep(self, name: str, select: exp.Expression) -> None:
        """Keep what a statement finds; other statements may then select from the name."""

    def rows(self, statement: exp.Expression) -> list[tuple[Any, ...]]:
        """Return the rows of a statement, which may be of what is kept."""


class Shared:
    """Runs the plans of one question, one after the other, from what is kept."""

    def __init__(self, relations: Relations, store: Store) -> None:
        self._relations, self._store = relations, store
        self._pairs: dict[ExactPlan, str] = {}
        self._norms: dict[tuple[str, tuple[ExactMeasure, ...]], str] = {}

    @staticmethod
    def serves(plan: ExactPlan) -> bool:
        """Return whether a plan has pairs that can be kept: known groups, and units with several rows."""
        return plan.weighs and not plan.each_row and (plan.other or bool(plan.labels))

    def rows(self, plan: ExactPlan) -> list[tuple[Any, ...]]:
        """Return the rows that the plan's own statement would have."""
        held = plan.beside if set(plan.measures) <= set(plan.beside) else plan.measures
        weighing = Weighing(plan, self._relations, held)
        pairs = self._pairs_of(replace(plan, measures=held, limit=None, excess=(), beside=()))
        return self._store.rows(weighing.answer(pairs, self._norms_of(weighing, pairs)))

    def _pairs_of(self, basis: ExactPlan) -> str:
        if basis not in self._pairs:
            name = f"pairs{len(self._pairs)}"
            self._store.keep(name, Weighing(basis, self._relations).kept_pairs())
            self._pairs[basis] = name
        return self._pairs[basis]

    def _norms_of(self, weighing: Weighing, pairs: str) -> str:
        key = pairs, weighing.plan.measures
        if key not in self._norms:
            name = f"norms{len(self._norms)}"
            self._store.keep(name, weighing.norms(pairs))
            self._norms[key] = name
        return self._norms[key]
