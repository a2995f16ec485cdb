"""From a question and a price to a plan. No data is touched, and none is needed."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

from discreet.asking.planning.how import How
from discreet.asking.planning.noise import Share
from discreet.asking.planning.plan import Plan
from discreet.asking.planning.plan_exact import plan_exact
from discreet.asking.planning.plan_set import Terms, plan_set
from discreet.asking.planning.price import Price, Within, budget_of, check_keys, delta_for
from discreet.asking.planning.search import Bounds, plan_search
from discreet.asking.policy import Policy
from discreet.asking.queries import Question
from discreet.errors import InvalidParameter, UnsupportedQuery
from discreet.kernel.losses import GDP, ApproxDP, PureDP
from discreet.kernel.numerics import exact, least_passing

_DIGITS = 4  # of a price that was searched for
_NEAR = Fraction(1, 2**12)  # how close it comes to the least
_PLAINLY = How()


def make_plan(
    text: str,
    question: Question,
    policy: Policy,
    price: Price,
    *,
    confidence: Fraction,
    part: Fraction,
    how: How = _PLAINLY,
) -> Plan:
    """The plan of one question for its part of the price."""
    delta = delta_for(policy, price, public_keys=question.public_keys)
    if not question.public_keys:
        check_keys(delta)
    how.weights(question)  # what they name is checked before a price is searched for

    def planned(share: Share) -> Plan:
        search = None
        if how.bounds == "auto":
            gaussian = _gaussian_only(policy, share)
            search = plan_search(question, share, relation=policy.relation, gaussian=gaussian)
        return _plan(Plan(text, question, policy, share, (), confidence, how, search))

    if price.share is None:
        assert price.within is not None
        return _within(planned, price.within, delta)
    return planned(Share(price.share.epsilon, delta, price.share.rho).times(part))


def with_bounds(plan: Plan, found: tuple[Bounds, ...]) -> Plan:
    """The plan of the answer, once its bounds are found: what is left of the price, and the same price."""
    assert plan.search is not None
    return _plan(replace(plan, search=replace(plan.search, found=found)))


def _plan(draft: Plan) -> Plan:
    """The draft with everything that will be drawn."""
    search, policy = draft.search, draft.policy
    question = draft.question if search is None else search.fill(draft.question)
    share = draft.share if search is None else search.rest
    terms = Terms(
        policy.relation,
        draft.confidence,
        _gaussian_only(policy, share),
        _adds_epsilons(policy, share),
        draft.how.weights(question),
    )
    each = share.times(Fraction(1, len(question.sets)))
    sets = tuple(
        plan_set(question, keys, exact, each, terms)
        for keys, exact in zip(question.sets, plan_exact(question, salt=0), strict=True)
    )
    return replace(draft, question=question, sets=sets)


def _gaussian_only(policy: Policy, share: Share) -> bool:
    return isinstance(budget_of(policy), GDP) and share.rho is not None


def _adds_epsilons(policy: Policy, share: Share) -> bool:
    return isinstance(budget_of(policy), PureDP | ApproxDP) and share.epsilon is not None


def _within(planned: Callable[[Share], Plan], within: Within, delta: Fraction) -> Plan:
    """The plan of the least price whose expected errors keep the limits."""
    errors = planned(Share(epsilon=Fraction(1), delta=delta)).errors
    limits = _limits(within, errors)

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


def _limits(within: Within, errors: Mapping[str, float | None]) -> dict[str, Fraction]:
    named = within if isinstance(within, Mapping) else dict.fromkeys(errors, within)
    for name in named:
        if errors.get(name) is None:
            raise UnsupportedQuery(
                "within must name columns that are a COUNT or SUM (or an AVG, with a declared population), "
                f"got {name!r}. Name a price instead.",
                reason="within",
            )
    return {name: exact(limit, name="within") for name, limit in named.items()}


def _round_up(epsilon: Fraction) -> Fraction:
    """A price with few digits, not below the one found."""
    context = Context(prec=_DIGITS, rounding=ROUND_CEILING)
    return Fraction(context.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator)))
