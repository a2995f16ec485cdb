"""The ledger as a reader sees it: one record for each thing that happened."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from discreet.accounting import Total, describe, read_rule
from discreet.ledger.entry import Entry, readable


@dataclass
class Record:
    """One charge or owner's entry. Numbers are exact decimals in the rule's own measure."""

    sequence: int
    kind: str  # "dataset", "owner", "share", "charge", "read", "release" or "decision"
    time: str
    analyst: str | None = None
    question: str | None = None
    version: str | None = None
    state: str | None = (
        None  # of a charge: charged, answered, failed, stopped, abandoned; of a decision: which
    )
    cost: str | None = None
    delta: str | None = None
    total: str | None = None  # of the data set's account, after this; or of the one analyst asked about
    total_delta: str | None = None
    reason: str | None = None
    share: str | None = None  # what was reserved for the analyst

    def to_json(self) -> dict[str, Any]:
        """The record without what does not apply to it."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def read_history(entries: Iterator[Entry], dataset: str, analyst: str | None = None) -> tuple[Record, ...]:
    """The records of one data set, in order; of one analyst alone, the charges, and nothing of others."""
    with readable():
        records = _read_all(entries, dataset)
    if analyst is None:
        return records
    mine = [record for record in records if (record.kind, record.analyst) == ("charge", analyst)]
    total = Total()
    for record in mine:
        total = total.plus(Total.from_json([record.cost or "0", "0", record.delta or "0"]))
        record.total, _, record.total_delta = total.to_json()
    return tuple(mine)


_ENDS = {"answered": "answered", "abandoned": "abandoned", "failure": "failed", "stopped": "stopped"}


def _read_all(entries: Iterator[Entry], dataset: str) -> tuple[Record, ...]:
    records: dict[int, Record] = {}
    tests: dict[int, int] = {}  # the watch of each of its questions
    for entry in entries:
        facts = entry.facts
        if facts["kind"] == "test":
            tests[entry.sequence] = facts["charge"]
        elif facts["kind"] in _ENDS:
            charge, is_test = facts["charge"], facts["charge"] in tests
            record = records.get(tests[charge] if is_test else charge)
            if record is not None and (not is_test or facts["kind"] == "failure"):
                record.state = _ENDS[facts["kind"]]
        elif facts.get("dataset") == dataset:
            records[entry.sequence] = _record(entry.sequence, facts, dataset)
    return tuple(records.values())


def _record(sequence: int, facts: dict[str, Any], dataset: str) -> Record:
    record = Record(sequence, facts["kind"], facts["time"], facts.get("analyst"), reason=facts.get("reason"))
    if facts["kind"] == "charge":
        record.question, record.version = facts["question"], facts["version"]
        record.state = "charged"
        record.cost, _, record.delta = facts["costs"][dataset]
        record.total, _, record.total_delta = facts["totals"][dataset]
    if facts["kind"] == "decision":
        record.question, record.state = facts["question"], facts["decision"]
    if facts["kind"] == "share":
        record.share = describe(read_rule(facts["rule"]).budget)
    return record
