"""The ledger as a reader sees it: one record for each thing that happened."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from discreet.ledger.entry import Entry


@dataclass
class Record:
    """One charge or owner's entry. Numbers are exact decimals in the rule's own measure."""

    sequence: int
    kind: str  # "dataset", "owner" or "charge"
    time: str
    analyst: str | None = None
    question: str | None = None
    version: str | None = None
    state: str | None = None  # of a charge: charged, answered, abandoned
    cost: str | None = None
    delta: str | None = None
    total: str | None = None  # of the data set's account, after this
    total_delta: str | None = None
    reason: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The record without what does not apply to it."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def read_history(entries: Iterator[Entry], dataset: str) -> tuple[Record, ...]:
    """The records of one data set, in order."""
    records: dict[int, Record] = {}
    for entry in entries:
        facts = entry.facts
        if facts["kind"] in ("answered", "abandoned"):
            if facts["charge"] in records:
                records[facts["charge"]].state = facts["kind"]
        elif facts.get("dataset") == dataset:
            records[entry.sequence] = _record(entry.sequence, facts, dataset)
    return tuple(records.values())


def _record(sequence: int, facts: dict[str, Any], dataset: str) -> Record:
    record = Record(sequence, facts["kind"], facts["time"], reason=facts.get("reason"))
    if facts["kind"] == "charge":
        record.analyst, record.question, record.version = (
            facts["analyst"],
            facts["question"],
            facts["version"],
        )
        record.state = "charged"
        record.cost, _, record.delta = facts["costs"][dataset]
        record.total, _, record.total_delta = facts["totals"][dataset]
    return record
