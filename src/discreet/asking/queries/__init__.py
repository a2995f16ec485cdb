"""Questions: SQL text or the Python builder, into one frozen tree of allowed nodes, resolved against a
policy.

    read_question(question, policy) -> Question    SQL text, a Builder, or a tree
    read_sql(text) -> Query                        the tree alone; to_sql(tree) is its canonical text
    resolve(tree, policy) -> Question              names, types, ranges, keys and units

A `Question` is what planning starts from:

    question.rows       Relation: what is read, filtered and joined, with the unit carried next to the columns
    question.keys       Key(expression, domain): public labels, or None where only the data knows them
    question.sets       grouping sets, as positions in keys
    question.measures   Measure(aggregate, range, domain): each aggregate once; a range of None has no bounds
    question.columns    (name, expression over Slots): what the answer shows, post-processing of the slots
    question.having, question.order, question.limit    over Slots too
    question.max_groups, question.max_rows, question.each_row, question.public_keys

Slots number the released values: keys first, then measures. `evaluate(expression, lookup)` computes an
expression, `lookup` giving the value of each Name or Slot. Everything outside the closed list is refused with
UnsupportedQuery, whose `fields["reason"]` is a stable code and whose message underlines the place.
"""

from discreet.asking.queries.builder import Builder, Term, case, column, table
from discreet.asking.queries.evaluate import evaluate
from discreet.asking.queries.nodes import (
    Aggregate,
    AggregateName,
    Call,
    Case,
    Expression,
    Literal,
    Name,
    Query,
    Select,
    Slot,
    Union,
    underline,
    walk,
)
from discreet.asking.queries.question import Domain, Key, Measure, Question, Term as OrderTerm, domain_of
from discreet.asking.queries.ranges import Range, integer_span
from discreet.asking.queries.relations import (
    Field,
    Filtered,
    Joined,
    PerUnit,
    Project,
    Relation,
    Scan,
    Stacked,
    is_public,
    scans,
    unit_scan,
)
from discreet.asking.queries.resolve import read_question, read_tree, resolve
from discreet.asking.queries.sql import read_sql
from discreet.asking.queries.text import quote, to_sql, to_text

__all__ = [
    "Aggregate",
    "AggregateName",
    "Builder",
    "Call",
    "Case",
    "Domain",
    "Expression",
    "Field",
    "Filtered",
    "Joined",
    "Key",
    "Literal",
    "Measure",
    "Name",
    "OrderTerm",
    "PerUnit",
    "Project",
    "Query",
    "Question",
    "Range",
    "Relation",
    "Scan",
    "Select",
    "Slot",
    "Stacked",
    "Term",
    "Union",
    "case",
    "column",
    "domain_of",
    "evaluate",
    "integer_span",
    "is_public",
    "quote",
    "read_question",
    "read_sql",
    "read_tree",
    "resolve",
    "scans",
    "table",
    "to_sql",
    "to_text",
    "underline",
    "unit_scan",
    "walk",
]
