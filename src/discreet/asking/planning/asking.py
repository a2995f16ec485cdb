"""From what a user asks to plans: text, builder or tree, one question or several, at one price."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal, NamedTuple, TypeAlias, TypedDict

from discreet.asking.after import After, prepare, split
from discreet.asking.planning.plan import Plan
from discreet.asking.planning.planner import make_plan
from discreet.asking.planning.price import PlanOptions, Price, Within
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
    read = [read_whole(each, policy) for each in asked]
    check_work([each.question for each in read], policy)  # of all together, before any is planned
    terms = {"confidence": level, "part": Fraction(1, len(asked)), "options": options}
    return tuple(_plan(each, known, policy, price, **terms) for each, known in zip(asked, read, strict=True))


class Read(NamedTuple):
    """A question's canonical text, what it asks, and what is selected from its answer."""

    text: str
    question: Question
    after: After | None


def _plan(asked: QuestionLike, read: Read, policy: Policy, price: Price, **more: Any) -> Plan:
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
