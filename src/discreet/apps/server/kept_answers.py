"""Stored answers as their readers get them: the table, and a signed receipt that names it.

Tested by: tests/server/pages/test_answers.py
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.apps.server.people import Person
from discreet.asking.answers import Receipt, Shown, Signer, digest_of_rows, kept_answers
from discreet.kernel.ledger import Answered


@dataclass(frozen=True)
class KeptAnswer:
    """A stored answer: its table (None where an early version kept none), its receipt, and that signed."""

    found: Answered
    asker: str | None
    part: int
    shown: Shown | None
    receipt: Receipt
    signed: Mapping[str, Any]
    salt: str

    def to_json(self) -> dict[str, Any]:
        """Return rows, intervals, and the signed receipt with the salt that ties the two together."""
        table = {} if self.shown is None else {**self.shown.to_json(), "types": dict(self.shown.types)}
        return {**table, "charged": False, "salt": self.salt, **self.signed}


def read_kept(found: Answered, signer: Signer, *, reader: Person) -> list[KeptAnswer]:
    """Read the answers of a charge, and sign their receipts.

    Where answers are shared, an analyst does not learn who asked first.
    """
    asker = found.analyst if reader.is_owner or reader.name == found.analyst else None
    every = []
    for part, (shown, receipt) in enumerate(kept_answers(found.answer)):
        salt = signer.salt(str(receipt.facts["dataset"]), found.charge, part)
        facts = {
            **receipt.facts,
            "asker": asker,
            "time": found.time,
            "version": found.version,
            "chain": found.chain,
            "rows": None if shown is None else digest_of_rows(shown, salt),
        }
        every.append(KeptAnswer(found, asker, part, shown, receipt, signer.sign(facts), salt))
    return every
