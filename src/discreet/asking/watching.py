"""A watch over questions, paid for whole before the first of them."""

import threading
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from discreet.asking.planning import ExactPlan, Sum, budget_of, contribution_of, plan_exact, read_asked
from discreet.asking.policy import Policy
from discreet.asking.queries import Question, Slot
from discreet.asking.release import Run
from discreet.asking.resources import Resources
from discreet.errors import Finished, InternalError, UnsupportedQuery
from discreet.kernel.ledger import Charge, Request
from discreet.kernel.losses import ApproxDP, PureDP
from discreet.kernel.mechanisms import Sparse
from discreet.kernel.numerics import Real, exact
from discreet.kernel.randomness import fresh_source


class Tests:
    """The questions of one watch in the ledger: each is under way from before the data is read."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self.watch: Charge | None = None

    def begin(self) -> Charge:
        """Enter one more, if the allowance of failures admits it and the data is in reach."""
        assert self.watch is not None
        self._resources.reach()
        return self._resources.ledger().begin_test(self.watch)

    def settle(self, entered: Charge) -> None:
        """Record its answer, which costs nothing more and is kept nowhere."""
        self._resources.ledger().answer(entered, b"")

    def fail(self, entered: Charge) -> None:
        """Record that it failed, or was late: counted before its error leaves."""
        self._resources.ledger().abandon(entered)


class Test(NamedTuple):
    """One question of a watch: what is read, in which step, and its entry."""

    plan: ExactPlan
    step: Fraction
    entered: Charge


class Watch:
    """A sparse vector over questions: is a COUNT or SUM above the threshold? Paid for whole when opened.

    A question whose own sensitivity s is larger than the stream's is scaled down to it, so every
    comparison has the same privacy and larger sums a wider margin.

    Privacy: (ε, δ)-DP for any number of questions, chosen adaptively, until `count` of them were above
    (Dwork and Roth 2014, Theorem 3.25). The noisy threshold is never written anywhere.
    """

    def __init__(
        self,
        stream: Sparse,
        threshold: Real,
        run: Run,
        read: Callable[[str], Question],
        *,
        book: Tests,
        most: int,
    ) -> None:
        self._stream, self._run, self._read = stream, run, read
        self._paid = stream.loss
        self._book, self._tests_left, self._has_failed = book, most, False
        self._threshold = exact(threshold, name="threshold")
        self._salt = fresh_source().word() >> 1
        self._lock = threading.RLock()

    @property
    def finished(self) -> bool:
        """Whether the last "above" has been given."""
        return self._stream.finished

    def test(self, question: str) -> bool:
        """Return whether one ungrouped COUNT or SUM is above the threshold, by the noise.

        A test that fails is counted as a failed question is, and ends the watch.
        """
        with self._lock:
            asked = self.begin(question)
            try:
                above = self.compare(asked)
            except BaseException:
                self.fail(asked)
                raise
            self.settle(asked)
            return above

    def begin(self, question: str) -> Test:
        """Enter a question, before data is read; a server settles it, or says that it failed, when due."""
        plan, step = self._plan(question)
        if self.finished or self._has_failed:
            last = "failed at its last test" if self._has_failed else "has given its last answer"
            raise Finished(f"this watch {last}. Open another one.")
        if self._tests_left <= 0:
            raise Finished("this watch was asked as often as the policy allows. Open another one.")
        self._tests_left -= 1
        return Test(plan, step, self._book.begin())

    def compare(self, test: Test, *, run: Run | None = None) -> bool:
        """Read the data for a question that was entered; with `run` it is read there. The stream, which no
        process may copy, stays in this one."""
        if self._stream.loss != self._paid:
            raise InternalError("the watch would cost more than was charged. Nothing was read.")
        (total,) = (run or self._run)(test.plan).totals[0]
        distance = total * test.step - self._threshold
        return self._stream.test(distance * self._shrink(test.plan, test.step))

    def settle(self, test: Test) -> None:
        """Record that the question has its answer."""
        self._book.settle(test.entered)

    def fail(self, test: Test) -> None:
        """Record that the question failed or was late: what it counted is unknown, so the watch is over."""
        self._has_failed = True
        self._book.fail(test.entered)

    def _plan(self, question: str) -> tuple[ExactPlan, Fraction]:
        resolved = self._read(question)
        measures = resolved.measures
        alone = all(isinstance(expression, Slot) for _, expression in resolved.columns)
        plain = len(measures) == 1 and alone and not resolved.keys and resolved.having is None
        plain = plain and len(resolved.sets) == 1  # GROUPING SETS ((), ()) has no keys either
        if not plain or measures[0].aggregate.function not in ("count_rows", "count", "count_units", "sum"):
            raise UnsupportedQuery("A watch must be asked one COUNT or SUM without GROUP BY.", reason="watch")
        (plans,) = plan_exact(resolved, salt=self._salt)
        measure = plans.plans[0].measures[0]
        return plans.plans[0], measure.lattice.step if isinstance(measure, Sum) else Fraction(1)

    def _shrink(self, plan: ExactPlan, step: Fraction) -> Fraction:
        """Return the factor of the distance that lets one unit move it by no more than the stream is for."""
        moved = contribution_of(plan, plan.measures[0], self._stream.relation).total * step
        return min(Fraction(1), self._stream.sensitivity / moved)


def open_watch(
    resources: Resources, *, analyst: str, threshold: Real, key: str | None = None, **terms: Any
) -> Watch:
    """Charge a sparse vector of these terms, and return the watch that runs it.

    Privacy: the whole loss is charged durably here; what the watch tells costs nothing more.
    """
    engine = resources.reach()
    policy, book = engine.policy, Tests(resources)
    stream = _stream(policy, terms)
    watch = Watch(
        stream,
        threshold,
        engine.run,
        lambda asked: read_asked(asked, policy)[1],
        book=book,
        most=policy.ration.watch_tests,
    )
    request = Request(
        loss=stream.loss, price=_price(policy, stream), analyst=analyst, policy=policy.digest, key=key
    )
    book.watch = resources.ledger().open_watch(request)
    return watch


def _stream(policy: Policy, terms: Mapping[str, Any]) -> Sparse:
    return Sparse(threshold=0, relation=policy.relation, split="optimal", **terms)


def watch_margin(policy: Policy, terms: Mapping[str, Any], *, questions: int) -> float:
    """Return how far a number must be from the threshold so that, in 95 of 100 cases, all answers are right.

    It holds for numbers that one unit moves by no more than the watch's sensitivity; one that is moved by k
    times as much must be k times as far.
    """
    named = {name: term for name, term in terms.items() if name != "threshold"}
    return _stream(policy, named).margin(queries=questions)


def _price(policy: Policy, stream: Sparse) -> ApproxDP | None:
    """Return the price as it was named, where a plain sum of the rounds would be charged instead."""
    if not stream.delta or not isinstance(budget_of(policy), PureDP | ApproxDP):
        return None
    return ApproxDP(stream.epsilon, stream.delta, policy.relation)
