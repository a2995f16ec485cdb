"""The runner: it draws the stages of charged plans, each only if its promise covers it.

Before the charge every stage promises a loss that depends on no output. The charge composes the promises.
Before a draw, the mechanism is held against the exact plans that it reads, and its loss against the promise
(docs/theory/adaptive-plans.md). What is not covered stops the run with a constant error.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from discreet.errors import InternalError
from discreet.kernel.accounting import Notion, covers
from discreet.kernel.losses import PrivacyLoss
from discreet.kernel.plan.stage import Draw, Later, Output, Released, Stage
from discreet.kernel.randomness import Source, fresh_source

P = TypeVar("P")
T = TypeVar("T")

Read: TypeAlias = Callable[[P], T]


@dataclass(frozen=True)
class Promise:
    """What one stage may lose: a loss, or a notion where it is planned later; and the rows it may read."""

    price: PrivacyLoss | Notion
    scope: Hashable

    @classmethod
    def of(cls, stage: Stage[Any, Any]) -> "Promise":
        """Return what a stage promises, whatever is released before it."""
        return cls(stage.price if isinstance(stage, Later) else stage.loss, stage.scope)

    @property
    def loss(self) -> PrivacyLoss:
        """What is charged for the stage."""
        return self.price if isinstance(self.price, PrivacyLoss) else self.price.loss

    def check(self, stages: Sequence[Stage[Any, Any]]) -> None:
        """Stop unless all these stages together lose at most what was promised.

        Given what was released they are fixed, so they compose as a plan does; a notion that covers them
        holds whatever was released (docs/theory/adaptive-plans.md).
        """
        relation = self.price.relation
        for stage in stages:
            _require(_is_frozen(stage) and stage.scope == self.scope)
            _require(isinstance(stage, Later) or stage.fits(relation))
        drawn = sum((Promise.of(stage).loss for stage in stages), PrivacyLoss((), relation))
        if isinstance(self.price, PrivacyLoss):
            _require(drawn == self.price)
        else:
            _require(covers(self.price, drawn))


@dataclass(frozen=True)
class Permit:
    """What a charge paid for: its number, what remained after it, and for each plan its stages' promises."""

    charge: int
    remaining: Any
    promises: tuple[tuple[Promise, ...], ...]
    failures: int = 0  # of the analyst's questions, that count


class Ran(NamedTuple, Generic[P, T]):
    """A draw that was run, and what it released."""

    draw: Draw[P, T]
    output: Output


def run_charged(
    plans: Sequence[Sequence[Stage[P, T]]], permit: Permit, reader: Callable[[], Read[P, T]]
) -> tuple[tuple[Ran[P, T], ...], ...]:
    """Run plans that were charged together. `reader` returns, for each plan, what reads its exact tables.

    Privacy: everything that is known before is checked before the first draw of any plan, everything else
    before its own; every draw is independent.
    """
    source = fresh_source()
    _require(len(plans) == len(permit.promises))
    for stages, promises in zip(plans, permit.promises, strict=True):
        _require(len(stages) == len(promises))
        for stage, promise in zip(stages, promises, strict=True):
            if not isinstance(stage, Later):
                promise.check((stage,))
    return tuple(
        unfold(stages, _drawing(reader(), source), promises)
        for stages, promises in zip(plans, permit.promises, strict=True)
    )


def run_invented(stages: Sequence[Stage[P, T]], read: Read[P, T]) -> tuple[Ran[P, T], ...]:
    """Run a plan on tables of invented people: nothing was charged, so nothing is compared with a charge.

    Never for data: rehearsals and audits alone call it.
    """
    return unfold(stages, _drawing(read, fresh_source()))


def unfold(
    stages: Sequence[Stage[P, T]],
    output_of: Callable[[Draw[P, T], Released], Output],
    promises: Sequence[Promise] | None = None,
) -> tuple[Ran[P, T], ...]:
    """Return the draws that a plan becomes, in order, with the output of each.

    With `promises`, each stage must keep its own. What a later stage becomes is covered by its promise
    together, and each part of it by its own promise.
    """
    ran: list[Ran[P, T]] = []
    released = Released()

    def follow(stage: Stage[P, T], promise: Promise | None) -> None:
        nonlocal released
        if isinstance(stage, Later):
            become = stage.ready(released)
            if promise is not None:
                promise.check(become)
            for each in become:
                follow(each, promise and Promise.of(each))
            return
        if promise is not None:
            promise.check((stage,))
        output = output_of(stage, released)
        released = released.then(output)
        ran.append(Ran(stage, output))

    for index, stage in enumerate(stages):
        follow(stage, None if promises is None else promises[index])
    return tuple(ran)


def _drawing(read: Read[P, T], source: Source) -> Callable[[Draw[P, T], Released], Output]:
    """Return what runs one draw; an exact table that several draws read is computed once."""
    known: list[tuple[P, T]] = []

    def table(plan: P) -> T:
        for other, found in known:
            if other is plan or other == plan:
                return found
        known.append((plan, read(plan)))
        return known[-1][1]

    def draw(stage: Draw[P, T], released: Released) -> Output:
        return stage.draw(stage.take([table(plan) for plan in stage.reads], released), source)

    return draw


def _is_frozen(stage: object) -> bool:
    """Return whether a stage is an immutable value: it can keep nothing that it saw."""
    parameters = getattr(type(stage), "__dataclass_params__", None)
    return parameters is not None and bool(parameters.frozen)


def _require(kept: bool) -> None:
    if not kept:
        raise InternalError("the release would cost more than was charged. Nothing was released.")
