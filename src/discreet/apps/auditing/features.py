"""Ways of looking at an output: each turns outcomes into one column, in which events are then sought.

None of them knows which mechanism it looks at. A number is seen as itself and by its grain (how fine, which
last bits, which fraction); a row also by its sums, differences, order and ties; everything else by
equality.

Tested by: tests/auditing/test_events.py, tests/auditing/test_audit.py
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from discreet.apps.auditing.outcomes import Codes, Column, Outcomes

MOST_COLUMNS = 24  # positions of a long row that are looked at one by one
MOST_PAIRED = 6  # positions that are compared two by two
LEAST_TO_LEARN = 500  # outputs of each neighbour
FEW = 64  # different outputs that are all looked at one by one
SOME = 1000  # outputs that often show at once that there are more than a few
NOTHING = -5000  # the lowest bit of 0, infinity and NaN: below every real one


@dataclass(frozen=True)
class Feature:
    """A column computed from outcomes: `words` name it, `text` says what a value of it means.

    `handicap` is how much more ε it must prove to be preferred: what people can read goes first.
    """

    words: str
    compute: Callable[[Outcomes], Column]
    text: Callable[[Outcomes, int], str] | None = None
    handicap: float = 0.0

    def __call__(self, outcomes: Outcomes) -> Column:
        found = outcomes.cache.get(self.words)
        if found is None:
            found = outcomes.cache[self.words] = self.compute(outcomes)
        return found


def list_features(first: Outcomes, second: Outcomes) -> list[Feature]:
    """Every way of looking at outputs of this shape."""
    labels = list(dict.fromkeys((*first.labels, *second.labels)))
    names = list(dict.fromkeys((*first.numbers, *second.numbers)))
    features = [_label_feature(name) for name in labels]
    if has_few(first, second):
        return [*features, *(_number_feature(name) for name in names)]
    for name in _telling(names, first, second):
        features.extend(_number_features(name))
    if len(names) > 1:
        features.extend(_row_features(names))
    return features


def has_few(first: Outcomes, second: Outcomes) -> bool:
    """Whether there are so few different outputs that looking at whole ones is the best there is."""
    whole = [outcomes.labels["the whole output"].codes for outcomes in (first, second)]
    if len(np.unique(whole[0][:SOME])) > FEW:
        return False
    return len(np.unique(np.concatenate(whole))) <= FEW


def can_learn(first: Outcomes, second: Outcomes) -> bool:
    """Whether positions could be weighed together: there are several, and enough different outputs."""
    several = len({*first.numbers, *second.numbers}) > 1
    return several and min(first.size, second.size) >= LEAST_TO_LEARN and not has_few(first, second)


def _telling(names: list[str], first: Outcomes, second: Outcomes) -> list[str]:
    """All positions of a short row; of a long one the first, the last, and those that differ most."""
    if len(names) <= MOST_COLUMNS:
        return names
    difference = {name: _difference(first.number(name), second.number(name)) for name in names}
    ranked = sorted(names, key=difference.__getitem__, reverse=True)
    return list(dict.fromkeys([names[0], names[-1], *ranked]))[:MOST_COLUMNS]


def _difference(first: Column, second: Column) -> float:
    """How far apart two columns lie: standardised means, then spreads; enough to rank positions."""
    with np.errstate(all="ignore"):
        spread = np.nanstd(first) + np.nanstd(second)
        gap = abs(np.nanmean(first) - np.nanmean(second)) + abs(np.nanstd(first) - np.nanstd(second))
    return float(gap / spread) if spread > 0 else float(np.inf if gap > 0 else 0)


def _label_feature(name: str) -> Feature:
    def compute(outcomes: Outcomes) -> Column:
        found = outcomes.labels.get(name)
        return np.zeros(outcomes.size, dtype=np.uint64) if found is None else found.codes

    return Feature(name, compute, lambda outcomes, row: outcomes.labels[name].text(row))


def _number_feature(name: str) -> Feature:
    return Feature(name, lambda outcomes: outcomes.number(name).astype(np.float64))


def _number_features(name: str) -> Iterator[Feature]:
    yield _number_feature(name)
    yield Feature(f"the exponent of the lowest set bit of {name}", lambda o: lowest_bit(o.number(name)))
    yield Feature(f"the last 8 bits of {name}", lambda o: last_bits(o.number(name)))
    yield Feature(f"the fraction of {name}", lambda o: _fraction(o.number(name)))


def lowest_bit(column: Column) -> Column:
    """The largest e such that the number is a multiple of 2^e: which lattice it lies on.

    >>> lowest_bit(np.array([1.0, 0.75, 6.0])).tolist()
    [0, -2, 1]
    """
    if column.dtype.kind == "i":
        return np.where(column != 0, _log2(column & -column), NOTHING)
    bits = np.ascontiguousarray(column, dtype=np.float64).view(np.int64)
    exponent, fraction = bits >> 52 & 0x7FF, bits & (1 << 52) - 1
    whole = np.where(exponent > 0, fraction | 1 << 52, fraction)  # times 2^(exponent - 1075); 0 is 1 there
    proper = (whole != 0) & (exponent < 0x7FF)
    return np.where(proper, np.maximum(exponent, 1) - 1075 + _log2(whole & -whole), NOTHING)


def _log2(powers: Column) -> Column:
    """The exponents of powers of two, read from their floating-point representations."""
    return (powers.astype(np.float64).view(np.int64) >> 52 & 0x7FF) - 1023


def last_bits(column: Column) -> Column:
    """The last byte of the number's machine representation: of an integer its residue modulo 256."""
    return np.ascontiguousarray(column).view(np.uint64) & np.uint64(0xFF)


