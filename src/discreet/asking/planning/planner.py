"""From a question and a price to a plan, pass by pass. No data is touched, and none is needed."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import reduce
from typing import Any, Literal, NamedTuple, TypeAlias, TypedDict

from discreet.asking.after import After, prepare, split
from discreet.asking.planning.add_keys import add_keys
from discreet.asking.planning.bound import bound
from discreet.asking.planning.calibrate_together import calibrate_together
from discreet.asking.planning.choose_noise import choose_noise
from discreet.asking.planning.draft import Draft
from discreet.asking.planning.estimate import estimate
from discreet.asking.planning.exact import ExactPlan, ExactTable
from discreet.asking.planning.find_bounds import find_bounds
from discreet.asking.planning.limit_units import check_limits, limit_units
from discreet.asking.planning.plan import Plan, SetPlan, promised_price
from discreet.asking.planning.price import PlanOptions, Price, Share, Within, check_keys, delta_for
from discreet.asking.planning.share_price import share_price
from discreet.asking.planning.stages import Bounds, Stage
from discreet.asking.planning.work import check_work
from discreet.asking.policy import Policy
from discreet.asking.queries import Builder, Query, Question, read_tree, resolve, to_sql, underline
from discreet.errors import InvalidParameter, UnsupportedQuery
from discreet.kernel.losses import ZCDP, ApproxDP, PureDP
from discreet.kernel.numerics import Real, exact, exact_confidence, least_passing
from discreet.kernel.plan import Later, Ran, Released

# From a resolved question to its stages: each pass adds its part to the draft, by public facts alone.
PASSES: tuple[Callable[[Draft], Draft], ...] = (
    find_bounds,
    bound,
    share_price,
    add_keys,
    choose_noise,
    calibrate_together,
    estimate,
)
_DIGITS = 4  # of a price that was searched for
_NEAR = Fraction(1, 2**12)  # how close it comes to the least
_DEFAULT = PlanOptions()


@dataclass(frozen=True)
class AfterBounds(Later[ExactPlan, ExactTable]):
    """All that follows a search for bounds: planned again with those that were found, for the same price."""

    draft: Draft
    price: PureDP | ApproxDP | ZCDP
    scope: Hashable

    def ready(self, released: Released) -> tuple[Stage, ...]:
        return tuple(stage for each in self.plan_with(_bounds(released)).sets for stage in each.stages)

    def plan_with(self, found: tuple[Bounds, ...]) -> Plan:
        """Return the plan with these bounds."""
        assert self.draft.search is not None
        return _plan(replace(self.draft, search=replace(self.draft.search, found=found)))


def _bounds(released: Released) -> tuple[Bounds, ...]:
    return tuple((Fraction(low), Fraction(high)) for low, high in (each.numbers for each in released.outputs))


def make_plan(
    text: str,
    question: Question,
    policy: Policy,
    price: Price,
    *,
    confidence: Fraction,
    part: Fraction,
    options: PlanOptions = _DEFAULT,
) -> Plan:
    """Return the plan of one question for its part of the price."""
    delta = delta_for(policy, price, public_keys=question.public_keys)
    if not question.public_keys:
        check_keys(delta)
    options.weights(question)  # what they name is checked before a price is searched for
    options.limits(question)

    def planned(share: Share) -> Plan:
        return _plan(Draft(text, question, policy, share, confidence, options))

    if price.share is None:
        assert price.within is not None
        return _within(planned, price.within, delta)
    return planned(Share(price.share.epsilon, delta, price.share.rho).times(part))


def _plan(draft: Draft) -> Plan:
    known = find_bounds(draft)
    passes = PASSES[1:] if check_limits(known) is None else (limit_units,)
    done = reduce(lambda so_far, take: take(so_far), passes, known)
    sets = tuple(SetPlan(each.keys, each.stages, each.estimators) for each in done.sets)
    plan = Plan(
        done.text, done.question, done.policy, done.share, sets, done.confidence, done.options, done.search
    )
    if done.search is None:
        return plan
    price = promised_price([done.rest], needs_delta=[plan.needs_delta], relation=done.relation)
    scope = (done.question.rows, done.question.each_row)
    return replace(plan, later=AfterBounds(done, price, scope))


def with_bounds(plan: Plan, found: tuple[Bounds, ...]) -> Plan:
    """Return the plan whose bounds were found: what is left of the price, and the same price."""
    assert isinstance(plan.later, AfterBounds)
    later = replace(plan.later, draft=replace(plan.later.draft, confidence=plan.confidence))
    return replace(later.plan_with(found), after=plan.after)


def finish(plan: Plan, ran: Sequence[Ran[ExactPlan, ExactTable]]) -> Plan:
    """Return the plan with all that its later stages became."""
    if plan.later is not None:
        before = tuple(each.output for each in ran if each.draw.part is None)
        plan = with_bounds(plan, _bounds(Released(before)))
    sets = (each.finish([one for one in ran if one.draw.part == part]) for part, each in enumerate(plan.sets))
    return replace(plan, sets=tuple(sets))


def _within(planned: Callable[[Share], Plan], within: Within, delta: Fraction) -> Plan:
    """Return the plan of the least price whose expected errors keep the limits."""
    first = planned(Share(epsilon=Fraction(1), delta=delta))
    limits = _limits(within, first.errors, unknown=first.weighs)

    def keeps(epsilon: Fraction) -> bool:
        found = planned(Share(epsilon=epsilon, delta=delta)).errors
        return all(Fraction(found[name] or 0) <= limit for name, limit in limits.items())

    try:
        return planned(Share(epsilon=_round_up(least_passing(keeps, tolerance=_NEAR)), delta=delta))
    except InvalidParameter:  # the search left the prices that there are
        raise InvalidParameter(
            "within must be an error that some epsilon from 2^-60 to 10^4 just keeps. "
            "Name another error, or a price: epsilon=0.1.",
            parameter="within",
        ) from None


def _limits(within: Within, errors: Mapping[str, float | None], *, unknown: bool) -> dict[str, Fraction]:
    named = within if isinstance(within, Mapping) else dict.fromkeys(errors, within)
    for name in named:
        if errors.get(name) is None and unknown:
            raise UnsupportedQuery(
                f"within must name columns whose limit is known before, and that of {name!r} is found in the "
                'data. Declare it, as limit = 16 in place of "auto", or name a price instead.',
                reason="within",
            )
        if errors.get(name) is None:
            raise UnsupportedQuery(
                "within must name columns that are a COUNT or SUM (or an AVG, with a declared population), "
                f"got {name!r}. Name a price instead.",
                reason="within",
            )
    return {name: exact(limit, name="within") for name, limit in named.items()}


def _round_up(epsilon: Fraction) -> Fraction:
    """Return a price with few digits, not below the one found."""
    context = Context(prec=_DIGITS, rounding=ROUND_CEILING)
    return Fraction(context.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator)))


# From what a user asks to plans: text, builder or tree, one question or several, at one price.

QuestionLike: TypeAlias = str | Builder | Query
QuestionBatch: TypeAlias = list[QuestionLike] | tuple[QuestionLike, ...]


class AskOptions(TypedDict, total=False):
    """The options of `ask`: exactly one of epsilon, rho and within."""

    epsilon: Real | None
    delta: Real | None
    rho: Real | None
    within: Within | None
    confidence: Real
    bounds: Literal["auto"] | None
    split: Mapping[str, Real] | None
    limit: Mapping[str, Real] | None


def plan_asked(
    question: QuestionLike | QuestionBatch,
    policy: Policy,
    *,
    confidence: Real = 0.95,
    bounds: Literal["auto"] | None = None,
    split: Mapping[str, Real] | None = None,
    limit: Mapping[str, Real] | None = None,
    **terms: Any,
) -> tuple[Plan, ...]:
    """Return the plans of a question, or of several that share one price.

    With `bounds="auto"`, bounds that the policy lacks are found privately with a part of the price. `split`
    gives columns their weights in the division of the price; a column that is not named has 1. `limit` states
    the most that one unit adds to a COUNT or a SUM, in place of finding it.
    """
    price, level = Price.read(**terms), exact_confidence(confidence)
    options = PlanOptions.read(bounds=bounds, split=split, limit=limit)
    if options.bounds is not None and price.within is not None:
        raise InvalidParameter("within needs declared bounds. Name a price instead.", parameter="within")
    asked: Sequence[QuestionLike] = question if isinstance(question, list | tuple) else [question]
    if not asked:
        raise InvalidParameter("a list of questions must hold at least one, got none.")
    read = [read_whole(each, policy) for each in asked]
    check_work([each.question for each in read], policy)  # of all together, before any is planned
    terms = {"confidence": level, "part": Fraction(1, len(asked)), "options": options}
    return tuple(
        _plan_one(each, known, policy, price, **terms) for each, known in zip(asked, read, strict=True)
    )


class Read(NamedTuple):
    """A question's canonical text, what it asks, and what is selected from its answer."""

    text: str
    question: Question
    after: After | None


