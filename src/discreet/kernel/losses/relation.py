"""Neighbouring relations: who is protected, against what change. Every loss knows its own."""

from typing import Literal, TypeAlias, get_args

from discreet.errors import InvalidParameter

Relation: TypeAlias = Literal["add/remove", "replace", "local"]

RELATIONS: tuple[Relation, ...] = get_args(Relation)


def check_relation(relation: str) -> Relation:
    """The relation of that name.

    >>> check_relation("replace")
    'replace'
    """
    for known in RELATIONS:
        if relation == known:
            return known
    raise InvalidParameter(
        f"relation must be one of {', '.join(RELATIONS)}, got {str(relation)[:60]}.", parameter="relation"
    )