def _fraction(column: Column) -> Column:
    if column.dtype.kind == "i":
        return np.zeros(len(column))
    with np.errstate(invalid="ignore"):
        return column - np.floor(column)


def _row_features(names: list[str]) -> Iterator[Feature]:
    """A row seen as a whole: sums, order, ties, counts, and differences of its positions."""
    yield Feature("the sum of the row", lambda o: rows_of(o, names).sum(axis=1))
    yield Feature("the alternating sum of the row", lambda o: rows_of(o, names) @ _signs(len(names)))
    yield Feature(
        "the second half's sum minus the first's", lambda o: rows_of(o, names) @ _halves(len(names))
    )
    yield Feature("the largest of the row", lambda o: rows_of(o, names).max(axis=1))
    yield Feature("the smallest of the row", lambda o: rows_of(o, names).min(axis=1))
    yield Feature("the range of the row", lambda o: _range(rows_of(o, names)))
    yield Feature("where the row is largest", lambda o: rows_of(o, names).argmax(axis=1))
    yield Feature("where the row is smallest", lambda o: rows_of(o, names).argmin(axis=1))
    yield Feature("how many of the row are not 0", lambda o: np.count_nonzero(rows_of(o, names), axis=1))
    yield Feature("how many neighbours in the row are equal", lambda o: _ties(rows_of(o, names)))
    yield Feature("where the row is first not 0", lambda o: (rows_of(o, names) != 0).argmax(axis=1))
    yield Feature("where the row is first missing", lambda o: np.isnan(rows_of(o, names)).argmax(axis=1))
    yield Feature("the order of the row", lambda o: _order(rows_of(o, names)))
    for first, second in _pairs(names):
        yield _difference_feature(first, second)


def _difference_feature(first: str, second: str) -> Feature:
    return Feature(f"{second} - {first}", lambda o: _subtract(o.number(second), o.number(first)))


def rows_of(outcomes: Outcomes, names: list[str]) -> Column:
    """The numeric positions as a matrix of float64, laid out by columns: rows are short."""
    found = outcomes.cache.get("rows")
    if found is None:
        columns = [outcomes.number(name) for name in names]
        found = outcomes.cache["rows"] = np.stack(columns).astype(np.float64, copy=False).T
    return found


def _signs(width: int) -> Column:
    return np.where(np.arange(width) % 2 == 0, 1.0, -1.0)


def _halves(width: int) -> Column:
    return np.where(np.arange(width) < width // 2, -1.0, 1.0)


def _range(rows: Column) -> Column:
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray(rows.max(axis=1) - rows.min(axis=1))


def _ties(rows: Column) -> Column:
    return np.asarray(np.count_nonzero(rows[:, 1:] == rows[:, :-1], axis=1))


def _order(rows: Column) -> Codes:
    """A code of the permutation that sorts the row (of its first positions, if it is long)."""
    places = np.argsort(rows[:, :8], axis=1, kind="stable").astype(np.uint64)
    code = np.zeros(len(rows), dtype=np.uint64)
    for place in places.T:
        code = code * np.uint64(8) + place
    return code


def _pairs(names: list[str]) -> list[tuple[str, str]]:
    if len(names) <= MOST_PAIRED:
        return list(combinations(names, 2))
    near = list(pairwise(names))[: MOST_COLUMNS // 2]
    return [*near, (names[0], names[-1])]


def _subtract(first: Column, second: Column) -> Column:
    with np.errstate(invalid="ignore", over="ignore"):
        return np.subtract(first, second, dtype=np.float64)
