"""What the ledger keeps of answers, and how they are read again."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from discreet.asking.answers.answer import Answer, Groups, Numbers
from discreet.asking.answers.receipt import Receipt
from discreet.asking.answers.shown import Shown, tagged, untagged
from discreet.asking.planning import Plan, with_bounds


def store(answers: Sequence[Answer]) -> bytes:
    """Return what the ledger keeps of answers that were charged together: released numbers and receipts."""
    stored = [
        {
            "sets": released(answer),
            **bounds_of(answer.plan),
            "receipt": dict(answer.receipt.facts),
            "shown": answer.shown.stored(),
        }
        for answer in answers
    ]
    return json.dumps({"format": 1, "answers": stored}, sort_keys=True, allow_nan=False).encode()


def released(answer: Answer) -> list[dict[str, Any]]:
    """Return the groups and numbers that were released."""
    return [
        {
            "groups": [[tagged(value) for value in group] for group in groups],
            "numbers": [list(row) for row in numbers],
        }
        for groups, numbers in answer.released
    ]


def kept_answers(stored: bytes) -> list[tuple[Shown | None, Receipt]]:
    """Return the tables and receipts that `store` wrote; no table where an early version wrote none."""
    return [
        (Shown.read(facts["shown"]) if "shown" in facts else None, Receipt(facts["receipt"], charged=False))
        for facts in json.loads(stored)["answers"]
    ]


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


def bounds_of(plan: Plan) -> dict[str, Any]:
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
    groups = tuple(tuple(untagged(value) for value in group) for group in facts["groups"])
    return groups, tuple(tuple(row) for row in facts["numbers"])
