"""How much work a question is: a function of the tree and the policy, never of the data.

An answer that is late tells something, so one unit must not be able to make it late. What its rows can cause
is reckoned here before anything is charged: how often its rows are multiplied by joins and UNION ALL, and
what is computed on each of them. A question where that is noticeable is refused.

Seconds are those of a processor, measured once on DuckDB and rounded up: an estimate of the most, to tell
much from little. A unit may have more rows in a table than count; so at least LEAST_ROWS are reckoned with,
and a table whose units have far more takes longer for every question.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from discreet.asking.planning.bound import groups_of, passes_of, passes_under_limits
from discreet.asking.policy import Policy
from discreet.asking.queries import (
    Aggregate,
    Call,
    Case,
    Expression,
    Filtered,
    Joined,
    Name,
    PerUnit,
    Project,
    Question,
    Relation,
    Scan,
    Stacked,
    is_public,
    scans,
)
from discreet.errors import UnsupportedQuery

# What an expression costs on one row: the parts that it becomes for an engine, and the seconds they take.

READ_S = 10e-9  # a stored or computed value is read
PLAIN_S = 50e-9  # it is compared, added, chosen
HEAVY_S = 500e-9  # it is divided, rounded, taken from a date
TEXT_S = 2e-6  # it is a text as long as a name, and changed, cut, searched or read as something else
NAME_LETTERS = 8  # that a name has; a text of a question may have thousands

# How often at most an engine's SQL repeats what a function is of: each nesting multiplies by it.
COPIES = {
    "abs": 3,
    "divide_whole": 13,
    "floor": 3,
    "ceil": 3,
    "round": 5,
    "sqrt": 3,
    "width_bucket": 6,
    "to_integer": 4,
    "to_number": 8,
    "to_boolean": 2,
    "to_date": 4,
    "to_timestamp": 4,
}
NULLED = {"modulo": 2}  # the same, where an engine writes out what NULLIF is of
ARITHMETIC = {"add": 1, "subtract": 1, "multiply": 1, "divide": 2}  # how often its last operand is written
PLAIN = {
    *(
        "add",
        "subtract",
        "multiply",
        "negate",
        "abs",
        "sign",
        "coalesce",
        "least",
        "greatest",
        "and",
        "or",
        "not",
        "is_null",
        "in",
    ),
    *("equal", "unequal", "less", "at_most", "greater", "at_least", "divide_whole"),
}


@dataclass(frozen=True)
class Parts:
    """The parts of SQL that something becomes, and the seconds that they take on one row.

    `letters` is the length of the longest text inside: what is written out, and what || and REPLACE make.
    """

    nodes: int = 0
    seconds: float = 0.0
    letters: int = 0

    def __add__(self, other: "Parts") -> "Parts":
        letters = max(self.letters, other.letters)
        return Parts(self.nodes + other.nodes, self.seconds + other.seconds, letters)

    def times(self, count: int) -> "Parts":
        """So many copies."""
        return Parts(self.nodes * count, self.seconds * count, self.letters)

    @property
    def names(self) -> float:
        """How many times as long as a name its texts may be."""
        return max(1.0, self.letters / NAME_LETTERS)

    @property
    def stored(self) -> "Parts":
        """The same value where it is read, and not computed."""
        return Parts(1, READ_S, self.letters)


Costs: TypeAlias = Mapping[tuple[str, str], Parts]  # of a column, by table and name


def _own(node: Call, inner: Parts) -> Parts:
    """Return the call itself, of arguments that hold these parts; a text takes as long as it is."""
    is_text = any(each.type == "text" for each in (node, *node.arguments))
    seconds = PLAIN_S if node.function in PLAIN else TEXT_S if is_text else HEAVY_S
    return Parts(1, seconds * inner.names if is_text else seconds)


def parts_of(node: Expression, costs: Costs) -> Parts:
    """Return the parts of an expression, every column computed anew from what is stored.

    >>> from discreet.asking.queries import Literal
    >>> parts_of(Call("abs", (Call("abs", (Literal(-3),)),)), {}).nodes
    13
    """
    if isinstance(node, Name):
        return costs[node.table or "", node.name]
    if isinstance(node, Case):
        every = [*(part for branch in node.branches for part in branch), node.otherwise]
        return sum((parts_of(each, costs) for each in every), Parts(1, PLAIN_S))
    if not isinstance(node, Call):
        text = getattr(node, "value", None)
        return Parts(1, READ_S, len(text) if isinstance(text, str) else 0)
    if _is_real(node):
        return _chain(node, costs).times(2)  # what NULLIF is of, around the outermost operation alone
    copies = COPIES.get(node.function, NULLED.get(node.function, 1))
    given = [parts_of(each, costs).times(copies) for each in node.arguments]
    inner = replace(sum(given, Parts()), letters=_letters(node, given))
    return inner + _own(node, inner)


def _letters(node: Call, given: list[Parts]) -> int:
    """Return the length of the longest text that a call is of, or makes: of a stored one, that of a name."""
    longest = max((each.letters for each in given), default=0)
    if node.function == "concat":
        return sum(max(each.letters, NAME_LETTERS) for each in given)
    if node.function == "replace":
        old, new = (len(getattr(each, "value", None) or "") for each in node.arguments[1:])
        return max(longest, max(given[0].letters, NAME_LETTERS) * -(-new // max(old, 1)))
    return longest


def _is_real(node: Expression) -> bool:
    """Return whether it is arithmetic of doubles, whose operands may be NaN."""
    return isinstance(node, Call) and node.type == "number" and node.function in ARITHMETIC


def _chain(node: Expression, costs: Costs) -> Parts:
    """Arithmetic inside arithmetic: only a divisor is written twice."""
    if not isinstance(node, Call) or not _is_real(node):
        return parts_of(node, costs)
    first, *others = (_chain(each, costs) for each in node.arguments)
    inner = sum((each.times(ARITHMETIC[node.function]) for each in others), first)
    return inner + _own(node, inner)


LEAST_ROWS, MOST_ROWS = 100, 50_000  # of a unit in one table, as far as they are reckoned with
MOST_BUILT = 10_000  # parts of the statements that an engine is given
UNIT_S = 0.025  # what the rows of one unit may take: less than an asker can tell from chance
UNIT_ROW_S = 20e-6  # or so much for each of the rows, where they are many
FREE_ROWS, FREE_ROW_S = 1000, 50e-6  # the same where limits are found: no limit says how many rows a unit has

SCAN_S = 0.2e-6  # to read a row
JOIN_S = 0.5e-6  # to make a joined one
CAP_S, CAP_FIELD_S = 2e-6, 0.3e-6  # to find a row's place among its unit's, and for each of its values
KEYED_S, FOUND_S = 2e-6, 6e-6  # to bound a row in a group that is public, and in one that is found
BINS, HALVINGS = 205, 10  # how often what bounds are looked for is written, and computed on a row, at most
PLACED = 4  # how often a measure's value is written where it is put on its lattice

PASS_S = 0.06  # a statement, whatever it says
BUILT_S = 0.4e-3  # each of its parts
TABLE_S = 5e-3  # each table in it
CELL_S = 40e-6  # a number that is drawn and shown


@dataclass(frozen=True)
class Work:
    """Processor seconds: whatever the data; for the rows of one unit; of all, if a population is declared.

    `rows` is how many rows of a unit are reckoned with in the largest table, `row_s` what each may take in
    a pass, `passes` how often they are read, `built` how many parts the longest statement has, `cells` how
    many numbers the answer shows.
    """

    fixed_s: float
    unit_s: float
    people_s: float | None
    built: int
    rows: int
    passes: int
    cells: int
    row_s: float = UNIT_ROW_S

    @property
    def total_s(self) -> float | None:
        """The whole, if the owner has declared how many people there are."""
        return None if self.people_s is None else self.fixed_s + self.people_s

    def to_json(self) -> dict[str, object]:
        """For programs: seconds to three digits."""
        seconds = {"fixed_s": self.fixed_s, "unit_s": self.unit_s, "total_s": self.total_s}
        shown = {name: None if each is None else float(f"{each:.3g}") for name, each in seconds.items()}
        return {**shown, "passes": self.passes, "cells": self.cells}


def check_work(questions: Sequence[Question], policy: Policy) -> None:
    """Refuse questions whose answer is too large, or that one unit's rows could make late."""
    found = [work_of(each, policy) for each in questions]
    cells, most = sum(each.cells for each in found), policy.serving.max_cells
    if cells > most:
        raise UnsupportedQuery(
            f"A question must have at most {most:,} cells (groups x columns x grouping sets), got {cells:,}. "
            "Group by fewer or coarser keys, or ask for fewer columns.",
            reason="cells",
        )
    built = max(each.built for each in found)
    if built > MOST_BUILT:
        raise UnsupportedQuery(
            f"A question must become at most {MOST_BUILT:,} parts for the engine, got {_few(built)}. "
            "Nest fewer functions, and compute on fewer computed columns.",
            reason="work",
        )
    unit, limit = sum(each.unit_s for each in found), _limit(found, policy.serving.deadline_s)
    if unit > limit:
        raise UnsupportedQuery(
            f"A question must let the rows of one unit take at most {limit:.2g} s, got {unit:.2g} s by the "
            "plan's estimate. Use fewer functions, joins on the unit and UNION ALLs of a table with itself.",
            reason="work",
        )


