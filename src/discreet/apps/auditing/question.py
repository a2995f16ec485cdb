"""Audit a question end to end: the whole stack on invented neighbours, attacked from three sides.

Replay shows what leaks around the mechanisms. The rest is sampled, on the pairs where replay saw mechanisms'
inputs move most: whole questions, hundreds of times, from their text to the stored answer; and releases,
many thousands of times, on exact tables that the engine computed once. Bounding depends on a salt that both
neighbours share: each pair is attacked under one salt, as an attacker would who knew it.
"""

import json
import time
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from discreet.apps.auditing.audit import attack, stages_to
from discreet.apps.auditing.claim import Claim
from discreet.apps.auditing.datasets import Neighbours, invent_crowd
from discreet.apps.auditing.replay import Replay, ReplayReport, fix_terms, read_policy
from discreet.apps.auditing.report import AuditReport, Verdict
from discreet.asking.curator import Curator
from discreet.asking.dry_run import complete
from discreet.asking.planning import ExactPlan, ExactTable, Plan, QuestionLike, SetPlan, Within
from discreet.asking.policy import Policy
from discreet.asking.release import Outcome, release_invented
from discreet.errors import DiscreetError
from discreet.kernel.mechanisms import CountedKeys, KeySelection
from discreet.kernel.numerics import Real, exact_probability, exact_whole

# Many releases of one plan at once: exact tables computed once, copied, and released as if they were
# one.
#
# Noise is independent from number to number and coins from key to key, so n copies of every group,
# released
# together by the real code, are n independent releases.

Which: TypeAlias = tuple[Any, Any, Any]  # what tells the exact plans of one question apart

MOST_GROUPS = 100_000  # copied at once


@dataclass(frozen=True, eq=False)
class ExactSide:
    """The exact tables of a plan on one data set."""

    words: str
    tables: dict[Which, ExactTable] = field(repr=False)
    run: Callable[[ExactPlan], ExactTable] = field(repr=False)
    failure: DiscreetError | None = None  # that comes in place of tables

    def __repr__(self) -> str:
        return f"[{self.words}]"

    @classmethod
    def of(cls, plan: Plan, words: str, run: Callable[[ExactPlan], ExactTable]) -> "ExactSide":
        """Run the exact plans once; that they fail is an outcome too."""
        plans = [exact for each in plan.sets for exact in each.reads]
        try:
            return cls(words, {_which(exact): run(exact) for exact in plans}, cache(run))
        except DiscreetError as failure:
            return cls(words, {}, run, failure)

    def copied(self, copies: int) -> Callable[[ExactPlan], ExactTable]:
        """An engine that returns so many copies of every group, told apart by their number."""

        def run(plan: ExactPlan) -> ExactTable:
            table = self.tables[_which(plan)]
            groups = _numbered(table.groups, copies)
            return ExactTable(groups, table.totals * copies, table.tallies * copies)

        return run

    @property
    def groups(self) -> int:
        """The most groups of a set."""
        return max(len(table.groups) for table in self.tables.values())


def _which(plan: ExactPlan) -> Which:
    return plan.keys, plan.measures, plan.tally


def _numbered(groups: tuple[tuple[Any, ...], ...], copies: int) -> tuple[tuple[Any, ...], ...]:
    return tuple((number, *group) for number in range(copies) for group in groups)


