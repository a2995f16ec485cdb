"""A curator somewhere else: the same questions, plans, answers and errors, over HTTP."""

import json
import secrets
from collections.abc import Mapping, Sequence
from typing import Any, Self, Unpack, cast, overload

from discreet.accounting import read_notion
from discreet.answers import Answer, restore
from discreet.client.numbers import write_object
from discreet.client.wire import Wire
from discreet.errors import InternalError, InvalidParameter, PolicyViolation
from discreet.ledger import Record
from discreet.numerics import Real
from discreet.planning import Asked, Plan, Several, Terms, plan_asked, read_asked
from discreet.queries import Builder, table
from discreet.tables import Policy


def connect(
    url: str, *, token: str, dataset: str | None = None, timeout_s: float = 30.0, patience_s: float = 60.0
) -> "Remote":
    """A data set on a server, with the face of a local curator: ask, explain, watch, remaining, history.

    Without `dataset` it is the server's only one. Retries carry a key, so that none is charged twice; they
    go on for `patience_s`.
    """
    wire = Wire(url, token=token, timeout_s=timeout_s, patience_s=patience_s)
    names = [each["name"] for each in wire.get("api", "datasets")["datasets"]]
    if dataset is None and len(names) != 1:
        raise InvalidParameter(f"dataset must be one of {', '.join(names)}.", parameter="dataset")
    return Remote(wire, dataset if dataset is not None else names[0])


class Remote:
    """A data set on a server. Plans are made here, from the same public policy, and compared with the
    server's.
    """

    def __init__(self, wire: Wire, dataset: str) -> None:
        self._wire, self._dataset = wire, dataset
        facts = wire.get("api", "datasets", dataset)
        self._policy, self._deadline_s = Policy.from_json(facts), float(facts["deadline_s"])
        if self._policy.digest != facts["digest"]:
            raise _other_version()

    @overload
    def ask(self, question: Asked, *, key: str | None = None, **terms: Unpack[Terms]) -> Answer: ...
    @overload
    def ask(
        self, question: Several, *, key: str | None = None, **terms: Unpack[Terms]
    ) -> tuple[Answer, ...]: ...
    def ask(
        self, question: Asked | Several, *, key: str | None = None, **terms: Unpack[Terms]
    ) -> Answer | tuple[Answer, ...]:
        """Answer a question, or a list of them under one charge: see `Curator.ask`."""
        plans = plan_asked(question, self._policy, **terms)
        status, reply = self._wire.post(
            *self._path("ask"),
            body=self._body(question, terms),
            key=key or secrets.token_hex(16),
            seconds=self._deadline_s * sum(plan.passes for plan in plans),
        )
        if status == 202:
            raise _waiting(reply)
        told = reply["answers"] if _is_list(question) else [reply]
        answers = restore(plans, _as_stored(told), charged=bool(reply["charged"]))
        for answer, facts in zip(answers, told, strict=True):
            if answer.to_json() != {name: facts[name] for name in answer.to_json()}:
                raise _other_version()
        return answers if _is_list(question) else answers[0]

    @overload
    def explain(self, question: Asked, **terms: Unpack[Terms]) -> Plan: ...
    @overload
    def explain(self, question: Several, **terms: Unpack[Terms]) -> tuple[Plan, ...]: ...
    def explain(self, question: Asked | Several, **terms: Unpack[Terms]) -> Plan | tuple[Plan, ...]:
        """What asking would do, cost and err by, as the server says it."""
        plans = plan_asked(question, self._policy, **terms)
        # Nothing is charged, so it may be sent again under any key.
        _, reply = self._wire.post(*self._path("explain"), body=self._body(question, terms), key="explain")
        told = reply["plans"] if _is_list(question) else [reply]
        if [plan.sentences() for plan in plans] != [each["sentences"] for each in told]:
            raise _other_version()
        return plans if _is_list(question) else plans[0]

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
        """A sparse vector over questions, charged whole when opened: see `Curator.watch`."""
        terms = {"threshold": threshold, "epsilon": epsilon, "count": count, "sensitivity": sensitivity}
        if delta:
            terms["delta"] = delta
        status, reply = self._wire.post(
            *self._path("watch"), body=write_object(terms), key=key or secrets.token_hex(16)
        )
        if status == 202:
            raise _waiting(reply)
        return RemoteWatch(self, reply["watch"])

    def table(self, name: str) -> Builder:
        """The Python front end: the same tree as SQL."""
        return table(name)

    @property
    def remaining(self) -> Any:
        """What you may still be charged at most, as a value of the budget's own class."""
        return read_notion(self._wire.get(*self._path("budget"))["exact"]["remaining"])

    @property
    def history(self) -> tuple[Record, ...]:
        """Your charges, in order; everybody's, if you are an owner."""
        return tuple(Record(**facts) for facts in self._wire.get(*self._path("history"))["history"])

    @property
    def policy(self) -> Policy:
        """What the owner declared."""
        return self._policy

    def close(self) -> None:
        """Nothing is held open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _path(self, *parts: str) -> tuple[str, ...]:
        return ("api", "datasets", self._dataset, *parts)

    def _body(self, question: Asked | Several, terms: Terms) -> bytes:
        texts = [self._text(each) for each in _as_list(question)]
        given = {name: value for name, value in terms.items() if value is not None}
        return write_object({"sql": texts if _is_list(question) else texts[0], **given})

    def _text(self, asked: Asked) -> str:
        return asked if isinstance(asked, str) else read_asked(asked, self._policy)[0]


class RemoteWatch:
    """A watch on a server. It lives in the process that opened it: if that ends, so does the watch."""

    def __init__(self, remote: Remote, name: str) -> None:
        self._remote, self._name = remote, name
        self._finished = False

    @property
    def finished(self) -> bool:
        """Whether the last "above" has been given."""
        return self._finished

    def test(self, question: Asked) -> bool:
        """Whether the answer to one ungrouped COUNT or SUM is above the threshold, by the noise."""
        remote = self._remote
        path = remote._path("watch", self._name, "test")
        body = write_object({"sql": remote._text(question)})
        _, reply = remote._wire.post(*path, body=body, seconds=remote._deadline_s)
        self._finished = bool(reply["finished"])
        return bool(reply["above"])

    def stop(self) -> None:
        """End it on the server too. What it cost stays charged."""
        self._remote._wire.delete(*self._remote._path("watch", self._name))


def _is_list(question: Asked | Several) -> bool:
    return isinstance(question, list | tuple)


def _as_list(question: Asked | Several) -> Sequence[Asked]:
    return cast(Sequence[Asked], question) if _is_list(question) else [cast(Asked, question)]


def _as_stored(told: Sequence[Mapping[str, Any]]) -> bytes:
    """Answers as the ledger keeps them, from what the server tells of them."""
    stored = [
        {
            "sets": each["released"],
            "bounds": each["bounds"],
            "receipt": {name: fact for name, fact in each["receipt"].items() if name != "charged"},
        }
        for each in told
    ]
    return json.dumps({"format": 1, "answers": stored}).encode()


def _waiting(reply: Mapping[str, Any]) -> PolicyViolation:
    return PolicyViolation(
        "this price needs an owner's approval, which it now waits for. Ask again once it is given.",
        approval=reply["approval"],
        state=reply["state"],
    )


def _other_version() -> InternalError:
    return InternalError("the server must plan as this client does. Install its version of discreet.")