def _limit(found: Sequence[Work], deadline_s: float) -> float:
    """Return what the rows of one unit may take: little, and never more than half of the time there is."""
    passes = sum(each.passes for each in found)
    many = sum(each.row_s * each.rows * each.passes for each in found)
    return min(max(UNIT_S, many), passes * deadline_s / 2)


def _few(number: int) -> str:
    return f"{number:,}" if number < 10**9 else "over a billion"


def work_of(question: Question, policy: Policy) -> Work:
    """Return the work of a question: nothing of it was read from the data."""
    tables = scans(question.rows)
    free = _is_free(question, policy)
    reckoned = {scan.table: _reckoned_rows(scan, free=free) for scan in tables}
    every = [
        passes_under_limits(question, each) if free else passes_of(question, each) for each in question.sets
    ]
    unit = _of_unit(question, reckoned, every)
    expected = _of_unit(question, {scan.table: scan.limits[0] * scan.limits[1] for scan in tables}, every)
    cells = sum(_cells(question, chosen) for chosen in question.sets)
    passes = sum(every) + len(_searched(question))
    fixed = passes * (PASS_S + TABLE_S * len(tables) + BUILT_S * unit.parts.nodes) + CELL_S * cells
    return Work(
        fixed_s=fixed,
        unit_s=unit.seconds,
        people_s=None if policy.population is None else policy.population * expected.seconds,
        built=unit.parts.nodes,
        rows=max(reckoned.values()),
        row_s=FREE_ROW_S if free else UNIT_ROW_S,
        passes=passes,
        cells=cells,
    )