@dataclass(frozen=True)
class Releases:
    """A target: n releases of a plan from exact tables."""

    plan: Plan

    def __call__(self, side: ExactSide, n: int) -> Any:
        """An array with a row for each release where groups are public, else what was shown of each."""
        if side.failure is not None:
            return [side.failure] * n
        if self.plan.weighs:  # a unit's weight depends on all groups: copies of them would change it
            return [release_invented(self.plan, side.run) for _ in range(n)]
        at_once = max(1, MOST_GROUPS // max(1, side.groups))
        sizes = [min(at_once, n - start) for start in range(0, n, at_once)]
        parts = [self._release(side, size) for size in sizes]
        if all(isinstance(part, np.ndarray) for part in parts):
            return np.concatenate(parts)
        return [output for part in parts for output in part]

    def _release(self, side: ExactSide, copies: int) -> Any:
        wide = replace(self.plan, sets=tuple(_widen(each, copies) for each in self.plan.sets))
        outcomes = release_invented(wide, side.copied(copies))
        public = not any(each.private for each in self.plan.sets)
        arrays = [_as_array(outcome, copies) for outcome in outcomes] if public else []
        if arrays and all(array.dtype == np.int64 for array in arrays):
            return np.concatenate(arrays, axis=1)
        return list(zip(*(_by_copy(outcome, copies) for outcome in outcomes), strict=True))


def _widen(each: SetPlan, copies: int) -> SetPlan:
    def widen(plan: ExactPlan) -> ExactPlan:
        return plan if plan.labels is None else replace(plan, labels=_numbered(plan.labels, copies))

    return replace(each, stages=tuple(replace(stage, plan=widen(stage.plan)) for stage in each.draws))


def _as_array(outcome: Outcome, copies: int) -> Any:
    return np.array(outcome.numbers).reshape(copies, -1)


def _by_copy(outcome: Outcome, copies: int) -> list[dict[Any, Any]]:
    """What was shown in each copy: groups with their numbers, in order."""
    found: list[dict[Any, Any]] = [{} for _ in range(copies)]
    for group, numbers in zip(outcome.groups, outcome.numbers, strict=True):
        number, *labels = group
        assert isinstance(number, int)
        found[number][tuple(labels)] = numbers
    return found


ASKS = 200  # of each neighbour, through the whole stack
SAMPLES = 100_000  # of each neighbour, released
PAIRS = 3  # of neighbours that are sampled
SALT = 11
SOMETIMES = 0.2
MOST_PEOPLE = 400


@dataclass(frozen=True)
class QuestionReport:
    """What an audit of a question proved: by replay, by whole answers (`asked`), by releases (`released`)."""

    question: str
    price: str
    replayed: ReplayReport
    asked: AuditReport
    released: AuditReport
    seconds: float

    @property
    def sampled(self) -> AuditReport:
        """The stronger of the two sampled reports."""
        return max(self.released, self.asked, key=lambda each: each.lower_bound - each.claimed)

    @property
    def verdict(self) -> Verdict:
        """Violated, if any of the three says so."""
        return "violated" if self.violated else "not refuted"

    @property
    def violated(self) -> bool:
        """Whether the claim is refuted."""
        return self.replayed.violated or self.sampled.violated

    def __str__(self) -> str:
        parts = (("whole questions", self.asked), ("releases", self.released))
        lines = [f"{self.verdict}: {self.question}", f"price: {self.price}", "", f"replay: {self.replayed}"]
        lines.extend(f"\n{name}: {report}" for name, report in parts)
        return "\n".join([*lines, "", f"{self.seconds:.1f} s in all; no real data was opened"])

    def to_json(self) -> str:
        """The three reports, with the counts that the sampled ones follow from."""
        return json.dumps(
            {
                "verdict": self.verdict,
                "question": self.question,
                "price": self.price,
                "replay": self.replayed.to_json(),
                "asked": json.loads(self.asked.to_json()),
                "released": json.loads(self.released.to_json()),
                "seconds": self.seconds,
            }
        )


def audit_question(
    question: QuestionLike,
    *,
    policy: Policy | str | Path,
    engine: str = "duckdb",
    confidence: Real = 1 - 1e-6,
    asks: int = ASKS,
    samples: int = SAMPLES,
    seconds: float = 60,
    progress: Callable[[str], None] = lambda message: None,
    epsilon: Real | None = None,
    delta: Real | None = None,
    rho: Real | None = None,
    within: Within | None = None,
) -> QuestionReport:
    """Try to refute that a question costs no more than its price, on data invented in the policy's domain.

    The claim is the price of the plan, named as in `ask`. asks, samples: outputs of each neighbour through
    the whole stack, and released from exact tables; fewer, where they would take longer than `seconds`. No
    real data is opened: the policy is all that is read, and ledgers are made anew.

    Accuracy: a sampled bound is wrong with probability at most 1 - confidence; a leak in `replayed` is a
    fact about the two data sets it names.
    """
    started = time.perf_counter()
    sure = exact_probability(confidence, name="confidence")
    declared = complete(read_policy(policy))
    plan, fixed = fix_terms(question, declared, epsilon=epsilon, delta=delta, rho=rho, within=within)
    many = _affordable(exact_whole(asks, name="asks", least=100), plan)
    price = plan.sentences()[-1].removeprefix("Price: ").removesuffix(".")
    settings = _Settings(replace(Claim.read(plan.price), text=price), (1 + sure) / 2, seconds, progress)
    with Replay([question], policy=declared, engine=engine, asks=many * PAIRS + 2) as stage:
        replayed = stage.run(question, progress=progress, **fixed)
        pairs = [*_crowds(plan, declared), *stage.ranked][:PAIRS]
        released = settings.attack(
            Releases(plan),
            [_exact_sides(stage, plan, pair) for pair in pairs],
            stages_to(samples, pairs=PAIRS),
        )
        asked = settings.attack(_ask, [_askers(stage, question, fixed, pair) for pair in pairs[:1]], (many,))
    return QuestionReport(plan.text, price, replayed, asked, released, time.perf_counter() - started)


@dataclass(frozen=True)
class _Settings:
    claim: Claim
    sure: Fraction
    seconds: float
    progress: Callable[[str], None]

    def attack(self, target: Any, pairs: list[tuple[Any, Any]], stages: tuple[int, ...]) -> AuditReport:
        return attack(
            target,
            self.claim,
            pairs,
            sure=self.sure,
            stages=stages,
            seconds=self.seconds,
            progress=self.progress,
        )


def _affordable(asks: int, plan: Plan) -> int:
    """Return how many questions to ask: their deltas must add up to less than 1."""
    return min(asks, int(Fraction(99, 100) / plan.share.delta)) if plan.share.delta else asks


def _crowds(plan: Plan, policy: Policy) -> list[Neighbours]:
    """Where keys are private, a pair whose keys are shown now and then."""
    deciding = [each.keys_stage.mechanism for each in plan.sets[:1] if each.keys_stage is not None]
    return [invent_crowd(policy, _now_and_then(each)) for each in deciding]


def _now_and_then(selection: KeySelection | CountedKeys) -> int:
    """About how many people have their key shown with probability SOMETIMES."""
    people = range(1, min(selection.always, MOST_PEOPLE) + 1)
    return bisect_left(people, SOMETIMES, key=selection.probability) + 1


def _exact_sides(stage: Replay, plan: Plan, pair: Neighbours) -> tuple[ExactSide, ExactSide]:
    first, second = (
        ExactSide.of(plan, data.words, curator.watched.at(SALT).run)
        for data, curator in zip((pair.first, pair.second), stage.sides(pair), strict=True)
    )
    return first, second


@dataclass(frozen=True, eq=False)
class _Asker:
    """Somebody new for every question, of one data set."""

    words: str
    curator: Curator
    question: QuestionLike
    terms: dict[str, Any]
    asked: list[int]

    def __repr__(self) -> str:
        return f"[{self.words}]"

    def ask(self) -> Any:
        """The rows of an answer, in order; or the exception that comes instead."""
        self.asked.append(1)
        try:
            answer = self.curator.for_analyst(f"analyst {len(self.asked)}").ask(self.question, **self.terms)
        except Exception as raised:  # noqa: BLE001  an analyst sees any exception
            return raised
        return tuple(tuple(row.values()) for row in answer.rows)


def _askers(
    stage: Replay, question: QuestionLike, terms: dict[str, Any], pair: Neighbours
) -> tuple[_Asker, _Asker]:
    first, second = (
        _Asker(data.words, stage.stage.curator(data), question, terms, [])
        for data in (pair.first, pair.second)
    )
    return first, second


def _ask(asker: _Asker, n: int) -> list[Any]:
    return [asker.ask() for _ in range(n)]