def _plan_one(asked: QuestionLike, read: Read, policy: Policy, price: Price, **more: Any) -> Plan:
    try:
        return replace(make_plan(read.text, read.question, policy, price, **more), after=read.after)
    except UnsupportedQuery as error:  # bounds that are missing: the place is known only to the question
        raise (underline(error, asked) if isinstance(asked, str) else error) from None


def read_asked(asked: QuestionLike, policy: Policy) -> tuple[str, Question]:
    """Return the canonical text and the resolved question, if no unit's rows can make it late."""
    text, question, after = read_whole(asked, policy)
    if after is not None:
        raise UnsupportedQuery(
            "This takes one question, not what is selected from its answer.", reason="after"
        )
    check_work([question], policy)
    return text, question


def read_whole(asked: QuestionLike, policy: Policy) -> Read:
    """Read the question inside, and what is selected from its answer, both checked against the policy."""
    tree, text = read_tree(asked), asked if isinstance(asked, str) else None
    try:
        inside, around = split(tree, policy)
        question = resolve(inside, policy)
        columns = tuple((name, each.type or "text") for name, each in question.columns)
        after = None if around is None else prepare(around, columns)
    except UnsupportedQuery as error:
        raise (error if text is None else underline(error, text)) from None
    return Read(to_sql(inside), question, after)  # resolved first: a tree too large is not written out