def _is_free(question: Question, policy: Policy) -> bool:
    """Return whether units are held by one limit, and not to a number of rows."""
    private = [policy.table(scan.table) for scan in scans(question.rows) if scan.public_key is None]
    return not question.each_row and any(getattr(each, "limit", None) is not None for each in private)


def _reckoned_rows(scan: Scan, *, free: bool) -> int:
    if scan.each_row:
        return 1
    if free:
        return FREE_ROWS
    return min(max(scan.limits[0] * scan.limits[1], LEAST_ROWS), MOST_ROWS)


def _cells(question: Question, chosen: tuple[int, ...]) -> int:
    """Return the numbers that one grouping set shows, and the labels that its choices are made among."""
    labels = sum(len(each.domain) if each.domain is not None else 1 for each in question.measures)
    return groups_of(question, chosen) * max(labels, len(question.columns))


def _searched(question: Question) -> tuple[Expression, ...]:
    """Return the values whose bounds the policy lacks, where they are to be found: a pass for each."""
    bounded = ("sum", "average", "variance", "deviation", "quantile", "minimum", "maximum")
    lacking = {
        each.aggregate.argument
        for each in question.measures
        if each.range is None and each.aggregate.function in bounded and each.aggregate.argument is not None
    }
    return tuple(lacking)


def _search(parts: Parts) -> Parts:
    """Return the work of a search: halving is written for every bin, and compares with few of them."""
    return Parts(BINS * (parts.nodes + 1), HALVINGS * (parts.seconds + PLAIN_S), parts.letters)


@dataclass(frozen=True)
class Flow:
    """The rows of one unit at a place of the tree: how many, the seconds up to there, the statement's parts,
    and what it costs to compute each column from what is stored."""

    rows: int
    seconds: float
    parts: Parts
    costs: Costs


def _of_unit(question: Question, rows: Mapping[str, int], passes: Sequence[int]) -> Flow:
    """Return all passes, so many for each grouping set, over the rows of one unit: so many in each table."""
    flow = _flow(question.rows, rows)
    seconds, most = 0.0, Parts()
    for chosen, times in zip(question.sets, passes, strict=True):
        keys = [question.keys[position] for position in chosen]
        grouped = sum((parts_of(each.expression, flow.costs) for each in keys), Parts())
        cell_s = KEYED_S if all(each.domain is not None for each in keys) else FOUND_S * grouped.names
        measured = [_measured(each.aggregate, flow.costs) for each in question.measures]
        searched = [_search(parts_of(each, flow.costs)) for each in _searched(question)]
        every = sum((*measured, *searched), grouped)
        seconds += (times + len(_searched(question))) * (flow.seconds + flow.rows * (cell_s + every.seconds))
        most = max(most, every, key=lambda parts: parts.nodes)
    return Flow(flow.rows, seconds, flow.parts + most, flow.costs)


def _measured(aggregate: Aggregate, costs: Costs) -> Parts:
    found = Parts(1, READ_S)
    if aggregate.argument is not None:
        found += parts_of(aggregate.argument, costs).times(PLACED)
    if aggregate.condition is not None:
        found += parts_of(aggregate.condition, costs)
    return found


