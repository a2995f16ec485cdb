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
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.apps.auditing.audit import attack, stages_to
from discreet.apps.auditing.claim import Claim
from discreet.apps.auditing.datasets import Neighbours, invent_crowd
from discreet.apps.auditing.releasing import ExactSide, Releases
from discreet.apps.auditing.replay import Replay, ReplayReport, fix_terms, read_policy
from discreet.apps.auditing.report import AuditReport, Verdict
from discreet.asking.curator import Curator
from discreet.asking.dry_run import complete
from discreet.asking.planning import Plan, QuestionLike, Within
from discreet.asking.policy import Policy
from discreet.kernel.mechanisms import CountedKeys, KeySelection
from discreet.kernel.numerics import Real, exact_probability, exact_whole

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
    """As many questions as a budget below delta = 1 pays for."""
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
