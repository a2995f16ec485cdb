"""A remote curator: the same questions, plans, answers and errors, over HTTP."""

import json
import secrets
from collections.abc import Mapping, Sequence
from typing import Any, Self, Unpack, cast, overload

from discreet.asking.answers import Answer, Book, as_stored, restore, restore_book
from discreet.asking.client.transport import Transport, write_object
from discreet.asking.planning import (
    AskOptions,
    BookPlan,
    Plan,
    QuestionBatch,
    QuestionLike,
    Tables,
    plan_asked,
    plan_book,
    read_asked,
)
from discreet.asking.policy import Policy
from discreet.asking.queries import Builder, table
from discreet.asking.signatures import PRICES, refuse_unknown
from discreet.errors import InternalError, InvalidParameter, PolicyViolation
from discreet.kernel.accounting import read_notion
from discreet.kernel.ledger import Record
from discreet.kernel.numerics import Real


def connect(
    url: str, *, token: str, dataset: str | None = None, timeout_s: float = 30.0, patience_s: float = 60.0
) -> "Remote":
    """Connect to a data set on a server, with the API of a local curator: ask, explain, watch and so on.

    Parameters
    ----------
    url
        The server's address.
    token
        The token that the server's owner gave you.
    dataset
        The data set; not needed if the server has only one.
    timeout_s
        How long to wait for a reply, in addition to the data set's own deadline.
    patience_s
        How long to retry. Retries carry an idempotency key, so none is charged twice.

    Returns
    -------
    Remote
        The data set.
    """
    transport = Transport(url, token=token, timeout_s=timeout_s, patience_s=patience_s)
    names = [each["name"] for each in transport.get("api", "datasets")["datasets"]]
    if dataset is None and len(names) != 1:
        raise InvalidParameter(f"dataset must be one of {', '.join(names)}.", parameter="dataset")
    return Remote(transport, dataset if dataset is not None else names[0])


