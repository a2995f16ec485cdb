"""The golden plans: for every accepted question, what each pass adds, and in the end what will happen to it.

`python -m planning.golden` (from the folder tests) writes all of it anew, to be read before it is kept.
"""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

from discreet.asking.planning import PASSES, Draft, Share
from discreet.asking.planning.estimate import NoisyNumber
from discreet.asking.planning.price import PlanOptions
from discreet.asking.queries import read_question, to_text
from discreet.errors import DiscreetError
from planning.frozen import plan_of
from queries.bank import BANK
from queries.test_read import ACCEPTED

HERE = Path(__file__).parent
PLANS = HERE / "golden_plans.txt"
DELTA = Fraction(1, 10**6)


def written(text):
    """The plan of a question at epsilon 1, delta 1e-6; or why there is none."""
    try:
        return str(plan_of(text, BANK, epsilon=1, delta=DELTA))
    except DiscreetError as error:
        return f"{type(error).__name__}: {error.message}"


def read_plans(path=PLANS):
    """What was kept: a question, its plan, an empty line."""
    blocks = path.read_text(encoding="utf-8").strip().split("\n\n")
    return {text: plan for text, _, plan in (block.partition("\n") for block in blocks)}


# --- pass by pass --------------------------------------------------------------------------------------


def found_bounds(draft):
    return draft.search.sentences() if draft.search else ["Bounds: all are declared."]


def in_sets(describe):
    """A line for each grouping set, and what a pass added to it."""

    def lines(draft):
        for each in draft.sets:
            yield f"set {', '.join(to_text(key.expression) for key in each.exact.plans[0].keys) or 'of all'}"
            yield from (f"  {line}" for line in describe(each))

    return lines


def bounded(each):
    for plan in each.exact.plans:
        labels = "found in the data" if plan.labels is None else f"{len(plan.labels)} public"
        yield f"{labels}, at most {plan.max_groups} groups of a unit, {plan.max_rows} rows in each"
        for one in (*plan.measures, *filter(None, [plan.tally])):
            yield f"  {one_line(one)}"


def one_line(measure):
    """An exact measure, with its lattice and its centre."""
    known = {
        "of": None if getattr(measure, "argument", None) is None else to_text(measure.argument),
        "where": None if measure.condition is None else to_text(measure.condition),
        "power": getattr(measure, "power", None),
        "centre": getattr(measure, "centre", None),
        "labels": len(getattr(measure, "labels", None) or ()) or None,
    }
    lattice = getattr(measure, "lattice", None)
    if lattice is not None:
        known["steps"] = f"{lattice.lowest} to {lattice.highest} of {lattice.step}"
    facts = ", ".join(f"{name} {value}" for name, value in known.items() if value is not None)
    return f"{type(measure).__name__} {facts}".strip()


def shown(share):
    parts = {"epsilon": share.epsilon, "delta": share.delta or None, "rho": share.rho}
    return ", ".join(f"{name} {value}" for name, value in parts.items() if value is not None)


def shared(each):
    if each.keys_share is not None:
        yield f"keys: {shown(each.keys_share)}"
    for one in each.wanted:
        what = f"measure {one.position}" if one.measure is None else f"tally for aggregate {one.measure}"
        yield f"column {one.column}, plan {one.plan}, {what}: {shown(one.share)}"


def keyed(each):
    return [stage.keys_sentence for stage in each.stages] or ["public keys"]


def noised(each):
    return [stage.sentence for stage in each.stages]


def estimated(each):
    for one in each.estimators:
        parts = {
            name: value.index if isinstance(value, NoisyNumber) else value
            for name, value in vars(one).items()
            if name != "stage"
        }
        facts = ", ".join(
            f"{name} {len(value)} labels" if name == "labels" and value else f"{name} {value}"
            for name, value in parts.items()
        )
        yield f"{type(one).__name__}: {facts}"


DESCRIBE = {
    "find_bounds": found_bounds,
    "bound": in_sets(bounded),
    "share_price": in_sets(shared),
    "add_keys": in_sets(keyed),
    "choose_noise": in_sets(noised),
    "calibrate_together": in_sets(noised),
    "estimate": in_sets(estimated),
}


def undeclared(policy):
    """The policy without the bounds of its columns, their types kept: all of them are to be found."""
    tables = [
        replace(
            table,
            columns=tuple(
                replace(each, bounds=None) if each.type in ("integer", "number") else each
                for each in table.columns
            ),
        )
        for table in policy.tables
    ]
    return replace(policy, tables=tuple(tables))


UNDECLARED = undeclared(BANK)


@cache
def passed(text, policy=BANK):
    """What each pass adds to the draft of a question; where one refuses, why."""
    found = {}
    try:
        question = read_question(text, policy)
    except DiscreetError as error:
        return {PASSES[0].__name__: f"{type(error).__name__}: {error.message}"}
    draft = Draft(
        text, question, policy, Share(Fraction(1), DELTA), Fraction(95, 100),
        PlanOptions(bounds="auto"),
    )  # fmt: skip
    for take in PASSES:
        try:
            draft = take(draft)
        except DiscreetError as error:
            return {**found, take.__name__: f"{type(error).__name__}: {error.message}"}
        found[take.__name__] = "\n".join(DESCRIBE[take.__name__](draft))
    return found


def kept_at(name):
    return HERE / "golden" / f"{name}.txt"


def write_pass(name):
    """All questions that a pass is reached by, with what it adds."""
    policy = UNDECLARED if name == "find_bounds" else BANK
    blocks = {text: passed(text, policy).get(name) for text in ACCEPTED}
    return "\n".join(f"{text}\n{block}\n" for text, block in blocks.items() if block is not None)


if __name__ == "__main__":
    blocks = [f"{text}\n{written(text)}\n" for text in ACCEPTED]
    PLANS.write_text("\n".join(blocks), encoding="utf-8")
    for name in DESCRIBE:
        kept_at(name).parent.mkdir(exist_ok=True)
        kept_at(name).write_text(write_pass(name), encoding="utf-8")
