"""Whether totals are the sums of their parts by construction: from the plan alone, whatever the data are.

Every row that a total counts must be in one of its parts, and in the total exactly the rows that are in the
parts. The first holds where the labels of a key are all that it can be; the second where nothing is left out
of either because a unit has too much.
"""

from collections.abc import Iterator, Sequence

from discreet.errors import InvalidParameter
from discreet.planning import ExactMeasure, RowCount, SetPlan
from discreet.queries import Call, Case, Domain, Expression, Filtered, Key, Literal, Name, Relation, to_text

_COMPARED = frozenset({"equal", "unequal", "less", "at_most", "greater", "at_least"})


def check_labels(sets: Sequence[SetPlan], finest: SetPlan) -> None:
    """Refuse where a row may have another label than those of the finest groups: totals alone count it."""
    plan = finest.exact.plans[0]
    for position, key in zip(finest.keys, plan.keys, strict=True):
        if not all(position in each.keys for each in sets) and not _is_covered(key, plan.rows):
            raise InvalidParameter(
                "totals must be the sums of what is shown to add up, but rows whose "
                f"{to_text(key.expression)} is missing or has another label are in totals alone. Name the "
                "labels in WHERE (x IN ('a', 'b'), for true and false x IS NOT NULL), or group by CASE ... "
                "ELSE ... END."
            )


def check_rows(sets: Sequence[SetPlan], measure: ExactMeasure) -> None:
    """Refuse where a unit may have other rows in a total than in its parts."""
    plans = [each.exact.plans[0] for each in sets]
    if all(plan.each_row for plan in plans):
        return
    one = all(plan.max_groups == 1 and plan.max_rows == 1 for plan in plans)
    if not one or measure != RowCount():  # of one row each it does not matter which, if they are just counted
        raise InvalidParameter(
            "totals must be of the same rows as their parts to add up, but a unit's rows are limited in each "
            "grouping set by itself. Ask for COUNT(*) with max_groups = 1 and max_rows = 1, or of a table "
            "whose rows are the units."
        )


def _is_covered(key: Key, rows: Relation) -> bool:
    """Whether every row has one of the labels."""
    domain = key.domain or ()
    facts = list(_facts(rows))
    return (
        _all_labels(key.expression, domain)
        or any(_names_labels(fact, key.expression, domain) for fact in facts)
        or (set(domain) == {False, True} and _is_known(key.expression, facts))
    )


def _facts(rows: Relation) -> Iterator[Expression]:
    """The conditions that are true in every row."""
    while isinstance(rows, Filtered):
        yield from _parts(rows.condition)
        rows = rows.source


def _parts(condition: Expression) -> Iterator[Expression]:
    """The conditions that AND puts together."""
    if isinstance(condition, Call) and condition.function == "and":
        for part in condition.arguments:
            yield from _parts(part)
    else:
        yield condition


def _all_labels(node: Expression, domain: Domain) -> bool:
    """Whether an expression is one of the labels in every row, by its form."""
    if isinstance(node, Literal):
        return node.value in domain
    if isinstance(node, Case):
        return all(
            _all_labels(each, domain) for each in (*(value for _, value in node.branches), node.otherwise)
        )
    return isinstance(node, Call) and node.function == "is_null"


def _names_labels(fact: Expression, expression: Expression, domain: Domain) -> bool:
    """Whether the fact says that the expression is one of some of the labels."""
    if not isinstance(fact, Call) or fact.function not in ("in", "equal") or fact.arguments[0] != expression:
        return False
    return all(isinstance(each, Literal) and each.value in domain for each in fact.arguments[1:])


def _is_known(node: Expression, facts: list[Expression]) -> bool:
    """Whether the facts say that an expression is not missing."""
    if isinstance(node, Literal):
        return node.value is not None
    if Call("not", (Call("is_null", (node,)),)) in facts:
        return True
    if not isinstance(node, Call) or node.function not in _COMPARED:
        return False
    return all(isinstance(each, Literal | Name) and _is_known(each, facts) for each in node.arguments)
