"""Whether an expression has a value in every row, as far as the policy and the question say.

Where it has, COUNT(x) is COUNT(*), and an average needs no count of its own.
"""

from discreet.queries.nodes import Call, Case, Expression, Literal, Name
from discreet.queries.types import Scope

_WHOLE = {"add", "subtract", "multiply", "negate", "abs", "sign", "floor", "ceil", "round"}
_ROUNDED = {"negate", "abs", "sign", "floor", "ceil", "round", "to_number"}


def is_present(node: Expression, scope: Scope) -> bool:
    """Whether no row lacks a value of a typed expression; a column's owner says so, and a unit has its id.

    >>> is_present(Case(((Literal(True), Literal(1)),), Literal(0)), Scope(()))
    True
    """
    if isinstance(node, Literal):
        return node.value is not None
    if isinstance(node, Name):
        field = scope.field(node)
        return field.is_unit or not field.nullable
    if isinstance(node, Case):
        return all(
            is_present(each, scope) for each in (*(value for _, value in node.branches), node.otherwise)
        )
    if not isinstance(node, Call):
        return False
    if node.function == "coalesce":
        return any(is_present(each, scope) for each in node.arguments)
    return _is_total(node) and all(is_present(each, scope) for each in node.arguments)


def _is_total(node: Call) -> bool:
    """Whether it has a value for all values: doubles may be infinite, and ∞ - ∞, 0 · ∞ and x / 0 do not."""
    if node.type == "integer" and node.function in _WHOLE:
        return True
    if node.function in _ROUNDED:
        return node.arguments[0].type in ("integer", "number")
    numbers = [each.value for each in node.arguments if isinstance(each, Literal)]
    if node.function in ("add", "subtract"):
        return len(numbers) == 1
    if node.function == "divide":
        return isinstance(node.arguments[1], Literal) and node.arguments[1].value != 0
    return node.function == "multiply" and len(numbers) == 1 and numbers[0] != 0
