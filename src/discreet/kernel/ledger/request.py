"""What is charged: a request goes in, a charge comes out.

Tested by: tests/ledger/test_ledger.py
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from discreet.errors import InvalidParameter
from discreet.kernel.accounting import Notion, check_charge, notion_json
from discreet.kernel.ledger.entry import fingerprint
from discreet.kernel.losses import PrivacyLoss

LONGEST_NAME = 200
LONGEST_QUESTION = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Request:
    """One question, with everything that decides its price and its answer.

    `loss` is the loss of the object that will run; `price` the promise named for it, which must cover it
    and is then what is taken. `question` is the canonical text of the question's tree, `policy` a digest of
    whatever else decides the answer, `key` makes a retry safe. Without a question (a watch, say) nothing is
    ever found again. `formerly` is what earlier versions took for `policy`: by it theirs are found.
    """

    loss: PrivacyLoss | Notion
    price: Notion | None = None
    question: str | None = None
    analyst: str = "owner"
    policy: str = ""
    formerly: str = ""
    key: str | None = None

    def __post_init__(self) -> None:
        check_charge(self.loss)
        if self.price is not None and isinstance(check_charge(self.price), PrivacyLoss):
            raise InvalidParameter("a price must be a notion, got a loss.", parameter="price")
        check_name(self.analyst, name="analyst")
        if self.key is not None:
            check_name(self.key, name="key")
        if self.question is not None and not 0 < len(self.question) <= LONGEST_QUESTION:
            raise InvalidParameter(
                f"a question must have 1 to {LONGEST_QUESTION} characters.", parameter="question"
            )

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        """What an entry says of this request."""
        return {
            "analyst": self.analyst,
            "question": self.question,
            "policy": self.policy,
            "loss": self.loss.to_json() if isinstance(self.loss, PrivacyLoss) else notion_json(self.loss),
            "price": None if self.price is None else notion_json(self.price),
        }

    def digest(self, version: str, *, whose: str | None = None) -> str:
        """Return the same for equal requests on one version of the data, by this analyst or by whom it is
        said.

        Remembered, so that what is computed before the turn need not be computed in it.
        """
        name = version, self.analyst if whose is None else whose
        if name not in self._digests:
            self._digests[name] = fingerprint({**self.facts, "analyst": name[1], "version": version})
        return self._digests[name]

    @cached_property
    def spellings(self) -> tuple["Request", ...]:
        """This request, and the same one as earlier versions wrote it."""
        return (self, replace(self, policy=self.formerly, formerly="")) if self.formerly else (self,)

    @cached_property
    def _digests(self) -> dict[tuple[str, str], str]:
        return {}


@dataclass(frozen=True)
class Charge:
    """A charge that is on disk. `answer` is None until there is one; then it is what every retry gets."""

    id: int
    dataset: str
    analyst: str
    answer: bytes | None = None


@dataclass(frozen=True)
class Answered:
    """An answered charge as its reader sees it: whose, when, on what version, where in the chain."""

    charge: int
    analyst: str
    time: str
    version: str
    chain: str  # the digest of the charge's entry: of all that came before it, and of nothing after
    answer: bytes


def check_name(text: str, *, name: str) -> str:
    """Return a printable name of bounded length."""
    if not isinstance(text, str) or not 0 < len(text) <= LONGEST_NAME or not text.isprintable():
        raise InvalidParameter(f"{name} must be 1 to {LONGEST_NAME} printable characters.", parameter=name)
    return text


def check_reason(reason: str) -> str:
    """Return why an owner made an entry; kept for ever."""
    if not isinstance(reason, str) or not reason.strip():
        raise InvalidParameter("an owner's entry must give a reason.", parameter="reason")
    return reason