class Remote:
    """A data set on a server. Plans are made here from the public policy, and compared with the server's."""

    def __init__(self, transport: Transport, dataset: str) -> None:
        self._transport, self._dataset = transport, dataset
        self._read_policy()

    def _read_policy(self) -> None:
        facts = self._transport.get("api", "datasets", self._dataset)
        self._policy, self._deadline_s = Policy.from_json(facts), float(facts["deadline_s"])
        if self._policy.digest != facts["digest"]:
            raise _other_version()

    def _check_policy(self, digest: object) -> bool:
        """Read the policy anew where the server planned by another one; return whether it did."""
        if digest == self._policy.digest:
            return False
        self._read_policy()
        return True

    @overload
    def ask(
        self, question: QuestionLike, *, key: str | None = None, **terms: Unpack[AskOptions]
    ) -> Answer: ...
    @overload
    def ask(
        self, question: QuestionBatch, *, key: str | None = None, **terms: Unpack[AskOptions]
    ) -> tuple[Answer, ...]: ...
    def ask(
        self, question: QuestionLike | QuestionBatch, *, key: str | None = None, **terms: Unpack[AskOptions]
    ) -> Answer | tuple[Answer, ...]:
        """Answer a question, or a list of questions under one charge. Parameters: see `Curator.ask`."""
        refuse_unknown(terms, AskOptions.__annotations__, PRICES)
        plans = plan_asked(question, self._policy, **terms)
        status, reply = self._transport.post(
            *self._path("ask"),
            body=self._body(question, terms),
            key=key or secrets.token_hex(16),
            seconds=self._deadline_s * sum(plan.passes for plan in plans),
        )
        if status == 202:
            raise _waiting(reply)
        replies = reply["answers"] if _is_list(question) else [reply]
        if self._check_policy(replies[0]["receipt"]["policy"]):  # the owner changed it meanwhile
            plans = plan_asked(question, self._policy, **terms)
        answers = restore(plans, _as_stored(replies), charged=bool(reply["charged"]))
        for answer, facts in zip(answers, replies, strict=True):
            if answer.to_json() != {name: facts[name] for name in answer.to_json()}:
                raise _other_version()
        return answers if _is_list(question) else answers[0]

    @overload
    def explain(self, question: QuestionLike, **terms: Unpack[AskOptions]) -> Plan: ...
    @overload
    def explain(self, question: QuestionBatch, **terms: Unpack[AskOptions]) -> tuple[Plan, ...]: ...
    def explain(
        self, question: QuestionLike | QuestionBatch, **terms: Unpack[AskOptions]
    ) -> Plan | tuple[Plan, ...]:
        """Return what asking would do, its cost and its expected error, as the server plans it."""
        refuse_unknown(terms, AskOptions.__annotations__, PRICES)
        plans = plan_asked(question, self._policy, **terms)
        # Nothing is charged, so it may be retried under any key.
        _, reply = self._transport.post(
            *self._path("explain"), body=self._body(question, terms), key="explain"
        )
        replies = reply["plans"] if _is_list(question) else [reply]
        if [plan.sentences() for plan in plans] != [each["sentences"] for each in replies]:
            self._read_policy()  # the owner may have changed it
            plans = plan_asked(question, self._policy, **terms)
        if [plan.sentences() for plan in plans] != [each["sentences"] for each in replies]:
            raise _other_version()
        return plans if _is_list(question) else plans[0]

    def book(self, tables: Tables, *, key: str | None = None, **terms: Any) -> Book:
        """Answer many tables as one book. Parameters: see `Curator.book`; tables are columns or SQL."""
        plan = plan_book(tables, self._policy, **terms)
        status, reply = self._transport.post(
            *self._path("book"),
            body=_book_body(tables, terms),
            key=key or secrets.token_hex(16),
            seconds=self._deadline_s * plan.passes,
        )
        if status == 202:
            raise _waiting(reply)
        if self._check_policy(reply["receipt"]["policy"]):
            plan = plan_book(tables, self._policy, **terms)
        receipt = {name: fact for name, fact in reply["receipt"].items() if name != "charged"}
        found = restore_book(plan, as_stored(reply["released"], receipt), charged=bool(reply["charged"]))
        if json.loads(json.dumps(found.to_json()["tables"])) != reply["tables"]:
            raise _other_version()
        return found

    def explain_book(self, tables: Tables, **terms: Any) -> BookPlan:
        """Return what asking for a book would do, as the server plans it."""
        plan = plan_book(tables, self._policy, **terms)
        body = _book_body(tables, terms)
        _, reply = self._transport.post(*self._path("book", "explain"), body=body, key="explain")
        if plan.sentences() != reply["sentences"]:
            self._read_policy()
            plan = plan_book(tables, self._policy, **terms)
        if plan.sentences() != reply["sentences"]:
            raise _other_version()
        return plan

    def watch(
        self,
        *,
        threshold: Real,
        epsilon: Real,
        delta: Real = 0,
        count: int = 1,
        sensitivity: Real = 1,
        key: str | None = None,
    ) -> "RemoteWatch":
        """Open a watch, charged in full; the parameters are those of `Curator.watch`."""
        terms = {"threshold": threshold, "epsilon": epsilon, "count": count, "sensitivity": sensitivity}
        if delta:
            terms["delta"] = delta
        status, reply = self._transport.post(
            *self._path("watch"), body=write_object(terms), key=key or secrets.token_hex(16)
        )
        if status == 202:
            raise _waiting(reply)
        return RemoteWatch(self, reply["watch"])

    def table(self, name: str) -> Builder:
        """Return a builder of questions in Python: it makes the same tree as SQL."""
        return table(name)

    @property
    def remaining(self) -> Any:
        """The most that you may still be charged, as a value of the budget's own class."""
        return read_notion(self._transport.get(*self._path("budget"))["exact"]["remaining"])

    @property
    def history(self) -> tuple[Record, ...]:
        """Your charges in order, or all charges if you are an owner."""
        return tuple(Record(**facts) for facts in self._transport.get(*self._path("history"))["history"])

    @property
    def policy(self) -> Policy:
        """The policy as declared."""
        return self._policy

    def close(self) -> None:
        """Do nothing: no connection is kept open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _path(self, *parts: str) -> tuple[str, ...]:
        return ("api", "datasets", self._dataset, *parts)

    def _body(self, question: QuestionLike | QuestionBatch, terms: AskOptions) -> bytes:
        texts = [self._text(each) for each in _as_list(question)]
        given = {name: value for name, value in terms.items() if value is not None}
        return write_object({"sql": texts if _is_list(question) else texts[0], **given})

    def _text(self, asked: QuestionLike) -> str:
        return asked if isinstance(asked, str) else read_asked(asked, self._policy)[0]


class RemoteWatch:
    """A watch on a server. It exists in the server process that opened it, and ends with it."""

    def __init__(self, remote: Remote, name: str) -> None:
        self._remote, self._name = remote, name
        self._finished = False

    @property
    def finished(self) -> bool:
        """Whether the last "above" was answered."""
        return self._finished

    def test(self, question: QuestionLike) -> bool:
        """Return whether the noisy answer to one COUNT or SUM without groups is above the threshold."""
        remote = self._remote
        path = remote._path("watch", self._name, "test")
        body = write_object({"sql": remote._text(question)})
        _, reply = remote._transport.post(*path, body=body, seconds=remote._deadline_s)
        self._finished = bool(reply["finished"])
        return bool(reply["above"])

    def stop(self) -> None:
        """Close the watch on the server. Its charge stays."""
        self._remote._transport.delete(*self._remote._path("watch", self._name))


def _is_list(question: QuestionLike | QuestionBatch) -> bool:
    return isinstance(question, list | tuple)


def _as_list(question: QuestionLike | QuestionBatch) -> Sequence[QuestionLike]:
    return cast(Sequence[QuestionLike], question) if _is_list(question) else [cast(QuestionLike, question)]


def _book_body(tables: Tables, terms: Mapping[str, Any]) -> bytes:
    """Return the body that asks for a book; a single column is written as a list."""
    listed = list(tables)
    if not all(isinstance(each, str | tuple | list) for each in listed):
        raise InvalidParameter("a table must be columns or SQL here, got a builder.", parameter="tables")
    written = [each if isinstance(each, str) and len(each.split()) > 1 else _columns(each) for each in listed]
    facts: dict[str, Any] = {"tables": written, **terms}
    if isinstance(tables, Mapping):
        facts["weights"] = list(tables.values())
    return write_object({name: value for name, value in facts.items() if value is not None})


def _columns(asked: Any) -> list[str]:
    return [asked] if isinstance(asked, str) else list(asked)


def _as_stored(replies: Sequence[Mapping[str, Any]]) -> bytes:
    """Return answers as the ledger stores them, from the server's reply."""
    stored = [
        {
            "sets": each["released"],
            "bounds": each["bounds"],
            "receipt": {name: fact for name, fact in each["receipt"].items() if name != "charged"},
        }
        for each in replies
    ]
    return json.dumps({"format": 1, "answers": stored}).encode()


def _waiting(reply: Mapping[str, Any]) -> PolicyViolation:
    return PolicyViolation(
        "This price needs an owner's approval, which was requested. Ask again once it is approved.",
        approval=reply["approval"],
        state=reply["state"],
    )


def _other_version() -> InternalError:
    return InternalError("The server and this client plan differently. Install the server's version.")
