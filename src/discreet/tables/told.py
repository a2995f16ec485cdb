"""A policy as a server tells it: what `Policy.to_json` wrote, read back to the same object."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from discreet.errors import InvalidParameter
from discreet.tables.budget import Budget, read_budget
from discreet.tables.column import Column
from discreet.tables.policy import Policy, PublicTable, Table
from discreet.tables.unit import EachRow, read_unit


def from_json(facts: Mapping[str, Any]) -> Policy:
    """The policy of `Policy.to_json`, with the same digest; words that it does not know are left out.

    >>> from discreet.tables.read import from_arguments
    >>> policy = from_arguments(id="t", sources={"t": None}, unit="person", budget={"epsilon": 1})
    >>> from_json(policy.to_json()) == policy
    True
    """
    try:
        return Policy(
            id=facts["id"],
            version=facts["version"],
            relation=facts["relation"],
            population=facts["population"],
            filter=facts["filter"],
            budget=_read_budget(facts["budget"]),
            per_analyst=_read_budget(facts["per_analyst"]) if "per_analyst" in facts else None,
            per_question=_read_budget(facts["per_question"]) if "per_question" in facts else None,
            share_answers=facts.get("share_answers", False),
            tables=tuple(_read_table(name, each) for name, each in facts["tables"].items()),
            public=tuple(_read_public(name, each) for name, each in facts["public"].items()),
        )
    except (KeyError, TypeError, AttributeError, ValueError):
        raise InvalidParameter("a policy must be told as discreet writes it, and this one is not.") from None


def _read_budget(facts: Mapping[str, str]) -> Budget:
    return read_budget({name: Fraction(text) for name, text in facts.items()})


def _read_table(name: str, facts: Mapping[str, Any]) -> Table:
    unit = EachRow() if facts["unit"] == {"each_row": True} else read_unit(facts["unit"], name="unit")
    return Table(
        name=name,
        unit=unit,
        max_groups=facts["max_groups"],
        max_rows=facts["max_rows"],
        columns=_read_columns(facts),
    )


def _read_public(name: str, facts: Mapping[str, Any]) -> PublicTable:
    return PublicTable(name=name, key=facts["key"], columns=_read_columns(facts))


def _read_columns(facts: Mapping[str, Any]) -> tuple[Column, ...]:
    return tuple(_read_column(name, each) for name, each in facts["columns"].items())


def _read_column(name: str, facts: Mapping[str, Any]) -> Column:
    numeric = facts["type"] in ("integer", "number")
    bounds, keys = facts["bounds"], facts["keys"]
    return Column.read(
        name,
        type=facts["type"],
        bounds=[Fraction(end) for end in bounds] if bounds and numeric else bounds,
        keys=[None if key is None else Fraction(key) for key in keys] if keys and numeric else keys,
        nullable=facts["nullable"],
        missing=facts["missing"],
    )
