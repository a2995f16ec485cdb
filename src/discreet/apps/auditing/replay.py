"""Replay: a question asked on neighbouring data sets with its noise frozen; nothing visible may differ.

With what mechanisms give held fixed, everything an analyst sees is a function of it: a difference is a leak
around the mechanisms. What mechanisms are given may differ, by as much as they were calibrated to. Both are
checked without any statistics (after Cebere et al., PoPETs 2026).
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Unpack

from discreet.apps.auditing.datasets import Neighbours, invent_neighbours
from discreet.apps.auditing.frozen import Call, FrozenCurator
from discreet.apps.auditing.people import literals_of
from discreet.apps.auditing.report import Verdict
from discreet.apps.auditing.stage import Asking, Stage, differences, look
from discreet.asking.dry_run import complete
from discreet.asking.planning import AskOptions, Plan, QuestionLike, TableStage, plan_asked
from discreet.asking.policy import Policy, from_policy
from discreet.asking.queries import Builder, Query, read_sql, scans
from discreet.errors import DiscreetError
from discreet.kernel.plan import Move


@dataclass(frozen=True)
class Leak:
    """What differs, in words, and between which data sets."""

    what: str
    neighbours: tuple[str, str]

    def __str__(self) -> str:
        return f"{self.what}, between {self.neighbours[0]} and {self.neighbours[1]}"


@dataclass(frozen=True)
class ReplayReport:
    """What a replay found: `leaks`, and how much of their sensitivities one unit used (`closest`)."""

    question: str
    leaks: tuple[Leak, ...]
    closest: tuple[Move, ...]
    pairs: int
    answered: int  # of the pairs: the others gave the same error on both sides
    seconds: float

    @property
    def verdict(self) -> Verdict:
        """As in any audit: no leak among these pairs is no proof for all."""
        return "violated" if self.leaks else "not refuted"

    @property
    def violated(self) -> bool:
        """Whether something leaks."""
        return bool(self.leaks)

    def __str__(self) -> str:
        lines = [
            f"{self.verdict}: replayed on {self.pairs} pairs of neighbours, "
            f"{self.answered} of them answered, in {self.seconds:.1f} s"
        ]
        lines.extend(f"  leak: {leak}" for leak in self.leaks)
        lines.extend(f"  {move}" for move in self.closest)
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """The report for programs."""
        return {
            "verdict": self.verdict,
            "question": self.question,
            "leaks": [{"what": leak.what, "neighbours": list(leak.neighbours)} for leak in self.leaks],
            "moves": [
                {"what": move.what, "moved": move.moved, "allowed": move.allowed} for move in self.closest
            ],
            "pairs": self.pairs,
            "answered": self.answered,
            "seconds": self.seconds,
        }


def replay(
    question: QuestionLike,
    *,
    policy: Policy | str | Path,
    engine: str = "duckdb",
    **terms: Unpack[AskOptions],
) -> ReplayReport:
    """Ask a question on many neighbouring invented data sets with its noise frozen, and compare.

    Compared are the plan, the generated SQL, the answer with its order, types and intervals, the receipt,
    the price, what remains, the ledger's entries, errors, and whether asking again is free; and what every
    mechanism is given, against its sensitivity. No real data is opened: the policy is all that is read.

    >>> from discreet.asking.policy import from_arguments
    >>> people = from_arguments(id="people", sources={"people": None}, unit="person",
    ...     budget={"epsilon": 1})
    >>> report = replay("SELECT COUNT(*) AS n FROM people", policy=people, epsilon=1, engine="memory")
    >>> report.verdict, report.closest[0].part
    ('not refuted', 1.0)
    """
    rehearsed = Replay([question], policy=read_policy(policy), engine=engine)
    with rehearsed:
        return rehearsed.run(question, **terms)


def read_policy(policy: Policy | str | Path) -> Policy:
    """A policy, or the file that states it; its data need not exist."""
    return policy if isinstance(policy, Policy) else from_policy(policy)


class Replay:
    """A stage with neighbouring data sets on which any of several questions can be replayed.

    `asks` are questions that will be asked of its data sets beside the replays.
    """

    def __init__(
        self,
        questions: Sequence[QuestionLike],
        *,
        policy: Policy,
        engine: str = "duckdb",
        neighbours: Sequence[Neighbours] | None = None,
        asks: int = 0,
    ) -> None:
        self.policy = complete(policy)
        self.neighbours = (
            invent_neighbours(policy, literals_of(map(_tree, questions)))
            if neighbours is None
            else neighbours
        )
        self.stage = Stage(policy, engine=engine, asks=len(questions) + asks + 1)
        self.ranked: list[Neighbours] = []  # of the last question: where inputs move most, first
        self._sides: dict[Neighbours, tuple[FrozenCurator, FrozenCurator]] = {}
        self._runs = count(1)

    def __enter__(self) -> "Replay":
        return self

    def __exit__(self, *_: object) -> None:
        self.stage.close()

    def run(
        self, question: QuestionLike, *, progress: Callable[[str], None] = lambda message: None, **terms: Any
    ) -> ReplayReport:
        """The report of one question over all pairs that its tables tell apart."""
        started = time.perf_counter()
        plan, fixed = fix_terms(question, self.policy, **terms)
        analyst = f"analyst {next(self._runs)}"
        leaks: list[Leak] = []
        moves: dict[str, Move] = {}
        telling: dict[Neighbours, float] = {}
        answered = 0
        pairs = self.relevant(plan)
        for number, pair in enumerate(pairs, start=1):
            progress(f"replay, pair {number} of {len(pairs)}")
            found, moved, both = self.compare(plan, pair, Asking(question, fixed, analyst, salt=number))
            answered += both
            telling[pair] = sum(min(move.part, 2.0) for move in moved)
            leaks.extend(Leak(what, (pair.first.words, pair.second.words)) for what in found)
            for move in moved:
                moves[move.what] = max(move, moves.get(move.what, move), key=lambda each: each.part)
        self.ranked = sorted(telling, key=lambda pair: telling[pair], reverse=True)
        return ReplayReport(
            plan.text,
            tuple(leaks),
            tuple(moves.values()),
            len(pairs),
            answered,
            time.perf_counter() - started,
        )

    def relevant(self, plan: Plan) -> list[Neighbours]:
        """The pairs that differ in a table that the question reads."""
        read = {scan.table for scan in scans(plan.question.rows)}
        return [pair for pair in self.neighbours if pair.tables & read]

    def compare(self, plan: Plan, pair: Neighbours, asking: Asking) -> tuple[list[str], list[Move], bool]:
        """What leaks between two data sets, how far mechanisms' inputs moved, and whether both answered."""
        sides = self.sides(pair)
        try:
            found = [side.keys_found(plan, asking.salt) for side in sides]
        except DiscreetError:
            found = [set(), set()]  # the failure shows again below
        seen = [look(side, asking, shown=frozenset(found[0] & found[1])) for side in sides]
        moves = list(measure_moves(plan, seen[0].calls, seen[1].calls))
        leaks = [str(move) for move in moves if move.part > 1]
        leaks += differences(seen[0].visible, seen[1].visible)
        leaks += [fault for each in seen for fault in each.faults(plan)]
        return list(dict.fromkeys(leaks)), moves, all(each.answered for each in seen)

    def sides(self, pair: Neighbours) -> tuple[FrozenCurator, FrozenCurator]:
        """The two curators of a pair: what one is asked the other is, so their ledgers stay alike."""
        if pair not in self._sides:
            self._sides[pair] = (self.stage.frozen(pair.first), self.stage.frozen(pair.second))
        return self._sides[pair]


