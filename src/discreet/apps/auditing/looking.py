"""All that an analyst can see of a question, written down; and where two such records differ.

Tested by: tests/auditing/test_replay.py
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.apps.auditing.frozen import Call, FrozenCurator
from discreet.apps.auditing.outcomes import canonical, shape_of
from discreet.asking.planning import Plan, QuestionLike, named_price

SHOWN = 60  # characters on either side of a difference


@dataclass(frozen=True)
class Asking:
    """A question with its terms, who asks it, and the salt that contributions are bounded by."""

    question: QuestionLike
    terms: Mapping[str, Any]
    analyst: str
    salt: int


@dataclass(frozen=True)
class Seen:
    """What was visible, part by part; what mechanisms were given; what was charged."""

    visible: dict[str, str]
    calls: list[Call]
    costs: list[tuple[str | None, str | None]]

    @property
    def answered(self) -> bool:
        """Whether there was an answer."""
        return "the answer" in self.visible

    def faults(self, plan: Plan) -> Iterator[str]:
        """What is wrong by itself, whatever the neighbour shows."""
        words = [call.word for call in self.calls]
        if len(set(words)) < len(words):
            yield "the same random words are used twice"
        again = self.visible.get("asking again")
        if again is not None and again != self.visible["the answer"]:
            yield "asking again gives another answer"
        if again is not None and len(self.costs) != 1:
            yield f"asking twice is charged {len(self.costs)} times"
        if self.answered and not any(_covers(plan, cost) for cost in self.costs):
            yield "less is charged than the price"


def _covers(plan: Plan, cost: tuple[str | None, str | None]) -> bool:
    """Whether the price was charged; where the account has a better rule for the loss, it decides."""
    price = named_price(plan.policy, plan.price)
    if price is None:
        return True
    return Fraction(cost[0] or 0) >= price.amount and Fraction(cost[1] or 0) >= price.failure


def look(curator: FrozenCurator, asking: Asking, *, shown: frozenset[Any]) -> Seen:
    """Ask twice, the second time for free, and write down all there is to see."""
    curator.start(salt=asking.salt, shown=shown)
    before = len(curator.history)
    analyst = curator.for_analyst(asking.analyst)
    visible: dict[str, str] = {}
    try:
        visible["the plan"] = str(analyst.explain(asking.question, **asking.terms))
        visible |= _read(analyst.ask(asking.question, **asking.terms))
        visible["asking again"] = canonical(list(analyst.ask(asking.question, **asking.terms).rows))
    except Exception as raised:  # noqa: BLE001  an analyst sees any exception
        visible["the error"] = canonical(raised)
    records = [record.to_json() for record in curator.history[before:]]
    for record in records:
        del record["time"]  # written before any data is read
    visible["the ledger"] = json.dumps(records)
    visible["what remains"] = str(curator.remaining)
    visible["the SQL that ran"] = "; ".join(curator.watched.statements)
    costs = [(record["cost"], record["delta"]) for record in records if record["kind"] == "charge"]
    return Seen(visible, list(curator.watched.calls), costs)


def _read(answer: Any) -> dict[str, str]:
    rows = list(answer.rows)
    return {
        "the answer": canonical(rows),
        "the types of the answer": shape_of(rows),
        "the columns": canonical(answer.columns),
        "the intervals": canonical(list(answer.intervals)),
        "the answer in print": str(answer),
        "the receipt": canonical(answer.receipt.to_json()),
    }


def differences(first: Mapping[str, str], second: Mapping[str, str]) -> list[str]:
    """The parts that are not alike, with the places where they part."""
    found = []
    for part in {**first, **second}:
        left, right = first.get(part, "nothing"), second.get(part, "nothing")
        if left != right:
            at = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), None)
            start = max(0, (min(len(left), len(right)) if at is None else at) - SHOWN // 2)
            here, there = left[start : start + SHOWN], right[start : start + SHOWN]
            found.append(f"{part} depends on the data: {here!r} or {there!r}")
    return found