def _flow(relation: Relation, rows: Mapping[str, int]) -> Flow:
    if isinstance(relation, Scan):
        return _scan(relation, rows)
    if isinstance(relation, Joined):
        return _join(relation, _flow(relation.left, rows), _flow(relation.right, rows))
    if isinstance(relation, Stacked):
        return _stack(relation, [_flow(each, rows) for each in relation.members])
    source = _flow(relation.source, rows)
    if isinstance(relation, Filtered):
        condition = parts_of(relation.condition, source.costs)
        return Flow(
            source.rows,
            source.seconds + source.rows * condition.seconds,
            source.parts + condition,
            source.costs,
        )
    return _project(relation, source) if isinstance(relation, Project) else _per_unit(relation, source)


def _scan(scan: Scan, rows: Mapping[str, int]) -> Flow:
    count = 0 if scan.public_key is not None else rows[scan.table]
    return Flow(count, count * SCAN_S, Parts(len(scan.fields), 0), _stored(scan))


def _stored(relation: Relation) -> Costs:
    return {(each.table, each.name): Parts(1, READ_S) for each in relation.fields}


def _project(relation: Project, source: Flow) -> Flow:
    """New columns: computed here, and again wherever an engine puts them in place of their names."""
    stored = {name: each.stored for name, each in source.costs.items()}
    own = sum((parts_of(each, stored) for _, each in relation.outputs), Parts())
    costs = {(relation.alias, name): parts_of(each, source.costs) for name, each in relation.outputs}
    return Flow(source.rows, source.seconds + source.rows * own.seconds, source.parts + own, costs)


def _join(relation: Joined, left: Flow, right: Flow) -> Flow:
    parts = left.parts + right.parts + Parts(len(relation.fields), 0)
    seconds = left.seconds + right.seconds
    if relation.cap is None:
        joined = _joined_by_key(relation, left.rows, right.rows)
        return Flow(joined, seconds + joined * JOIN_S, parts, {**left.costs, **right.costs})
    capping = sum(
        flow.rows * (CAP_S + sum(CAP_FIELD_S * each.names + each.seconds for each in flow.costs.values()))
        for flow in (left, right)
    )
    joined = min(left.rows, relation.cap) * min(right.rows, relation.cap)
    costs = {name: each.stored for name, each in (*left.costs.items(), *right.costs.items())}
    return Flow(joined, seconds + capping + joined * JOIN_S, parts, costs)


def _joined_by_key(relation: Joined, left: int, right: int) -> int:
    """Return the rows of a unit after a join by a key: those of the table that refers to it, each with one
    partner, unless the rows it refers to were multiplied by another join."""
    if is_public(relation.right):
        return left
    child = left if relation.unit_from == "right" else right
    return child if _finds_one(relation) else left * right


def _finds_one(relation: Joined) -> bool:
    """Return whether a row that refers to another finds it once; the unit comes from what is referred to."""
    parent, place = (relation.right, 1) if relation.unit_from == "right" else (relation.left, 0)
    name = relation.on[0][place]
    return isinstance(name, Name) and (name.table or "").lower() in _single(parent)


def _single(relation: Relation) -> set[str]:
    """Return the tables, by alias, of which no row of a unit is in it twice."""
    if isinstance(relation, Scan):
        return {relation.alias.lower()}
    if isinstance(relation, Filtered):
        return _single(relation.source)
    if not isinstance(relation, Joined) or relation.cap is not None:
        return set()
    if is_public(relation.right):
        return _single(relation.left)
    child = relation.left if relation.unit_from == "right" else relation.right
    return _single(child) if _finds_one(relation) else set()


def _stack(relation: Stacked, members: Sequence[Flow]) -> Flow:
    costs = {
        (field.table, field.name): _most(
            flow.costs[member.fields[place].table, member.fields[place].name]
            for flow, member in zip(members, relation.members, strict=True)
        )
        for place, field in enumerate(relation.fields)
    }
    return Flow(
        sum(each.rows for each in members),
        sum(each.seconds for each in members),
        sum((each.parts for each in members), Parts()),
        costs,
    )


def _most(each: Iterable[Parts]) -> Parts:
    """Return the most of each number."""
    found = list(each)
    return Parts(*(max(getattr(one, name) for one in found) for name in ("nodes", "seconds", "letters")))


def _per_unit(relation: PerUnit, source: Flow) -> Flow:
    totals = sum((_measured(each, source.costs) for each in relation.aggregates), Parts(1, KEYED_S))
    outputs = {(relation.alias, name): parts_of(each, {}) for name, each in relation.outputs}
    own = sum(outputs.values(), Parts())
    if relation.condition is not None:
        own += parts_of(relation.condition, {})
    seconds = source.seconds + source.rows * totals.seconds + own.seconds
    return Flow(1, seconds, source.parts + totals + own, outputs)