def measure_moves(plan: Plan, first: Sequence[Call], second: Sequence[Call]) -> Iterator[Move]:
    """How much of its sensitivity each stage used between two runs of one plan on neighbours."""
    for part, each in enumerate(plan.sets):
        kinds: Counter[str] = Counter()
        yield from _moves_of_later(part, first, second)
        for place, stage in enumerate(each.stages):
            if not isinstance(stage, TableStage):
                continue
            kinds[stage.kind] += 1
            number = "" if stage.shows_keys else f" {kinds[stage.kind]}"
            name = f"{stage.kind}{number} of set {part + 1}"
            left, right = (
                [call.given for call in calls if call.place == (part, place)] for calls in (first, second)
            )
            yield from stage.moves(left, right, name)


def _moves_of_later(part: int, first: Sequence[Call], second: Sequence[Call]) -> Iterator[Move]:
    """The same for the draws that later stages became: with earlier outputs alike, they are alike too."""
    later = [
        [call for call in calls if len(call.place) > 2 and call.place[0] == part] for calls in (first, second)
    ]
    for place in dict.fromkeys(call.place for calls in later for call in calls):
        left, right = ([call for call in calls if call.place == place] for calls in later)
        name = f"stage {'.'.join(str(index + 1) for index in place[1:])} of set {part + 1}"
        if len(left) != 1 or len(right) != 1 or left[0].stage != right[0].stage:
            yield Move(f"what {name} is", 1, 0)
            continue
        yield from left[0].stage.moves([left[0].given], [right[0].given], name)


def fix_terms(question: QuestionLike, policy: Policy, **terms: Any) -> tuple[Plan, dict[str, Any]]:
    """The plan under the policy's own budget, and terms that give the same plan under a wider one."""
    (plan,) = plan_asked(question, policy, **terms)
    share = plan.share
    price = {"rho": share.rho} if share.rho is not None else {"epsilon": share.epsilon, "delta": share.delta}
    return plan, {**price, "confidence": plan.confidence}


def _tree(question: QuestionLike) -> Query:
    if isinstance(question, str):
        return read_sql(question)
    return question.query if isinstance(question, Builder) else question
