"""Levels of a hierarchy as columns of a book: what is read instead of them, and what they are made of.

A table by `region` is read by the column that the hierarchy ends in, and its labels are added up: so a level
costs no pass over the data, and what one unit moves is what it moves in the table that is read.

Tested by: tests/planning/test_book_levels.py
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from discreet.asking.policy import Hierarchy, Table, Value, labels_by_level, level_of, starts_by_level
from discreet.asking.queries import Expression, Key, quote
from discreet.errors import UnsupportedQuery

Wanted: TypeAlias = Mapping[str, tuple[Hierarchy, int]]  # by the column that is read, in lower case
Named: TypeAlias = tuple[Expression, str | None]  # a column of a book; the level, where it is one


@dataclass(frozen=True)
class Level:
    """A level of a hierarchy that is a column of a book.

    `starts` says where each label begins among those that are read, the rest of these included; `finest` is
    the position of the book's finest level, which stands for what is read.
    """

    labels: tuple[Value, ...]
    starts: tuple[int, ...]
    finest: int

    @property
    def is_read(self) -> bool:
        """Whether the labels are those that are read."""
        return self.starts[-1] == len(self.starts) - 1


def read_levels(
    columns: tuple[str, ...], table: object
) -> tuple[tuple[str, ...], dict[str, tuple[Hierarchy, int]]]:
    """Return the columns that a table is read by, and the levels that are wanted of these."""
    if not isinstance(table, Table):
        return columns, {}
    found: dict[str, tuple[Hierarchy, int]] = {}
    plain: list[str] = []
    named = {each.lower() for each in columns}
    for name in columns:
        if (level := level_of(table.hierarchies, name)) is None:
            plain.append(name)
            continue
        hierarchy = level[0]
        column = hierarchy.column.lower()
        if column in named:
            continue  # a table by counties and their states is one by counties
        if column not in found:
            plain.append(hierarchy.column)
        found[column] = max(found.get(column, level), level, key=lambda each: each[1])
    return tuple(plain), found


def comment_of(wanted: Wanted) -> str:
    """Return what tells a question from the same one by other levels."""
    names = (
        f"{column} by {quote(hierarchy.levels[number])}" for column, (hierarchy, number) in wanted.items()
    )
    return f" /* {', '.join(names)} */" if wanted else ""


def arrange(
    columns: Mapping[Named, Key], wanted: Wanted
) -> tuple[tuple[Named, ...], dict[Named, Named], dict[int, Level]]:
    """Return the columns of a book in their order, levels last; what each stands for; and the levels, by
    their position. The finest labels are a level too where another one is asked for."""
    used = {expression for expression, level in columns if level is not None}
    if not used:
        return tuple(columns), {each: each for each in columns}, {}
    if len(used) > 1:
        raise UnsupportedQuery(
            "A book must have levels of one hierarchy at most. Ask for a book for each.", reason="book"
        )
    ((hierarchy, _), *_) = wanted.values()
    (read,) = used
    stands = {each: (read, hierarchy.column) if each == (read, None) else each for each in columns}
    plain = [each for each in columns if each[0] != read]
    known = {level for expression, level in stands.values() if expression == read}
    levels = [number for number, level in enumerate(hierarchy.levels) if level in known]
    keys = next(key.domain or () for (expression, _), key in columns.items() if expression == read)
    finest = len(plain) + len(levels) - 1
    found = {}
    for place, number in enumerate(levels, start=len(plain)):
        starts = (*starts_by_level(hierarchy, keys, number), len(keys))
        found[place] = Level(labels_by_level(hierarchy, keys, number), starts, finest)
    named: list[Named] = [*plain, *((read, hierarchy.levels[number]) for number in levels)]
    return tuple(named), stands, found
