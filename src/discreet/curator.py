"""The curator: the only place where all layers meet.

A question is planned, charged durably, run on the engine, given noise, stored, and only then answered.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from fractions import Fraction
from pathlib import Path
from typing import Any, Self, Unpack, overload

from discreet.answering import Answering
from discreet.answers import Answer
from discreet.dry_run import DryRun, try_out
from discreet.engines import Engine
from discreet.holdings import Holdings
from discreet.ledger import Ledger, Record
from discreet.numerics import Real
from discreet.planning import Asked, Plan, Several, Terms, plan_asked
from discreet.policy_ledger import check_known
from discreet.queries import Builder, table
from discreet.release import Watch
from discreet.tables import Opening, Policy, from_policy, read_opening
from discreet.watching import open_watch


class Curator(AbstractContextManager["Curator"]):
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
        engine: object = None,
        frames: Mapping[str, object] | None = None,
        analyst: str = "owner",
        other_people: str | None = None,
    ) -> None:
        check_known(policy, ledger)
        self._holdings = Holdings(
            policy,
            ledger=ledger,
            engine=engine if engine is not None else policy.engine,
            frames=dict(frames or {}),
            other_people=other_people,
        )
        self._analyst = analyst

    @classmethod
    def open(
        cls,
        source: Any,
        *,
        ledger: str | Path | Mapping[str, Any] | None = None,
        engine: object = "duckdb",
        analyst: str = "owner",
        other_people: str | None = None,
        **declared: Unpack[Opening],
    ) -> Self:
        """Open a file, a frame, or a table of the engine's database. What is declared is the policy that a
        file would state (docs/guide/policy.md): unit, budget, name, types, bounds, keys, max_groups,
        max_rows, relation, population, version, filter, per_analyst, per_question, share_answers, ration,
        public.
        `ledger` is a file or an address, or what a policy's [ledger] states: place, anchor, key_file. What it
        knows of the data set (budget, unit) stands: opening with anything else is refused.
        """
        policy, frames, place = read_opening(source, declared, ledger, engine)
        return cls(
            policy, ledger=place, engine=engine, frames=frames, analyst=analyst, other_people=other_people
        )

    @classmethod
    def from_policy(cls, path: str | Path, *, ledger: str | Path | None = None, **options: Any) -> Self:
        """Open the data set that a policy file describes; its ledger lies beside it unless told otherwise."""
        policy = from_policy(path, engine=options.get("engine"))
        return cls(policy, ledger=ledger or str(policy.ledger.place), **options)

    def for_analyst(self, name: str) -> "Curator":
        """The same engine and ledger, asked by someone else: budgets and stored answers are by analyst."""
        other = object.__new__(type(self))
        other._holdings, other._analyst = self._holdings, name
        return other

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
        the least that keeps the error `within` a limit. `bounds="auto"` finds missing bounds privately with a
        part of the price; `split={column: weight}` divides the price by weights.

        Charged before any data is read; a failure is not refunded. The same question at the same price is
        answered from the ledger, free. `key` makes a retry safe: it stands for one request.
        """
        answering = self.answering(plan_asked(question, self._holdings.engine().policy, **terms))
        if answering.charge(key=key):
            try:
                answering.run()
            except BaseException:
                answering.abandon()
                raise
        answers = answering.store()
        return answers if isinstance(question, list | tuple) else answers[0]

    @overload
    def explain(self, question: Asked, **terms: Unpack[Terms]) -> Plan: ...
    @overload
    def explain(self, question: Several, **terms: Unpack[Terms]) -> tuple[Plan, ...]: ...
    def explain(self, question: Asked | Several, **terms: Unpack[Terms]) -> Plan | tuple[Plan, ...]:
        """What asking would do, cost and err by. No data is touched, and the data file need not exist."""
        plans = plan_asked(question, self.known_policy, **terms)
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
        return try_out(question, self.known_policy, people=people, rows=rows, beyond=beyond, **terms)

    def watch(
        self,
        *,
        threshold: Real,
        epsilon: Real,
        delta: Real = 0,
        count: int = 1,
        sensitivity: Real = 1,
        key: str | None = None,
    ) -> Watch:
        """A sparse vector over questions, charged whole when opened: is a COUNT or SUM above it?"""
        terms = {"epsilon": epsilon, "delta": delta, "count": count, "sensitivity": sensitivity}
        return open_watch(self._holdings, analyst=self._analyst, threshold=threshold, key=key, **terms)

    def answering(self, plans: tuple[Plan, ...]) -> Answering:
        """The steps that `ask` takes with its plans, for whoever must take them apart."""
        return Answering(self._holdings, plans, analyst=self._analyst)

    def table(self, name: str) -> Builder:
        """The Python front end: the same tree as SQL."""
        return table(name)

    @property
    def remaining(self) -> Any:
        """What may still be spent, as a value of the budget's own class."""
        return self._holdings.ledger().remaining

    @property
    def history(self) -> tuple[Record, ...]:
        """Everything that happened to this data set, in order."""
        return self._holdings.ledger().history()

    @property
    def ledger(self) -> Ledger:
        """The record of all charges, in its owner's hands."""
        return self._holdings.ledger()

    @property
    def policy(self) -> Policy:
        """What the owner declared."""
        return self._holdings.declared

    @property
    def known_policy(self) -> Policy:
        """The policy with the data's own columns; as declared, where the data is out of reach."""
        return self._holdings.known

    def limit_time(self, seconds: float) -> None:
        """Let no pass over the data take longer than this, from the next opening of the engine on."""
        self._holdings.timeout_s = seconds

    def opening(self) -> Callable[[], Engine]:
        """What opens this data set's engine in another process, without its ledger."""
        return self._holdings.opening()

    def open_all(self) -> None:
        """Open engine and ledger now: what is wrong with them is said before the first question."""
        self._holdings.engine()
        self._holdings.ledger()

    def close(self) -> None:
        """Give back files and connections."""
        self._holdings.close()

    def __exit__(self, *_: object) -> None:
        self.close()
