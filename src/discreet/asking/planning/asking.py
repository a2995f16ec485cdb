"""From what a user asks to plans: text, builder or tree, one question or several, at one price."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal, TypeAlias, TypedDict

from discreet.asking.planning.options import PlanOptions
from discreet.asking.planning.plan import Plan
from discreet.asking.planning.planner import make_plan
from discreet.asking.planning.price import Price, Within
from discreet.asking.planning.work import check_work
from discreet.asking.policy import Policy
from discreet.asking.queries import Builder, Query, Question, read_tree, resolve, to_sql, underline
from discreet.errors import InvalidParameter, UnsupportedQuery
from discreet.kernel.numerics import Real, exact_confidence

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


def plan_asked(
    question: QuestionLike | QuestionBatch,
    policy: Policy,
    *,
    confidence: Real = 0.95,
    bounds: Literal["auto"] | None = None,
    split: Mapping[str, Real] | None = None,
    **terms: Any,
) -> tuple[Plan, ...]:
    """Return the plans of a question, or of several that share one price.

    With `bounds="auto"`, bounds that the policy lacks are found privately with a part of the price. `split`
    gives columns their weights in the division of the price; a column that is not named has 1.
    """
    price, level = Price.read(**terms), exact_confidence(confidence)
    options = PlanOptions.read(bounds=bounds, split=split)
    if options.bounds is not None and price.within is not None:
        raise InvalidParameter("within needs declared bounds. Name a price instead.", parameter="within")
    asked: Sequence[QuestionLike] = question if isinstance(question, list | tuple) else [question]
    if not asked:
        raise InvalidParameter("a list of questions must hold at least one, got none.")
    read = [_read(each, policy) for each in asked]
    check_work([each for _, each in read], policy)  # of all together, before any is planned
    terms = {"confidence": level, "part": Fraction(1, len(asked)), "options": options}
    return tuple(_plan(each, *known, policy, price, **terms) for each, known in zip(asked, read, strict=True))


def _plan(
    asked: QuestionLike, text: str, question: Question, policy: Policy, price: Price, **more: Any
) -> Plan:
    try:
        return make_plan(text, question, policy, price, **more)
    except UnsupportedQuery as error:  # bounds that are missing: the place is known only to the question
        raise (underline(error, asked) if isinstance(asked, str) else error) from None


def read_asked(asked: QuestionLike, policy: Policy) -> tuple[str, Question]:
    """Return the canonical text and the resolved question, if no unit's rows can make it late."""
    text, question = _read(asked, policy)
    check_work([question], policy)
    return text, question


def _read(asked: QuestionLike, policy: Policy) -> tuple[str, Question]:
    tree = read_tree(asked)
    question = resolve(tree, policy, text=asked if isinstance(asked, str) else None)
    return to_sql(tree), question  # resolved first: a tree that is too large is not written out
