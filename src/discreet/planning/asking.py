"""From what a user asks to plans: text, builder or tree, one question or several, at one price."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias, TypedDict

from discreet.errors import InvalidParameter, UnsupportedQuery
from discreet.numerics import Real, exact_fraction
from discreet.planning.plan import Plan
from discreet.planning.planner import make_plan
from discreet.planning.price import Price, Within
from discreet.queries import Builder, Query, Question, read_sql, resolve, to_sql, underline
from discreet.tables import Policy

Asked: TypeAlias = str | Builder | Query
Several: TypeAlias = list[Asked] | tuple[Asked, ...]


class Terms(TypedDict, total=False):
    """What a question is asked with: exactly one of epsilon, rho and within."""

    epsilon: Real | None
    delta: Real | None
    rho: Real | None
    within: Within | None
    confidence: Real


def plan_asked(
    question: Asked | Several, policy: Policy, *, confidence: Real = 0.95, **terms: Any
) -> tuple[Plan, ...]:
    """The plans of a question, or of several that share one price."""
    price, level = Price.read(**terms), exact_fraction(confidence, name="confidence")
    asked: Sequence[Asked] = question if isinstance(question, list | tuple) else [question]
    if not asked:
        raise InvalidParameter("a list of questions must hold at least one, got none.")
    part = Fraction(1, len(asked))
    return tuple(_plan(each, policy, price, level, part) for each in asked)


def _plan(asked: Asked, policy: Policy, price: Price, confidence: Fraction, part: Fraction) -> Plan:
    text, question = read_asked(asked, policy)
    try:
        return make_plan(text, question, policy, price, confidence=confidence, part=part)
    except UnsupportedQuery as error:  # bounds that are missing: the place is known only to the question
        raise (underline(error, asked) if isinstance(asked, str) else error) from None


def read_asked(asked: Asked, policy: Policy) -> tuple[str, Question]:
    """The canonical text and the resolved question."""
    if isinstance(asked, str):
        tree = read_sql(asked)
        return to_sql(tree), resolve(tree, policy, text=asked)
    tree = asked.query if isinstance(asked, Builder) else asked
    return to_sql(tree), resolve(tree, policy)
