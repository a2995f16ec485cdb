"""One SELECT over a released table: every name is found, and stands for a column by its position."""

import difflib
from collections.abc import Callable
from dataclasses import dataclass, replace

from discreet.asking.after.split import rebuilt
from discreet.asking.policy import Type
from discreet.asking.queries.nodes import (
    Expression,
    Name,
    Order,
    Scalar,
    Select,
    Slot,
    aggregates,
    check_size,
    has_aggregate,
    refuse,
)

Columns = tuple[tuple[str, Type], ...]


@dataclass(frozen=True)
class Level:
    """A SELECT whose expressions are over slots: the columns of its source, then its scalar subqueries."""

    outputs: tuple[tuple[str, Expression], ...]
    scalars: tuple[Select, ...]
    width: int  # of the source
    where: Expression | None
    keys: tuple[Expression, ...]
    sets: tuple[tuple[int, ...], ...] | None
    having: Expression | None
    qualify: Expression | None
    order: tuple[Order, ...]
    limit: int | None
    offset: int
    distinct: bool
    grouped: bool


def find_names(query: Select, columns: Columns, alias: str) -> Level:
    """Return the SELECT with every name in its place; a name that nothing has is refused."""
    return _Names(query, columns, alias).level()


class _Names:
    def __init__(self, query: Select, columns: Columns, alias: str) -> None:
        self._query, self._columns, self._alias = query, columns, alias
        self._places = {name.lower(): place for place, (name, _) in enumerate(columns)}
        self._scalars: list[Select] = []
        self._outer: dict[str, Expression] = {}

    def level(self) -> Level:
        query, by_column, by_output = self._query, self._column_first, self._output_first
        outputs = self._outputs()
        self._outer = {name.lower(): each for name, each in reversed(outputs)}
        level = Level(
            outputs=tuple(outputs),
            scalars=(),
            width=len(self._columns),
            where=self._maybe(query.where, by_column),
            keys=tuple(self._find(each, by_column) for each in query.keys),
            sets=query.sets,
            having=self._maybe(query.having, by_column),
            qualify=self._maybe(query.qualify, by_column),
            order=tuple(
                replace(each, expression=self._find(each.expression, by_output)) for each in query.order
            ),
            limit=query.limit,
            offset=query.offset,
            distinct=query.distinct,
            grouped=aggregates(query) or query.having is not None,
        )
        if level.where is not None and has_aggregate(level.where):
            refuse("aggregate", "WHERE is before the groups. Write HAVING, or select from it.", query.where)
        check_size(*(each for _, each in outputs), *(each for each in (level.where, level.having) if each))
        return replace(level, scalars=tuple(self._scalars))

    def _outputs(self) -> list[tuple[str, Expression]]:
        found: list[tuple[str, Expression]] = []
        for each in self._query.outputs:
            if each.expression is not None:
                found.append((each.name, self._find(each.expression, self._column_first)))
                continue
            if each.table is not None and each.table.lower() != self._alias.lower():
                refuse(
                    "unknown_column", f"Table {each.table!r} is not in FROM. There is {self._alias!r}.", each
                )
            found += [(name, self._slot(place)) for place, (name, _) in enumerate(self._columns)]
        names = [name.lower() for name, _ in found]
        for name in names:
            if names.count(name) > 1:
                refuse(
                    "duplicate_column", f"Two columns are named {name!r}. Rename one with AS.", self._query
                )
        return found

    def _slot(self, place: int, node: Expression | None = None) -> Slot:
        return Slot(place, type=self._columns[place][1], place=None if node is None else node.place)

    def _maybe(self, node: Expression | None, look: Callable[[Name], Expression]) -> Expression | None:
        return None if node is None else self._find(node, look)

    def _find(self, node: Expression, look: Callable[[Name], Expression]) -> Expression:
        if isinstance(node, Name):
            return look(node)
        if isinstance(node, Scalar):
            if node.query not in self._scalars:
                self._scalars.append(node.query)
            return Slot(len(self._columns) + self._scalars.index(node.query), place=node.place)
        return rebuilt(node, lambda each: self._find(each, look))

    def _column_first(self, name: Name) -> Expression:
        found = self._column(name)
        if found is None and name.table is None:
            found = self._outer.get(name.name.lower())
        return self._refuse(name) if found is None else found

    def _output_first(self, name: Name) -> Expression:
        found = None if name.table is not None else self._outer.get(name.name.lower())
        return self._column_first(name) if found is None else found

    def _column(self, name: Name) -> Expression | None:
        if name.table is not None and name.table.lower() != self._alias.lower():
            refuse("unknown_column", f"Table {name.table!r} is not in FROM. There is {self._alias!r}.", name)
        place = self._places.get(name.name.lower())
        return None if place is None else self._slot(place, name)

    def _refuse(self, name: Name) -> Expression:
        known = [each for each, _ in self._columns]
        near = difflib.get_close_matches(name.name, known, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"There are: {', '.join(known[:12])}."
        return refuse("unknown_column", f"Column {name.name!r} is not in the answer. {hint}", name)
