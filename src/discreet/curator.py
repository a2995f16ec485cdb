"""The curator: the only place where all layers meet.

A question is planned, charged durably, run on the engine, given noise, stored, and only then answered.
"""

import threading
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Self, TypeAlias, TypedDict, Unpack, overload

from discreet.answers import Answer, Receipt, restore, store
from discreet.dry_run import Belief, DryRun, complete, rehearse
from discreet.engines import ENGINES
from discreet.errors import InvalidParameter
from discreet.ledger import Charge, Ledger, Record, Request, open_ledger
from discreet.mechanisms import Sparse
from discreet.numerics import Real, exact_fraction
from discreet.planning import Plan, Price, Within, make_plan, named_price, price_of
from discreet.queries import Builder, Query, Question, read_sql, resolve, table, to_sql
from discreet.release import Watch, release
from discreet.tables import Opening, Policy, from_policy, read_opening

Asked: TypeAlias = str | Builder | Query
Several: TypeAlias = list[Asked] | tuple[Asked, ...]


class Terms(TypedDict, total=False):
    """What a question is asked with: exactly one of epsilon, rho and within."""

    epsilon: Real | None
    delta: Real | None
    rho: Real | None
    within: Within | None
    confidence: Real


class Curator:
    """A data set opened for questions: its policy, its ledger and its engine.

    >>> import pandas, tempfile
    >>> frame = pandas.DataFrame({"person": range(100), "city": ["Ottawa", "Toronto"] * 50})
    >>> curator = Curator.open(frame, name="people", unit="person", budget={"epsilon": 1},
    ...     keys={"city": ["Ottawa", "Toronto"]}, ledger=f"{tempfile.mkdtemp()}/people.ledger")
    >>> answer = curator.ask("SELECT city, COUNT(*) AS n FROM people GROUP BY city", epsilon=0.5)
    >>> [row["city"] for row in answer.rows], curator.remaining.epsilon
    (['Ottawa', 'Toronto'], Fraction(1, 2))
    """

    def __init__(
        self,
        policy: Policy,
        *,
        ledger: str | Path,
        engine: str = "duckdb",
        frames: Mapping[str, object] | None = None,
        analyst: str = "owner",
        other_people: str | None = None,
    ) -> None:
        if engine not in ENGINES:
            raise InvalidParameter(f"engine must be one of {', '.join(ENGINES)}, got {engine!r}.")
        self._declared, self._frames, self._kind = policy, dict(frames or {}), engine
        self._analyst, self._path, self._other_people = analyst, Path(ledger), other_people
        self._lock = threading.RLock()
        self._engine: Any = None
        self._ledger: Ledger | None = None

    @classmethod
    def open(
        cls,
        source: Any,
        *,
        ledger: str | Path | None = None,
        engine: str = "duckdb",
        analyst: str = "owner",
        other_people: str | None = None,
        **declared: Unpack[Opening],
    ) -> Self:
        """Open a file or a frame. What is declared is the policy that a file would state
        (docs/guide/policy.md):
        unit, budget, name, types, bounds, keys, max_groups, max_rows, relation, population, version,
        filter, public.
        """
        policy, frames, beside = read_opening(source, declared)
        return cls(
            policy,
            ledger=ledger or beside,
            engine=engine,
            frames=frames,
            analyst=analyst,
            other_people=other_people,
        )

    @classmethod
    def from_policy(cls, path: str | Path, *, ledger: str | Path | None = None, **options: Any) -> Self:
        """Open the data set that a policy file describes; its ledger lies beside it unless told otherwise."""
        return cls(from_policy(path), ledger=ledger or Path(path).with_suffix(".ledger"), **options)

    @overload
    def ask(self, question: Asked, *, key: str | None = None, **terms: Unpack[Terms]) -> Answer: ...
    @overload
    def ask(
        self, question: Several, *, key: str | None = None, **terms: Unpack[Terms]
    ) -> tuple[Answer, ...]: ...
    def ask(
        self, question: Asked | Several, *, key: str | None = None, **terms: Unpack[Terms]
    ) -> Answer | tuple[Answer, ...]:
        """Answer a question, or a list of them under one charge, at a price: epsilon (and delta), rho, or
        the least that keeps the error `within` a limit.

        Charged before any data is read; a failure is not refunded. The same question at the same price is
        answered from the ledger, free. `key` makes a retry safe: it stands for one request.
        """
        plans = self._plans(question, self._opened().policy, **terms)
        charge = self._charge(plans, key)
        stored = charge.answer if charge.answer is not None else self._run(charge, plans)
        answers = restore(plans, stored)
        return answers if isinstance(question, list | tuple) else answers[0]

    @overload
    def explain(self, question: Asked, **terms: Unpack[Terms]) -> Plan: ...
    @overload
    def explain(self, question: Several, **terms: Unpack[Terms]) -> tuple[Plan, ...]: ...
    def explain(self, question: Asked | Several, **terms: Unpack[Terms]) -> Plan | tuple[Plan, ...]:
        """What asking would do, cost and err by. No data is touched, and the data file need not exist."""
        plans = self._plans(question, self._known(), **terms)
        return plans if isinstance(question, list | tuple) else plans[0]

    def dry_run(
        self,
        question: Asked,
        *,
        people: int | None = None,
        rows: int | None = None,
        beyond: Real = Fraction(1, 100),
        **terms: Unpack[Terms],
    ) -> DryRun:
        """Try a question on people invented from the policy: what limits, bounds and noise would do.

        No data is touched and nothing is charged. Say what you believe of the data: how many people, how
        many rows each has on average, which part of the values lies beyond the upper bound.
        """
        (plan,) = self._plans(question, complete(self._known()), **terms)
        return rehearse(plan, Belief.read(people=people, rows=rows, beyond=beyond, policy=plan.policy))

    def watch(
        self, *, threshold: Real, epsilon: Real, delta: Real = 0, count: int = 1, sensitivity: Real = 1
    ) -> Watch:
        """A sparse vector over questions, charged whole when opened: is a COUNT or SUM above the
        threshold?
        """
        engine = self._opened()
        stream = Sparse(
            epsilon=epsilon,
            delta=delta,
            count=count,
            threshold=0,
            sensitivity=sensitivity,
            relation=engine.policy.relation,
        )
        watch = Watch(stream, threshold, engine.run, lambda asked: self._read(asked, engine.policy)[1])
        self._book().charge(Request(loss=stream.loss, analyst=self._analyst, policy=engine.policy.digest))
        return watch

    def table(self, name: str) -> Builder:
        """The Python front end: the same tree as SQL."""
        return table(name)

    @property
    def remaining(self) -> Any:
        """What may still be spent, as a value of the budget's own class."""
        return self._book().remaining

    @property
    def history(self) -> tuple[Record, ...]:
        """Everything that happened to this data set, in order."""
        return self._book().history()

    @property
    def policy(self) -> Policy:
        """What the owner declared."""
        return self._declared

    def close(self) -> None:
        """Give back files and connections."""
        with self._lock:
            for part in (self._engine, self._ledger):
                if part is not None:
                    part.close()
            self._engine = self._ledger = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _plans(
        self, question: Asked | Several, policy: Policy, *, confidence: Real = 0.95, **terms: Any
    ) -> tuple[Plan, ...]:
        price, level = Price.read(**terms), exact_fraction(confidence, name="confidence")
        asked: Sequence[Asked] = question if isinstance(question, list | tuple) else [question]
        if not asked:
            raise InvalidParameter("a list of questions must hold at least one, got none.")
        part = Fraction(1, len(asked))
        read = [self._read(each, policy) for each in asked]
        return tuple(make_plan(*each, policy, price, confidence=level, part=part) for each in read)

    def _read(self, asked: Asked, policy: Policy) -> tuple[str, Question]:
        """The canonical text and the resolved question."""
        text = asked if isinstance(asked, str) else None
        tree = (
            asked.query
            if isinstance(asked, Builder)
            else read_sql(asked)
            if isinstance(asked, str)
            else asked
        )
        return to_sql(tree), resolve(tree, policy, text=text)

    def _charge(self, plans: tuple[Plan, ...], key: str | None) -> Charge:
        policy, losses = plans[0].policy, [plan.loss for plan in plans]
        request = Request(
            loss=sum(losses[1:], losses[0]),
            price=named_price(policy, price_of(plans)),
            question="; ".join(plan.text for plan in plans),
            analyst=self._analyst,
            policy=policy.digest,
            key=key,
        )
        return self._book().charge(request)

    def _run(self, charge: Charge, plans: tuple[Plan, ...]) -> bytes:
        """Run what was charged, and store it before a byte of it leaves."""
        ledger, engine = self._book(), self._opened()
        try:
            released = [release(plan, engine.run) for plan in plans]
        except BaseException:
            ledger.abandon(charge)
            raise
        left = ledger.remaining
        answers = [
            Answer(plan, outcome, Receipt.of(plan, charge=charge.id, remaining=left))
            for plan, outcome in zip(plans, released, strict=True)
        ]
        stored = store(answers)
        ledger.answer(charge, stored)
        return stored

    def _known(self) -> Policy:
        """The policy with the data's own columns; as declared, where there is no data."""
        try:
            return self._opened().policy  # type: ignore[no-any-return]
        except InvalidParameter:
            return self._declared

    def _opened(self) -> Any:
        with self._lock:
            if self._engine is None:
                self._engine = ENGINES[self._kind](self._declared, self._frames)
            return self._engine

    def _book(self) -> Ledger:
        with self._lock:
            if self._ledger is None:
                self._ledger = open_ledger(self._declared, self._path, other_people=self._other_people)
            return self._ledger
