"""How large a question is once every name in it is put in place, and where that ends.

A name of WITH, and the subject of BETWEEN or CASE, is one object in several places. So the size
of what is written out may double with every line of a question; here it is computed from the objects alone,
each looked at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

from discreet.queries.nodes import Join, Nested, Node, Select, TableName, Union, refuse

MOST_NODES = 4_000
MOST_TABLES = 64
MOST_DEPTH = 100


@dataclass(frozen=True)
class Size:
    """Of a tree written out: its nodes, how often a table is read, how deeply nodes are nested."""

    nodes: int = 0
    tables: int = 0
    depth: int = 0


def check_size(*trees: Node) -> None:
    """Refuse trees that together are too large to be planned, before anybody walks them."""
    found, node = [size_of(each) for each in trees], trees[0]
    size = Size(
        sum(each.nodes for each in found),
        sum(each.tables for each in found),
        max(each.depth for each in found),
    )
    if size.nodes > MOST_NODES:
        shown = f"{size.nodes:,}" if size.nodes < 10**9 else "over a billion"
        refuse(
            "too_long",
            f"A question must have at most {MOST_NODES:,} parts with each name of WITH, and what BETWEEN and "
            f"CASE compare, written out, got {shown}. Use each name less often.",
            node,
        )
    if size.tables > MOST_TABLES:
        refuse(
            "too_many_tables",
            f"A question must read tables at most {MOST_TABLES} times, got {size.tables}. "
            "Join or unite fewer of them.",
            node,
        )
    if size.depth > MOST_DEPTH:
        refuse(
            "too_deep",
            f"A question must nest at most {MOST_DEPTH} deep, got {size.depth}. "
            "Write long chains of OR as x IN (...), and use fewer subqueries.",
            node,
        )


def size_of(node: Node) -> Size:
    """Return the size of a tree, in time that grows with its distinct nodes alone.

    >>> from discreet.queries.nodes import Call, Name
    >>> tree = Name("x")
    >>> for _ in range(100):
    ...     tree = Call("add", (tree, tree))
    >>> size_of(tree).nodes == 2**101 - 1
    True
    """
    stack = [node]
    while stack:
        inner = [each for each in parts(stack[-1]) if "_size" not in vars(each)]
        if inner:
            stack.extend(inner)
        else:
            each = stack.pop()
            vars(each)["_size"] = _size(each)  # no part of the node: a size follows from what it holds
    found: Size = vars(node)["_size"]
    return found


def _size(node: Node) -> Size:
    inner: list[Size] = [vars(each)["_size"] for each in parts(node)]
    return Size(
        1 + sum(each.nodes for each in inner),
        isinstance(node, TableName) + sum(each.tables for each in inner),
        _levels(node) + max((each.depth for each in inner), default=0),
    )


def _levels(node: Node) -> int:
    """Return how deep a node is for an engine: a subquery is as deep as two functions, a join is two of
    them.
    """
    if isinstance(node, Select):
        return 2 + 2 * (node.where is not None) + 2 * bool(node.keys)
    return {Nested: 0, Union: 2, Join: 4}.get(type(node), 1)


def parts(node: Node) -> Iterator[Node]:
    """Yield the nodes directly inside one, of whatever kind."""
    for each in fields(node):
        yield from _nodes(getattr(node, each.name))


def _nodes(value: Any) -> Iterator[Node]:
    if isinstance(value, Node):
        yield value
    elif isinstance(value, tuple):
        for each in value:
            yield from _nodes(each)
