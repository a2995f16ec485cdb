"""One group of an answer: its keys and released numbers, and the expressions over them."""

from dataclasses import dataclass
from fractions import Fraction

from discreet.asking.after import interval_of
from discreet.asking.planning import Chosen, Plan, SetPlan
from discreet.asking.policy import Value
from discreet.asking.queries import Expression, Slot, evaluate, walk
from discreet.kernel.numerics import Interval


@dataclass(frozen=True)
class Line:
    """One group: its keys and released numbers, and the expressions over them."""

    plan: SetPlan
    width: int  # how many keys the question has
    group: tuple[Value, ...]
    numbers: tuple[int, ...]
    measured: tuple[int, ...]  # as released: what intervals are around, also where the numbers were adjusted

    def value(self, expression: Expression) -> Value:
        """Return the expression in this group."""
        return evaluate(expression, self._lookup)

    def _lookup(self, slot: Expression) -> Value:
        assert isinstance(slot, Slot)
        if slot.index >= self.width:
            return self.plan.estimators[slot.index - self.width].value(self.numbers)
        return self.group[self.plan.keys.index(slot.index)] if slot.index in self.plan.keys else None

    def interval(self, expression: Expression, confidence: Fraction) -> Interval | None:
        """Return the interval by arithmetic over the released parts, which all hold together with this
        confidence.
        """
        used = {each.index for each in slots(expression) if each.index >= self.width}
        if not used:
            return None
        level = 1 - (1 - confidence) / len(used)
        return interval_of(expression, lambda slot: self._slot_interval(slot, level))

    def _slot_interval(self, slot: Slot, confidence: Fraction) -> Interval | None:
        if slot.index >= self.width:
            return self.plan.estimators[slot.index - self.width].interval(self.measured, confidence)
        return None


def columns_with_intervals(plan: Plan) -> tuple[str, ...]:
    """Return the columns of an answer that may have intervals: known before anything is asked."""
    if plan.after is not None:
        return tuple(name for name, kind in plan.columns if kind in ("integer", "number"))
    width = len(plan.question.keys)

    def found(slot: Slot) -> Interval | None:
        measure = slot.index - width
        noised = measure >= 0 and not any(isinstance(each.estimators[measure], Chosen) for each in plan.sets)
        return Interval(1.0, 1.0) if noised else None

    return tuple(name for name, each in plan.question.columns if slots(each) and interval_of(each, found))


def slots(expression: Expression) -> list[Slot]:
    """Return the keys and aggregates that an expression is over."""
    return [each for each in walk(expression) if isinstance(each, Slot)]
