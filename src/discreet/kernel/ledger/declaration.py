"""What an owner declares of a data set when a ledger first hears of it, and what may change later.

Tested by: tests/ledger/test_ledger.py
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Literal, TypeAlias

from discreet.errors import InvalidParameter, LedgerConflict
from discreet.kernel.accounting import Budget, describe, read_rule, rule_for
from discreet.kernel.ledger.entry import canonical, fingerprint, readable
from discreet.kernel.ledger.request import check_name
from discreet.kernel.numerics import exact_positive, show_exact

Sharing: TypeAlias = Literal["own", "shared"]


SETTINGS = ("failures", "failures_in_all", "least_price", "watch_tests")
MOST = 2**31 - 1


@dataclass(frozen=True, kw_only=True)
class Ration:
    """The `ration` of a policy (docs/theory/failures.md).

    `failures` is how many charged questions of one analyst may fail before asking waits for the owner. Once
    `failures_in_all` of a data set have failed, analysts with a failure wait, and all others have one left.
    `least_price` is the least part of the budget that a question may cost, `watch_tests` the most questions
    of one watch.

    >>> Ration().least_price
    Fraction(1, 10000)
    """

    failures: int = 3
    failures_in_all: int = 10
    least_price: Fraction = Fraction(1, 10**4)
    watch_tests: int = 1000

    def __post_init__(self) -> None:
        for name in ("failures", "failures_in_all", "watch_tests"):
            _check_count(getattr(self, name), name)
        part = exact_positive(self.least_price, name="least_price")
        if part > 1:
            raise InvalidParameter(
                f"least_price must be a part of the budget, at most 1, got {show_exact(part)}.",
                parameter="least_price",
            )
        object.__setattr__(self, "least_price", part)

    @property
    def is_default(self) -> bool:
        """Whether the policy leaves it out, or agrees with it."""
        return self == Ration()

    def to_json(self) -> dict[str, Any]:
        """Return the settings, exactly."""
        return {name: str(getattr(self, name)) for name in SETTINGS}

    @classmethod
    def from_json(cls, facts: Mapping[str, str] | None) -> "Ration":
        """Return the ration that `to_json` wrote; None is the default."""
        numbers = {name: Fraction(text) for name, text in (facts or {}).items()}
        counts = {name: int(number) for name, number in numbers.items() if name != "least_price"}
        return cls(**{**numbers, **counts})  # type: ignore[arg-type]


def read_ration(settings: object) -> Ration:
    """Return the ration that a policy states, in part or in whole.

    >>> read_ration({"failures": 5}).failures, read_ration(None).failures
    (5, 3)
    """
    if settings is None or isinstance(settings, Ration):
        return settings or Ration()
    if not isinstance(settings, Mapping) or not set(settings) <= set(SETTINGS):
        raise InvalidParameter(
            f"ration must be a table of {', '.join(SETTINGS)}, got {str(settings)[:60]}.", parameter="ration"
        )
    return Ration(**settings)


def _check_count(value: object, name: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= MOST:
        raise InvalidParameter(
            f"{name} must be a whole number from 1 to 2^31 - 1, got {str(value)[:60]}.", parameter=name
        )


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """A data set: its id, its budget and rule, who is protected, and the labels of its answers."""

    dataset: str
    rule: Mapping[str, Any]  # the account's budget and rule, as `Rule.to_json` wrote them
    unit: str = ""
    schema: str = ""  # digests of the tables' columns: a known one under a new id needs the owner's consent
    limits: Mapping[str, str] = field(default_factory=dict)
    version: str = "1"
    per_analyst: Mapping[str, Any] | None = None
    per_question: Mapping[str, Any] | None = None
    answers: Sharing = "own"  # "shared": an answer given to one analyst is given to all
    ration: Mapping[str, str] | None = None  # as `Ration.to_json` wrote it; None is the default

    @classmethod
    def of(cls, dataset: str, budget: Budget, **declared: Any) -> "Declaration":
        """Return the declaration that `Ledger.open` was given; budgets become terms, the schema its
        digest.
        """
        if "/" in check_name(dataset, name="dataset"):
            raise InvalidParameter("a data set's id must not contain '/'.", parameter="dataset")
        if declared["answers"] not in ("own", "shared"):
            raise InvalidParameter("answers must be 'own' or 'shared'.", parameter="answers")
        check_name(declared["version"], name="version")
        relation, chosen = declared.pop("relation"), declared.pop("filter")
        for part in ("per_analyst", "per_question"):
            limit = declared[part]
            declared[part] = None if limit is None else rule_for(limit, relation=relation).to_json()
        declared["limits"] = {str(name): str(value) for name, value in sorted(declared["limits"].items())}
        declared["schema"] = _digests(declared["schema"])
        ration = declared.pop("ration", None)
        declared["ration"] = None if ration is None or ration.is_default else ration.to_json()
        rule = rule_for(budget, filter=chosen, relation=relation).to_json()
        return cls(dataset=dataset, rule=rule, **declared)

    def to_json(self) -> str:
        """Return one text for equal declarations."""
        return canonical(self.facts)

    @property
    def facts(self) -> dict[str, Any]:
        """Every part by name; the default ration is not mentioned, as in ledgers that know of none."""
        return {name: value for name, value in asdict(self).items() if (name, value) != ("ration", None)}

    @cached_property
    def allowed(self) -> Ration:
        """What the owner allows of failures, tiny prices and long watches."""
        return Ration.from_json(self.ration)

    @classmethod
    @lru_cache(maxsize=256)
    def from_json(cls, text: str) -> "Declaration":
        """Return the declaration that `to_json` wrote."""
        with readable():
            found = cls(**json.loads(text))
            _ = found.allowed
            return found

    def accounts(self, *, analyst: str, question: str | None) -> dict[str, str]:
        """Return the accounts that a question of this analyst must fit, each with its rule's canonical
        text.
        """
        whole, by_analyst, by_question = self._terms
        accounts = {self.dataset: whole}
        if by_analyst:
            accounts[f"{self.dataset}/analyst/{analyst}"] = by_analyst
        if by_question and question:
            accounts[f"{self.dataset}/question/{fingerprint({'question': question})}"] = by_question
        return accounts

    @cached_property
    def _terms(self) -> tuple[str, str, str]:
        """The rules' canonical texts; empty where there is none."""
        whole, analyst, question = (
            "" if rule is None else canonical(rule)
            for rule in (self.rule, self.per_analyst, self.per_question)
        )
        return whole, analyst, question

    def check_same(self, known: "Declaration") -> None:
        """Refuse an opening that contradicts the ledger: the ledger decides."""
        for part, remedy in _FIXED.items():
            mine, kept = getattr(self, part), getattr(known, part)
            if part == "rule":  # what a raise carried over is the ledger's alone to know
                kept = {name: value for name, value in kept.items() if name != "carried"}
            if mine != kept:
                raise LedgerConflict(
                    f"the {_SHOWN.get(part, part)} of data set '{self.dataset}' must be the ledger's own, "
                    f"{_describe(kept)}, got {_describe(mine)}. {remedy}",
                    parameter=part,
                )

    def with_labels_of(self, other: "Declaration") -> "Declaration":
        """Return this declaration with what an owner changes by opening: version, limits, sharing, ration,
        and the columns, where these are known; those of earlier versions stay known.
        """
        return replace(
            self,
            version=other.version,
            limits=other.limits,
            schema=",".join(sorted(self._tables | other._tables)),
            answers=other.answers,
            ration=other.ration,
        )

    def is_like(self, other: "Declaration") -> bool:
        """Return whether a table of each had the same columns: they may well be about the same people."""
        return bool(self._tables & other._tables)

    @property
    def _tables(self) -> set[str]:
        return set(self.schema.split(",")) - {""}


def _digests(tables: str | Sequence[str]) -> str:
    """Return the columns of each table as a digest; empty where they are not known."""
    texts = [tables] if isinstance(tables, str) else tables
    return ",".join(sorted({hashlib.sha256(text.encode()).hexdigest() for text in texts if text}))


def rest_of(dataset: str) -> str:
    """Return the account of what is not reserved for anyone."""
    return f"{dataset}/rest"


def share_of(dataset: str, analyst: str) -> str:
    """Return the account of what is reserved for this analyst."""
    return f"{dataset}/share/{analyst}"


_SHOWN = {"rule": "budget", "per_analyst": "analysts' budget", "per_question": "questions' budget"}
_FIXED = {
    "rule": "Open it with that one; raising it is an owner's entry (`discreet ledger raise`).",
    "per_analyst": "Open it with that one.",
    "per_question": "Open it with that one.",
    "unit": "Changing who is protected is an owner's entry (`Ledger.amend`).",
}


def _describe(value: Mapping[str, Any] | str | None) -> str:
    if value is None:
        return "none"
    if isinstance(value, str):
        return repr(value)
    with readable():
        rule = read_rule(dict(value))
    return f"{describe(rule.budget)} ({rule.name}, {rule.budget.relation})"
