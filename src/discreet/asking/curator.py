"""The curator: the one place where all layers meet.

A question is planned, charged durably, run on the engine with noise added, stored, and only then answered.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, Never, Self, Unpack, overload

from discreet.asking.answers import Answer, Book, describe
from discreet.asking.dry_run import DryRun, try_out
from discreet.asking.planning import (
    Aim,
    AskOptions,
    BookPlan,
    Plan,
    QuestionBatch,
    QuestionLike,
    Tables,
    Within,
    plan_asked,
    plan_book,
)
from discreet.asking.policy import Opening, Policy, RowLimit, from_policy, notice_frames, read_opening
from discreet.asking.queries import Builder, table
from discreet.asking.query_run import Answered, BookRun, ChargedRun, Planned, QueryRun
from discreet.asking.resources import Resources, check_known
from discreet.asking.signatures import BUDGETS, PRICES, refuse_unknown
from discreet.asking.watching import Watch, open_watch
from discreet.kernel.ledger import Ledger, Record
from discreet.kernel.numerics import Real, facts_html

_OPTIONS = ("ledger", "engine", "analyst", "other_people")
_BOOK = ("table", "epsilon", "delta", "rho", "mu", "limit", "aim", "confidence", "key")
_WATCH = ("threshold", "epsilon", "delta", "count", "sensitivity", "key")


class Curator(AbstractContextManager["Curator"]):
    """A data set opened for questions: its policy, its ledger and its engine.

    `resources` holds the engine and the ledger for the server and for audits; it is not part of the API.

    >>> import pandas, tempfile
    >>> frame = pandas.DataFrame({"person": range(100), "city": ["Ottawa", "Toronto"] * 50})
    >>> curator = Curator.open(frame, name="people", unit="person", budget=1,
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
        self.resources = Resources(
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
        unit: Any = None,
        budget: Any = None,
        name: str | None = None,
        types: Mapping[str, Any] | None = None,
        bounds: Mapping[str, Any] | None = None,
        keys: Mapping[str, Any] | None = None,
        encoding: str | Mapping[str, str] = "utf-8",
        limit: RowLimit | Mapping[str, RowLimit] | None = None,
        max_groups: int | Mapping[str, int] | None = None,
        max_rows: int | Mapping[str, int] | None = None,
        relation: str = "add/remove",
        population: int | None = None,
        version: str = "1",
        filter: str | None = None,  # noqa: A002  the name in policy files
        per_analyst: Any = None,
        per_question: Any = None,
        share_answers: bool = False,
        ration: Any = None,
        hierarchies: Mapping[str, Any] | None = None,
        public: Mapping[str, Any] | None = None,
        ledger: str | Path | Mapping[str, Any] | None = None,
        engine: object = "duckdb",
        analyst: str = "owner",
        other_people: str | None = None,
        **unknown: Never,
    ) -> Self:
        """Open a data set from a file, a data frame, or a table of the engine's database.

        The parameters up to `public` are the policy that a file would state (docs/guide/policy.md). With
        several tables, `unit`, `types` to `keys` and `hierarchies` are mappings by table name; limits may be.

        Parameters
        ----------
        source
            A path or several, a frame, a table's name in the engine's database, or names mapped to these.
        unit
            The column that identifies a person, or `each_row` if each row is one. Required.
        budget
            A number (epsilon), a mapping such as `{"epsilon": 1, "delta": 1e-6}`, or a notion such as
            `ZCDP(0.1)`. Required.
        name
            The data set's id; by default the file's stem.
        types, bounds, keys, encoding
            By column: its type ("date 31/12/2024" if a CSV writes it so), (low, high) bounds, public labels.
            Of CSV files: "utf-8" or "latin-1"; or by table.
        limit
            The most that one person adds to COUNT, SUM, AVG and VARIANCE over all groups, in rows: a number,
            or "auto" to find it privately for each question. Rows beyond it count less; none is left out.
        max_groups, max_rows
            In how many groups one person counts, and with how many rows in each; one each unless declared.
            Declared without a limit they bound all aggregates, otherwise those that take no limit.
        relation
            "add/remove" or "replace": how neighbouring data sets differ.
        population
            Roughly how many people there are, if that is public.
        version
            The version of the data.
        filter
            "advanced" to compose many small charges by advanced composition.
        per_analyst, per_question
            Further limits, stated as `budget` is.
        share_answers
            Whether an answer to one analyst is free for the others.
        ration
            How many questions may fail before the owner has to look.
        hierarchies
            Levels above a column, for books: `{"region > state > county": "places.csv"}`, or rows of labels.
        public
            Public tables: a source, whose first column is the key, or (source, key).
        ledger
            A file or an address, or a mapping of place, anchor and key_file; by default a file next to the
            data. Opening with another budget or unit than it records is refused.
        engine
            "duckdb", "memory", a database address or a session.
        analyst
            Who asks.
        other_people
            A reason, if the ledger knows a data set with the same columns and these are other people.

        Returns
        -------
        Curator
            Opened, but nothing is read until the first question.
        """
        refuse_unknown(unknown, [*Opening.__annotations__, *_OPTIONS], BUDGETS)
        declared: Opening = {
            "name": name,
            "types": types or {},
            "bounds": bounds or {},
            "keys": keys or {},
            "encoding": encoding,
            "limit": limit,
            "max_groups": max_groups,
            "max_rows": max_rows,
            "relation": relation,
            "population": population,
            "version": version,
            "filter": filter,
            "per_analyst": _as_budget(per_analyst),
            "per_question": _as_budget(per_question),
            "share_answers": share_answers,
            "ration": ration,
            "hierarchies": hierarchies or {},
            "public": public or {},
        }
        if unit is not None:
            declared["unit"] = unit
        if budget is not None:
            declared["budget"] = _as_budget(budget)
        policy, frames, place = read_opening(source, declared, ledger, engine)
        notice_frames(str(Path(place).absolute()), policy.id, policy.version, frames)
        return cls(
            policy, ledger=place, engine=engine, frames=frames, analyst=analyst, other_people=other_people
        )

    @classmethod
    def from_policy(cls, path: str | Path, *, ledger: str | Path | None = None, **options: Any) -> Self:
        """Open the data set that a policy file describes; by default its ledger is next to the file.

        `options` are engine, frames, analyst and other_people, as in `Curator`.
        """
        refuse_unknown(options, ["frames", *_OPTIONS])
        policy = from_policy(path, engine=options.get("engine"))
        return cls(policy, ledger=ledger or str(policy.ledger.place), **options)

    def for_analyst(self, name: str) -> "Curator":
        """Return a curator with the same engine and ledger for another analyst, who has their own budget."""
        other = object.__new__(type(self))
        other.resources, other._analyst = self.resources, name
        return other

    @overload
    def ask(
        self, question: QuestionLike, *, key: str | None = None, **terms: Unpack[AskOptions]
    ) -> Answer: ...
    @overload
    def ask(
        self, question: QuestionBatch, *, key: str | None = None, **terms: Unpack[AskOptions]
    ) -> tuple[Answer, ...]: ...
    def ask(
        self,
        question: QuestionLike | QuestionBatch,
        *,
        epsilon: Real | None = None,
        delta: Real | None = None,
        rho: Real | None = None,
        within: Within | None = None,
        confidence: Real = 0.95,
        bounds: Literal["auto"] | None = None,
        split: Mapping[str, Real] | None = None,
        limit: Mapping[str, Real] | None = None,
        key: str | None = None,
        **unknown: Any,
    ) -> Answer | tuple[Answer, ...]:
        """Answer a question privately, or a list of questions under one charge.

        The charge is durable before any data is read, and a failure is not refunded. The same question at the
        same price is answered from the ledger for free.

        Parameters
        ----------
        question
            SQL text, a builder (`curator.table(...)`), or a list of these.
        epsilon, rho, within
            The price, stated by exactly one of the three: epsilon, rho (zero-concentrated), or the largest
            error to allow, in all columns or by column, for which the least price is found.
        delta
            The delta of the price; by default 0, or a part of the opening delta if groups have to be found.
        confidence
            The confidence of the intervals.
        bounds
            "auto" finds bounds that the policy lacks privately, with a part of the price.
        split
            The weight of each column in the division of the price; 1 by default.
        limit
            The most that one person adds to a COUNT or a SUM, by column: one that was found before, for free.
        key
            An idempotency key: a retry with the same key is not charged again.

        Returns
        -------
        Answer or tuple of Answer
            Values, intervals and a receipt for each question.
        """
        refuse_unknown(unknown, [*AskOptions.__annotations__, "key"], PRICES)
        terms: AskOptions = {"epsilon": epsilon, "delta": delta, "rho": rho, "within": within, "split": split}
        terms |= {"confidence": confidence, "bounds": bounds, "limit": limit}
        if (told := describe(question, self.resources.known)) is not None:
            return told  # type: ignore[return-value]  # DESCRIBE: rows of the policy, without a plan
        answers = _finish(self._query_run(plan_asked(question, self.resources.engine().policy, **terms)), key)
        return answers if isinstance(question, list | tuple) else answers[0]

    @overload
    def explain(self, question: QuestionLike, **terms: Unpack[AskOptions]) -> Plan: ...
    @overload
    def explain(self, question: QuestionBatch, **terms: Unpack[AskOptions]) -> tuple[Plan, ...]: ...
    def explain(
        self,
        question: QuestionLike | QuestionBatch,
        *,
        epsilon: Real | None = None,
        delta: Real | None = None,
        rho: Real | None = None,
        within: Within | None = None,
        confidence: Real = 0.95,
        bounds: Literal["auto"] | None = None,
        split: Mapping[str, Real] | None = None,
        limit: Mapping[str, Real] | None = None,
        **unknown: Any,
    ) -> Plan | tuple[Plan, ...]:
        """Return what asking would do, its cost and its expected error. No data is read.

        The data need not exist. The parameters are those of `ask`; a list of questions returns several plans.
        """
        refuse_unknown(unknown, AskOptions.__annotations__, PRICES)
        terms: AskOptions = {"epsilon": epsilon, "delta": delta, "rho": rho, "within": within, "split": split}
        terms |= {"confidence": confidence, "bounds": bounds, "limit": limit}
        if (told := describe(question, self.resources.known)) is not None:
            return told  # type: ignore[return-value]  # there is nothing to plan
        plans = plan_asked(question, self.resources.known, **terms)
        return plans if isinstance(question, list | tuple) else plans[0]

    def book(
        self,
        tables: Tables,
        *,
        table: str | None = None,
        epsilon: Real | None = None,
        delta: Real | None = None,
        rho: Real | None = None,
        mu: Real | None = None,
        limit: int | None = None,
        aim: Aim = "sum",
        confidence: Real = 0.95,
        key: str | None = None,
        **unknown: Never,
    ) -> Book:
        """Answer many tables of counts over the same rows as one book: charged once, all totals sums.

        Parameters
        ----------
        tables
            Columns to count by, `["city", ("city", "age")]` (`()` is the total), or questions that count
            rows (CUBE, ROLLUP and GROUPING SETS are several). A mapping gives each the weight of its cells.
        table
            The table that columns are of, where there are several.
        epsilon, delta, rho, mu
            The price: rho, mu (rho mu²/2), or epsilon. Without a delta all noise is then Laplace noise, which
            errs far more where there are many tables.
        limit
            How many rows of one unit count, by default what the policy states: beyond, all weigh less.
        aim
            "sum" for the least sum of variances of all cells, "maximum" for the least largest one.
        confidence
            Of the intervals, each cell by itself.
        key
            An idempotency key: a retry with the same key is not charged again.

        Returns the tables, an interval for every cell, and one receipt.
        """
        refuse_unknown(unknown, _BOOK, PRICES)
        plan = plan_book(
            tables, self.resources.engine().policy, table=table, epsilon=epsilon, delta=delta, rho=rho, mu=mu,
            limit=limit, aim=aim, confidence=confidence,
        )  # fmt: skip
        return _finish(BookRun(self.resources, (plan,), analyst=self._analyst), key)

    def explain_book(
        self,
        tables: Tables,
        *,
        table: str | None = None,
        epsilon: Real | None = None,
        delta: Real | None = None,
        rho: Real | None = None,
        mu: Real | None = None,
        limit: int | None = None,
        aim: Aim = "sum",
        confidence: Real = 0.95,
        **unknown: Never,
    ) -> BookPlan:
        """Return what asking for a book would do, its cost and the error of each table. No data is read.

        The parameters are those of `book`.
        """
        refuse_unknown(unknown, _BOOK, PRICES)
        return plan_book(
            tables, self.resources.known, table=table, epsilon=epsilon, delta=delta, rho=rho, mu=mu,
            limit=limit, aim=aim, confidence=confidence,
        )  # fmt: skip

    def dry_run(
        self,
        question: QuestionLike,
        *,
        people: int | None = None,
        rows: int | None = None,
        beyond: Real = Fraction(1, 100),
        **terms: Unpack[AskOptions],
    ) -> DryRun:
        """Try a question on people invented from the policy, to see the effect of limits, bounds and noise.

        No data is read and nothing is charged.

        Parameters
        ----------
        question
            SQL text or a builder.
        people, rows
            How many people you expect, and how many rows each has on average.
        beyond
            The part of the values that you expect above the upper bound.
        terms
            The price and the confidence, as in `ask`.

        Returns
        -------
        DryRun
            For each value: from every row, from the bounded rows, and released with noise.
        """
        refuse_unknown(terms, AskOptions.__annotations__, PRICES)
        return try_out(question, self.resources.known, people=people, rows=rows, beyond=beyond, **terms)

    def watch(
        self,
        *,
        threshold: Real,
        epsilon: Real,
        delta: Real = 0,
        count: int = 1,
        sensitivity: Real = 1,
        key: str | None = None,
        **unknown: Never,
    ) -> Watch:
        """Open a watch, which tells of each COUNT or SUM only whether it is above a threshold.

        It is a sparse vector over questions, charged in full now.

        Parameters
        ----------
        threshold
            The number that answers are compared with.
        epsilon, delta
            The price of the whole watch.
        count
            How often it may say "above" before it ends.
        sensitivity
            How much one person may change an answer.
        key
            An idempotency key: a retry with the same key is not charged again.

        Returns
        -------
        Watch
            Its `test(question)` returns whether the noisy answer is above the threshold.
        """
        refuse_unknown(unknown, _WATCH, PRICES)
        terms = {"epsilon": epsilon, "delta": delta, "count": count, "sensitivity": sensitivity}
        return open_watch(self.resources, analyst=self._analyst, threshold=threshold, key=key, **terms)

    def table(self, name: str) -> Builder:
        """Return a builder of questions in Python: it makes the same tree as SQL."""
        return table(name)

    @property
    def remaining(self) -> Any:
        """What may still be spent, as a value of the budget's own class."""
        return self.ledger.remaining

    @property
    def history(self) -> tuple[Record, ...]:
        """Everything that happened to this data set, in order."""
        return self.ledger.history()

    @property
    def ledger(self) -> Ledger:
        """The record of all charges, for the owner."""
        return self.resources.ledger()

    @property
    def policy(self) -> Policy:
        """The policy as declared."""
        return self.resources.declared

    def close(self) -> None:
        """Close files and connections; the next question opens them again."""
        self.resources.close()

    def _query_run(self, plans: tuple[Plan, ...]) -> QueryRun:
        return QueryRun(self.resources, plans, analyst=self._analyst)

    def __repr__(self) -> str:
        return f"Curator({self.policy.id!r}, {self.resources.describe()})"

    def _repr_html_(self) -> str:
        tables = self.resources.known.tables
        facts = {"budget": self.resources.describe()} | {
            f"table {table.name}": ", ".join(f"{each.name} ({each.type})" for each in table.columns)
            for table in tables
        }
        return facts_html(f"Data set {self.policy.id}", facts)

    def __exit__(self, *_: object) -> None:
        self.close()


def _finish(run: ChargedRun[Planned, Answered], key: str | None) -> Answered:
    """Charge, run and store; a failure is counted, and nothing refunded."""
    if run.charge(key=key):
        try:
            run.run()
        except BaseException:
            run.abandon()
            raise
    return run.store()


def _as_budget(value: Any) -> Any:
    """Read a plain number as an epsilon."""
    is_number = isinstance(value, int | float | Fraction | Decimal) and not isinstance(value, bool)
    return {"epsilon": value} if is_number else value
