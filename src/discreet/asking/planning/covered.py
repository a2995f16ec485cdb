"""Whether every row of a question has one of a key's labels, as far as the question itself shows it.

Tested by: tests/answers/test_adding_up.py, tests/planning/test_book_plan.py
"""

from collections.abc import Iterator

from discreet.asking.queries import (
    Call,
    Case,
    Domain,
    Expression,
    Filtered,
    Key,
    Literal,
    Name,
    Relation,
)

_COMPARED = frozenset({"equal", "unequal", "less", "at_most", "greater", "at_least"})


def is_covered(key: Key, rows: Relation) -> bool:
    """Return whether every row has one of the labels."""
    domain = key.domain or ()
    facts = list(_facts(rows))
    return (
        _all_labels(key.expression, domain)
        or any(_names_labels(fact, key.expression, domain) for fact in facts)
        or (set(domain) == {False, True} and _is_known(key.expression, facts))
    )


def _facts(rows: Relation) -> Iterator[Expression]:
    """Yield the conditions that are true in every row."""
    while isinstance(rows, Filtered):
        yield from _parts(rows.condition)
        rows = rows.source


def _parts(condition: Expression) -> Iterator[Expression]:
    """Yield the conditions that AND puts together."""
    if isinstance(condition, Call) and condition.function == "and":
        for part in condition.arguments:
            yield from _parts(part)
    else:
        yield condition


def _all_labels(node: Expression, domain: Domain) -> bool:
    """Return whether an expression is one of the labels in every row, by its form."""
    if isinstance(node, Literal):
        return node.value in domain
    if isinstance(node, Case):
        return all(
            _all_labels(each, domain) for each in (*(value for _, value in node.branches), node.otherwise)
        )
    return isinstance(node, Call) and node.function == "is_null"


def _names_labels(fact: Expression, expression: Expression, domain: Domain) -> bool:
    """Return whether the fact says that the expression is one of some of the labels."""
    if not isinstance(fact, Call) or fact.function not in ("in", "equal") or fact.arguments[0] != expression:
        return False
    return all(isinstance(each, Literal) and each.value in domain for each in fact.arguments[1:])


def _is_known(node: Expression, facts: list[Expression]) -> bool:
    """Return whether the facts say that an expression is not missing."""
    if isinstance(node, Literal):
        return node.value is not None
    if Call("not", (Call("is_null", (node,)),)) in facts:
        return True
    if not isinstance(node, Call) or node.function not in _COMPARED:
        return False
    return all(isinstance(each, Literal | Name) and _is_known(each, facts) for each in node.arguments)
