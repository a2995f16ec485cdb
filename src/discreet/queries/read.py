"""Any question, as text, builder or tree, against a policy."""

from discreet.errors import InvalidParameter
from discreet.queries.builder import Builder
from discreet.queries.nodes import Query, Select, Union
from discreet.queries.question import Question
from discreet.queries.resolve import resolve
from discreet.queries.sql import read_sql
from discreet.tables import Policy


def read_question(question: str | Builder | Query, policy: Policy) -> Question:
    """The resolved question, whichever way it was asked."""
    if isinstance(question, str):
        return resolve(read_sql(question), policy, text=question)
    if isinstance(question, Builder):
        return resolve(question.query, policy)
    if isinstance(question, Select | Union):
        return resolve(question, policy)
    raise InvalidParameter(f"a question must be SQL text or a builder, got {type(question).__name__}.")
