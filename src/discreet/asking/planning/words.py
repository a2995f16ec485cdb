"""What is drawn for a grouping set, in words: every noised number and every choice says what it is of."""

from discreet.asking.planning.exact import Bernstein, RowCount, Tally, UnitCount
from discreet.asking.planning.steps import ChoiceStep, NoiseStep, SetPlan
from discreet.asking.queries import Expression, to_text
from discreet.kernel.mechanisms import Quantile


def drawn(each: SetPlan) -> list[str]:
    """A sentence for the keys, for each noised number and for each choice."""
    plans = each.exact.plans
    lines = keys_of(each)
    for step in each.noises:
        lines.append(f"Noise on {_noised(step, each)}: {step.noise.describe()}.")
    for choice in each.choices:
        tally = plans[choice.plan].tally
        assert tally is not None
        lines.append(f"Choice of {_chosen(choice, tally)}: {choice.chooser.describe()}")
    return lines


def keys_of(each: SetPlan) -> list[str]:
    """How the groups come about."""
    if each.selection is not None:
        return [f"Keys: found in the data. {each.selection.describe()}"]
    if each.showing is not None:
        answered = _noised(each.noises[each.showing], each)
        return [f"Keys: found in the data. One draw shows them and answers {answered}."]
    if not each.keys:
        return []
    labels = each.exact.plans[0].labels or ()
    return [f"Keys: {len(labels):,} public labels, all shown; rows with any other label are dropped."]


def _noised(step: NoiseStep, each: SetPlan) -> str:
    if step.tally is not None:
        tally = each.exact.plans[step.tally].tally
        assert tally is not None
        return f"how many values {to_text(tally.argument)} has{_where(tally.condition)}"
    measure = each.exact.plans[0].measures[step.position]
    where = _where(measure.condition)
    if isinstance(measure, UnitCount):
        return f"the number of units{where}"
    if isinstance(measure, RowCount):
        with_value = "" if measure.argument is None else f" with a value of {to_text(measure.argument)}"
        return f"the number of rows{with_value}{where}"
    argument = to_text(measure.argument)
    if isinstance(measure, Bernstein):
        low, high = (end * measure.lattice.step for end in (measure.lattice.lowest, measure.lattice.highest))
        factors = [f"(({argument}) - ({low}))"] * measure.power
        factors += [f"({high} - ({argument}))"] * (measure.degree - measure.power)
        twice = ["2"] if measure.degree == 2 and measure.power == 1 else []
        return f"the sum of {' * '.join([*twice, *factors])}{where}"
    centre = measure.centre * measure.lattice.step
    if centre:
        argument = f"({argument}) - {centre}" if centre > 0 else f"({argument}) + {-centre}"
    squares = "squares of " if measure.power == 2 else ""
    unit = measure.lattice.step**measure.power
    steps = "" if unit == 1 else f", in steps of {unit}"
    return f"the sum of {squares}{argument}{where}{steps}"


def _chosen(step: ChoiceStep, tally: Tally) -> str:
    argument, where = to_text(tally.argument), _where(tally.condition)
    if not isinstance(step.chooser, Quantile):
        return f"the most frequent {argument}{where}"
    assert tally.lattice is not None
    unit = tally.lattice.step
    steps = "" if unit == 1 else f", in steps of {unit}"
    return f"a quantile of {argument}{where}{steps}"


def _where(condition: Expression | None) -> str:
    return "" if condition is None else f" where {to_text(condition)}"
