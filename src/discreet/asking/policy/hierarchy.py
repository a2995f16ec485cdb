"""Hierarchies that the owner declares: levels above a column's labels, each label in one of the level above.

Written `"region > state > county"`, with the paths: a CSV file or rows of labels. The last level is a column
of the table, whose keys are its labels; the levels above are public facts about these, and no columns.
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from discreet.asking.policy.column import MOST_KEYS, Column, Value, spell
from discreet.errors import InvalidParameter

_MOST_LEVELS = 8


@dataclass(frozen=True)
class Hierarchy:
    """The levels of a column, coarse to fine; the last one is the column itself.

    `labels` are those of each level above the column. `starts` says for each of these where, in the order of
    the column's keys, the keys of each label begin.
    """

    levels: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    starts: tuple[tuple[int, ...], ...]

    @property
    def column(self) -> str:
        """The column that has the levels."""
        return self.levels[-1]

    def to_json(self) -> dict[str, object]:
        """Return all of it, for the policy's identity."""
        return {
            "levels": list(self.levels),
            "labels": [list(each) for each in self.labels],
            "starts": [list(each) for each in self.starts],
        }

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> "Hierarchy":
        """Return the hierarchy that `to_json` wrote."""
        levels, labels, starts = (facts[each] for each in ("levels", "labels", "starts"))
        return cls(tuple(levels), tuple(map(tuple, labels)), tuple(map(tuple, starts)))


def read_hierarchies(
    declared: object, columns: tuple[Column, ...], *, folder: Path | None = None
) -> tuple[tuple[Column, ...], tuple[Hierarchy, ...]]:
    """Return a table's columns, with the keys that its hierarchies give them, and the hierarchies.

    >>> paths = [("west", "CA"), ("east", "NY"), ("west", "WA")]
    >>> (state,), (found,) = read_hierarchies({"region > state": paths}, ())
    >>> state.keys, found.labels, found.starts
    (('CA', 'WA', 'NY'), (('west', 'east'),), ((0, 2),))
    """
    if not isinstance(declared, Mapping):
        raise InvalidParameter(
            'hierarchies must map levels to paths: {"region > state > county": "places.csv"}.',
            parameter="hierarchies",
        )
    found: list[Hierarchy] = []
    for name, source in declared.items():
        levels = _read_levels(name)
        hierarchy, keys = _arranged(levels, _read_paths(source, levels, folder))
        columns = _with_keys(columns, hierarchy, keys)
        found.append(hierarchy)
    _check_names(found)
    return columns, tuple(found)


def _read_levels(name: object) -> tuple[str, ...]:
    levels = tuple(part.strip() for part in name.split(">")) if isinstance(name, str) else ()
    if not 2 <= len(levels) <= _MOST_LEVELS or not all(levels) or len(_lower(levels)) < len(levels):
        raise InvalidParameter(
            f"a hierarchy must be 2 to {_MOST_LEVELS} levels as 'region > state > county', the last one a "
            f"column, got {str(name)[:100]!r}.",
            parameter="hierarchies",
        )
    return levels


def _lower(names: Iterable[str]) -> set[str]:
    return {each.lower() for each in names}


def _read_paths(source: object, levels: tuple[str, ...], folder: Path | None) -> list[Sequence[object]]:
    if isinstance(source, str | Path):
        return _read_file(Path(source) if folder is None else folder / source, levels)
    found = list(source) if isinstance(source, Iterable) and not isinstance(source, Mapping) else []
    for each in found or [None]:
        if not isinstance(each, tuple | list) or len(each) != len(levels):
            _refuse_paths(levels)
    return found


