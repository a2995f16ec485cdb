"""Windows and scalar subqueries into the tree. They are read anywhere, and allowed after the noise alone."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Literal as OneOf, cast

from sqlglot import exp

from discreet.asking.queries.advice import ADVICE
from discreet.asking.queries.nodes import (
    Aggregate,
    Expression,
    Frame,
    Order,
    Query,
    Scalar,
    Select,
    Window,
    refuse,
)
from discreet.asking.queries.sql_expressions import is_digits, only, place_of, read_expression

# The functions that only a window has, with the arguments of the parser's nodes.
WINDOWS: dict[type[exp.Expression], tuple[str, tuple[str, ...]]] = {
    exp.RowNumber: ("row_number", ()),
    exp.Rank: ("rank", ()),
    exp.DenseRank: ("dense_rank", ()),
    exp.PercentRank: ("percent_rank", ()),
    exp.CumeDist: ("cume_dist", ()),
    exp.Ntile: ("ntile", ("this",)),
    exp.Lag: ("lag", ("this", "offset", "default")),
    exp.Lead: ("lead", ("this", "offset", "default")),
    exp.FirstValue: ("first_value", ("this",)),
    exp.LastValue: ("last_value", ("this",)),
    exp.NthValue: ("nth_value", ("this", "offset")),
}
MOST_AROUND = 1_000_000  # rows before or after

subqueries: ContextVar[Callable[[exp.Expression], Query]] = ContextVar(
    "subqueries"
)  # reads one, in its scope


def _read_window(node: exp.Window) -> Expression:
    only(node, "this", "partition_by", "order", "spec", "over")
    function, arguments, condition = _read_function(node.this)
    return Window(
        function,
        arguments,
        condition,
        tuple(map(read_expression, node.args.get("partition_by") or ())),
        tuple(map(_read_order, node.args["order"].expressions)) if node.args.get("order") else (),
        _read_frame(node.args.get("spec")),
        place=place_of(node),
    )


def _read_function(node: exp.Expression) -> tuple[str, tuple[Expression, ...], Expression | None]:
    if type(node) in WINDOWS:
        function, names = WINDOWS[type(node)]
        only(node, *names)
        given = [node.args[name] for name in names if node.args.get(name) is not None]
        return function, tuple(map(read_expression, given)), None
    read = read_expression(node)
    if not isinstance(read, Aggregate) or read.fraction is not None or read.other is not None:
        refuse("window", "OVER follows SUM, COUNT, AVG, MIN, MAX, RANK, LAG and their kin.", place_of(node))
    return read.function, () if read.argument is None else (read.argument,), read.condition


def _read_order(node: exp.Expression) -> Order:
    only(node, "this", "desc", "nulls_first")
    term = read_expression(node.this)
    first, down = bool(node.args.get("nulls_first")), bool(node.args.get("desc"))
    return Order(term, descending=down, nulls_first=first, place=term.place)


def _read_frame(node: exp.Expression | None) -> Frame | None:
    if node is None:
        return None
    only(node, "kind", "start", "start_side", "end", "end_side")
    start, end = (_read_end(node, name) for name in ("start", "end"))
    kind = str(node.args["kind"]).upper()
    if kind not in ("ROWS", "RANGE", "GROUPS") or (kind == "RANGE" and {start, end} - {None, 0}):
        refuse("window", "A frame is ROWS BETWEEN 2 PRECEDING AND CURRENT ROW, say.", place_of(node))
    return Frame(cast(OneOf["ROWS", "RANGE", "GROUPS"], kind), start, end, place=place_of(node))


def _read_end(node: exp.Expression, name: str) -> int | None:
    """Return where a frame ends, in rows after the row (before it, below zero); None: at the table's end."""
    end, side = node.args.get(name), str(node.args.get(f"{name}_side") or "").upper()
    if end is None or end == "CURRENT ROW":
        return 0
    if end == "UNBOUNDED" and side == {"start": "PRECEDING", "end": "FOLLOWING"}[name]:
        return None
    known = isinstance(end, exp.Literal) and is_digits(end.this) and len(end.this) < 8
    if not known or int(end.this) > MOST_AROUND or side not in ("PRECEDING", "FOLLOWING"):
        refuse("window", "A frame's ends are whole numbers written out, or UNBOUNDED.", place_of(node))
    return int(end.this) * (-1 if side == "PRECEDING" else 1)


def _read_scalar(node: exp.Subquery) -> Expression:
    read = subqueries.get(None)
    if read is None or not isinstance(node.this, exp.Select):
        refuse(*ADVICE["Subquery"], place_of(node))
    query = read(node)
    if not isinstance(query, Select):
        refuse(*ADVICE["Subquery"], place_of(node))
    return Scalar(query, place=place_of(node))


READERS: dict[type, Callable[[Any], Expression]] = {exp.Window: _read_window, exp.Subquery: _read_scalar}
