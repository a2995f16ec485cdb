"""What a condition says of missing values: where `debt > 0` is true, there is a debt."""

from typing import TypeAlias

from discreet.queries.nodes import Call, Expression, Name

Column: TypeAlias = tuple[str | None, str]  # a table's alias and a column

_LENIENT = ("and", "or", "is_null", "coalesce")  # the functions that give a value for missing ones


def needed(condition: Expression) -> frozenset[Column]:
    """The columns that have a value wherever a typed condition is true.

    >>> has_debt = Call("not", (Call("is_null", (Name("debt", "t"),)),))
    >>> sorted(needed(Call("and", (Call("equal", (Name("a", "t"), Name("b", "t"))), has_debt))))
    [('t', 'a'), ('t', 'b'), ('t', 'debt')]
    """
    if isinstance(condition, Call) and condition.function == "and":
        return frozenset().union(*map(needed, condition.arguments))
    if isinstance(condition, Call) and condition.function == "or":
        first, *rest = map(needed, condition.arguments)
        return first.intersection(*rest)
    if isinstance(condition, Call) and condition.function == "not":
        (inner,) = condition.arguments
        known = isinstance(inner, Call) and inner.function == "is_null"
        return _behind(inner.arguments[0] if known else inner)  # type: ignore[attr-defined]
    return _behind(condition)


def _behind(node: Expression) -> frozenset[Column]:
    """The columns without which an expression has no value."""
    if isinstance(node, Name):
        return frozenset([(node.table, node.name)])
    if not isinstance(node, Call) or node.function in _LENIENT:
        return frozenset()
    return frozenset().union(*map(_behind, node.arguments))