def _read_file(path: Path, levels: tuple[str, ...]) -> list[Sequence[object]]:
    """Return the paths of a CSV file whose header names the levels, among other columns perhaps."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(islice(file, MOST_KEYS + 2), strict=True)
            names = {name.strip().lower(): name for name in reader.fieldnames or ()}
            if not _lower(levels) <= set(names):
                _refuse_paths(levels)
            return [[row[names[level.lower()]] for level in levels] for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error):
        raise InvalidParameter(
            f"the paths of a hierarchy must be a CSV file that can be read, got {str(path)[:200]!r}.",
            parameter="hierarchies",
        ) from None


def _refuse_paths(levels: tuple[str, ...]) -> None:
    raise InvalidParameter(
        f"paths of a hierarchy must be rows of {len(levels)} labels, or a CSV file with the columns "
        f"{', '.join(levels)[:200]}.",
        parameter="hierarchies",
    )


def _arranged(levels: tuple[str, ...], paths: list[Sequence[object]]) -> tuple[Hierarchy, tuple[object, ...]]:
    """Return the hierarchy and the column's keys, children of one label side by side, first come first."""
    if not 0 < len(paths) <= MOST_KEYS:
        raise InvalidParameter(
            f"a hierarchy must have 1 to {MOST_KEYS:,} paths, got {len(paths):,}.", parameter="hierarchies"
        )
    ranks: list[dict[object, int]] = [{} for _ in levels]
    above: list[dict[object, object]] = [{} for _ in levels]
    for path in paths:
        for depth, label in enumerate(path):
            _check_label(label, levels[depth], leaf=depth == len(levels) - 1)
            ranks[depth].setdefault(label, len(ranks[depth]))
            if depth and above[depth].setdefault(label, path[depth - 1]) != path[depth - 1]:
                _refuse_label(label, levels[depth], f"must be in one {levels[depth - 1]}")
    if len(ranks[-1]) != len(paths):
        raise InvalidParameter(
            f"each {levels[-1][:60]} of a hierarchy must have one path. Use a code where names are shared.",
            parameter="hierarchies",
        )
    ordered = sorted(paths, key=lambda path: [rank[label] for rank, label in zip(ranks, path, strict=True)])
    labels, starts = [], []
    for depth in range(len(levels) - 1):
        firsts = [
            place
            for place, path in enumerate(ordered)
            if not place or path[depth] != ordered[place - 1][depth]
        ]
        starts.append(tuple(firsts))
        labels.append(tuple(str(ordered[place][depth]) for place in firsts))
    return Hierarchy(levels, tuple(labels), tuple(starts)), tuple(path[-1] for path in ordered)


def _check_label(label: object, level: str, *, leaf: bool) -> None:
    if not leaf and not (isinstance(label, str) and 0 < len(label) <= 1000):
        _refuse_label(label, level, "must be a text of 1 to 1,000 letters")
    if label is None or label == "":
        _refuse_label(label, level, "must be a value")


def _refuse_label(label: object, level: str, rule: str) -> None:
    raise InvalidParameter(
        f"{str(label)[:60]!r}, a {level[:60]} of a hierarchy, {rule}. Use a code where names are shared.",
        parameter="hierarchies",
    )


def _with_keys(
    columns: tuple[Column, ...], hierarchy: Hierarchy, keys: tuple[object, ...]
) -> tuple[Column, ...]:
    """Return the columns, the hierarchy's own with its labels as keys."""
    name = hierarchy.column
    known = next((each for each in columns if each.name.lower() == name.lower()), None)
    if known is None:
        return (*columns, Column.read(name, keys=keys))
    if known.declared and known.type == "integer":
        keys = tuple(map(_as_whole, keys))
    read = Column.read(
        known.name,
        type=known.type if known.declared else None,
        keys=keys,
        nullable=known.nullable,
        missing=known.missing,
    )
    if known.keys is not None and {spell(each) for each in known.keys} != {
        spell(each) for each in read.keys or ()
    }:
        raise InvalidParameter(
            f"keys of column {name[:60]!r} must be the labels of its hierarchy, or be left out.",
            parameter="hierarchies",
        )
    read = replace(read, bounds=known.bounds)
    return tuple(read if each is known else each for each in columns)


def _as_whole(label: object) -> object:
    """Return the whole number that a file has as text; other labels stay, and are refused."""
    try:
        return int(label) if isinstance(label, str) else label
    except ValueError:
        return label


def _check_names(hierarchies: list[Hierarchy]) -> None:
    names = [level.lower() for each in hierarchies for level in each.levels]
    if len(set(names)) < len(names):
        raise InvalidParameter(
            "levels of a table's hierarchies must have different names.", parameter="hierarchies"
        )


def level_of(hierarchies: Sequence[Hierarchy], name: str) -> tuple[Hierarchy, int] | None:
    """Return the hierarchy and the number of the level above a column that a name means, coarse ones first;
    None where it means none."""
    for hierarchy in hierarchies:
        for number, level in enumerate(hierarchy.levels[:-1]):
            if level.lower() == name.lower():
                return hierarchy, number
    return None


def labels_by_level(hierarchy: Hierarchy, keys: tuple[Value, ...], number: int) -> tuple[Value, ...]:
    """Return the labels of a level; the last one's are the column's keys."""
    return keys if number == len(hierarchy.levels) - 1 else hierarchy.labels[number]


def starts_by_level(hierarchy: Hierarchy, keys: tuple[Value, ...], number: int) -> tuple[int, ...]:
    """Return where the labels of a level begin among the keys."""
    return tuple(range(len(keys))) if number == len(hierarchy.levels) - 1 else hierarchy.starts[number]
