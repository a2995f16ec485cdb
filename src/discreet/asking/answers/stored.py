"""What the ledger keeps of answers, and how they are read again."""

import datetime
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from discreet.asking.answers.answer import Answer, Groups, Numbers
from discreet.asking.answers.receipt import Receipt
from discreet.asking.planning import Plan, with_bounds
from discreet.asking.policy import Value


def store(answers: Sequence[Answer]) -> bytes:
    """Return what the ledger keeps of answers that were charged together: released numbers and receipts."""
    stored = [
        {
            "sets": [
                {
                    "groups": [[_tagged(value) for value in group] for group in groups],
                    "numbers": [list(row) for row in numbers],
                }
                for groups, numbers in answer.released
            ],
            **_bounds_of(answer.plan),
            "receipt": dict(answer.receipt.facts),
        }
        for answer in answers
    ]
    return json.dumps({"format": 1, "answers": stored}, sort_keys=True, allow_nan=False).encode()


def restore(plans: Sequence[Plan], stored: bytes, *, charged: bool = True) -> tuple[Answer, ...]:
    """Return the answers that `store` wrote, read by the plans of the same questions; charged for now, or
    free.
    """
    return tuple(
        Answer(
            _with_bounds(plan, facts),
            tuple(map(_read_set, facts["sets"])),
            Receipt(facts["receipt"], charged=charged),
        )
        for plan, facts in zip(plans, json.loads(stored)["answers"], strict=True)
    )


def _bounds_of(plan: Plan) -> dict[str, Any]:
    """Return the bounds that were found, if any had to be, and the confidence that decided the noise after
    it.
    """
    if plan.search is None:
        return {}
    assert plan.search.found is not None
    bounds = [[str(end) for end in bounds] for bounds in plan.search.found]
    return {"bounds": bounds, "confidence": str(plan.confidence)}


def _with_bounds(plan: Plan, facts: Mapping[str, Any]) -> Plan:
    if plan.search is None:
        return plan
    bounds = tuple((Fraction(low), Fraction(high)) for low, high in facts["bounds"])
    drawn_at = Fraction(facts.get("confidence", plan.confidence))
    return replace(with_bounds(replace(plan, confidence=drawn_at), bounds), confidence=plan.confidence)


def _read_set(facts: Mapping[str, Any]) -> tuple[Groups, Numbers]:
    groups = tuple(tuple(_untagged(value) for value in group) for group in facts["groups"])
    return groups, tuple(tuple(row) for row in facts["numbers"])


def _tagged(value: Value) -> Any:
    """Return a label that JSON has: it has no dates, and no infinities."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": str(value)}
    if isinstance(value, datetime.datetime):
        return {"timestamp": value.isoformat()}
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": str(value)}  # JSON has no infinities
    return {"date": value.isoformat()} if isinstance(value, datetime.date) else value


def _untagged(value: Any) -> Value:
    if not isinstance(value, dict):
        return value  # type: ignore[no-any-return]
    if "number" in value:
        return float(value["number"])
    if "timestamp" in value:
        return datetime.datetime.fromisoformat(value["timestamp"])
    return float(value["number"]) if "number" in value else datetime.date.fromisoformat(value["date"])
