"""The canonical text of a tree: SQL that reads back as the same tree."""

import datetime
from functools import lru_cache

import sqlglot

from discreet.asking.queries.nodes import (
    Aggregate,
    Call,
    Case,
    Expression,
    Join,
    Literal,
    Name,
    Nested,
    Order,
    Output,
    Pivot,
    Query,
    Select,
    Source,
    TableName,
    Union,
)
from discreet.errors import InternalError

INFIX = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "divide_whole": "//", "modulo": "%",
    "equal": "=", "unequal": "<>", "less": "<", "at_most": "<=", "greater": ">", "at_least": ">=",
    "and": "AND", "or": "OR", "like": "LIKE", "concat": "||",
}  # fmt: skip
CAST_NAMES = {
    "to_integer": "BIGINT",
    "to_number": "DOUBLE",
    "to_text": "VARCHAR",
    "to_boolean": "BOOLEAN",
    "to_date": "DATE",
    "to_timestamp": "TIMESTAMP",
}
AGGREGATES = {
    "count": "COUNT",
    "sum": "SUM",
    "average": "AVG",
    "variance": "VARIANCE",
    "deviation": "STDDEV",
    "minimum": "MIN",
    "maximum": "MAX",
    "mode": "MODE",
    "variance_population": "VAR_POP",
    "deviation_population": "STDDEV_POP",
    "correlation": "CORR",
    "covariance": "COVAR_SAMP",
    "covariance_population": "COVAR_POP",
    "slope": "REGR_SLOPE",
    "intercept": "REGR_INTERCEPT",
}
PARTS = ("year", "quarter", "month", "day", "dow", "isodow", "doy", "hour", "minute", "second")


def to_sql(query: Query) -> str:
    """Return one line of SQL for a query.

    >>> from discreet.asking.queries.sql import read_sql
    >>> to_sql(read_sql("select count(*) as n from t where x>1 and not y"))
    'SELECT COUNT(*) AS n FROM t WHERE (x > 1) AND (NOT y)'
    """
    if isinstance(query, Union):
        return " UNION ALL ".join(to_sql(each) for each in query.members)
    if isinstance(query, Pivot):
        raise InternalError("PIVOT must be read as what it means before it is written")
    parts = ["SELECT " + ", ".join(map(_output, query.outputs)), "FROM " + _source(query.source)]
    if query.where is not None:
        parts.append("WHERE " + to_text(query.where))
    if query.keys or query.sets is not None:
        parts.append("GROUP BY " + _group(query))
    if query.having is not None:
        parts.append("HAVING " + to_text(query.having))
    if query.order:
        parts.append("ORDER BY " + ", ".join(map(_order, query.order)))
    if query.limit is not None:
        parts.append(f"LIMIT {query.limit}")
    return " ".join(parts)


def to_text(node: Expression) -> str:
    """Return the SQL of an expression, without parentheses around it."""
    if isinstance(node, Literal):
        return write_literal(node)
    if isinstance(node, Name):
        return quote(node.name) if node.table is None else f"{quote(node.table)}.{quote(node.name)}"
    if isinstance(node, Case):
        branches = "".join(f" WHEN {to_text(test)} THEN {to_text(value)}" for test, value in node.branches)
        return f"CASE{branches} ELSE {to_text(node.otherwise)} END"
    if isinstance(node, Aggregate):
        return _aggregate(node)
    if isinstance(node, Call):
        return _call(node)
    return "?"


def _call(node: Call) -> str:
    name, arguments = node.function, node.arguments
    if name in INFIX:
        return f" {INFIX[name]} ".join(map(_inner, arguments))
    if name == "negate":
        return f"-({to_text(arguments[0])})"
    if name == "not":
        return f"NOT {_inner(arguments[0])}"
    if name == "is_null":
        return f"{_inner(arguments[0])} IS NULL"
    if name == "in":
        return f"{_inner(arguments[0])} IN ({', '.join(map(to_text, arguments[1:]))})"
    if name in CAST_NAMES:
        return f"CAST({to_text(arguments[0])} AS {CAST_NAMES[name]})"
    if name in PARTS:
        return f"EXTRACT({name} FROM {to_text(arguments[0])})"
    if name.startswith("trunc_"):
        return f"DATE_TRUNC('{name.removeprefix('trunc_')}', {to_text(arguments[0])})"
    return f"{name.upper()}({', '.join(map(to_text, arguments))})"


def _inner(node: Expression) -> str:
    infix = isinstance(node, Call) and (node.function in INFIX or node.function in ("not", "is_null", "in"))
    return f"({to_text(node)})" if infix else to_text(node)


def write_literal(node: Literal) -> str:
    """Return a literal as SQL."""
    value = node.value
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime.datetime):
        return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
    if isinstance(value, datetime.date):
        return f"DATE '{value.isoformat()}'"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, int):
        return str(value)
    shown = repr(value)
    return shown if "e" in shown or "." in shown else f"{shown}.0"


def _aggregate(node: Aggregate) -> str:
    if node.function == "count_rows" or node.argument is None:
        text = "COUNT(*)"
    elif node.function == "count_units":
        text = f"COUNT(DISTINCT {to_text(node.argument)})"
    elif node.function == "quantile":
        assert node.fraction is not None
        text = f"QUANTILE({to_text(node.argument)}, {_decimal(node)})"
    else:
        listed = [node.argument, *([] if node.other is None else [node.other])]
        text = f"{AGGREGATES[node.function]}({', '.join(map(to_text, listed))})"
    return text if node.condition is None else f"{text} FILTER (WHERE {to_text(node.condition)})"


def _decimal(node: Aggregate) -> str:
    assert node.fraction is not None
    places = 0
    while (node.fraction * 10**places).denominator != 1 and places < 400:
        places += 1
    digits = str(int(node.fraction * 10**places)).rjust(places + 1, "0")
    return digits if places == 0 else f"{digits[:-places]}.{digits[-places:]}"


def _output(node: Output) -> str:
    if node.expression is None:
        return "*" if node.table is None else f"{quote(node.table)}.*"
    return _named(to_text(node.expression), node.name)


def _order(node: Order) -> str:
    return to_text(node.expression) + (" DESC" if node.descending else "")


def _group(query: Select) -> str:
    keys = [to_text(key) for key in query.keys]
    if query.sets is None:
        return ", ".join(keys)
    sets = ", ".join(f"({', '.join(keys[each] for each in group)})" for group in query.sets)
    return f"GROUPING SETS ({sets})"


def _source(node: Source) -> str:
    if isinstance(node, TableName):
        return _named(quote(node.name), node.alias)
    if isinstance(node, Nested):
        return f"({to_sql(node.query)}) AS {quote(node.alias)}"
    return _join(node)


def _join(node: Join) -> str:
    right = f"({_source(node.right)})" if isinstance(node.right, Join) else _source(node.right)
    if node.condition is None and not node.using:
        return f"{_source(node.left)}, {right}"
    kind = "LEFT JOIN" if node.kind == "left" else "JOIN"
    on = f"USING ({', '.join(map(quote, node.using))})" if node.using else f"ON {to_text(node.condition)}"  # type: ignore[arg-type]
    return f"{_source(node.left)} {kind} {right} {on}"


def _named(text: str, name: str) -> str:
    """Return text AS name, unless the text is that name."""
    quoted = quote(name)
    return text if text == quoted else f"{text} AS {quoted}"


@lru_cache(maxsize=1024)
def quote(name: str) -> str:
    """Return a name as SQL writes it: bare where the tokenizer sees a plain identifier, else in double
    quotes.
    """
    if name.isascii() and name.isidentifier() and name.upper() not in ("ORDER", "GROUP"):
        tokens = sqlglot.tokenize(name, read="duckdb")
        if len(tokens) == 1 and tokens[0].token_type == sqlglot.TokenType.VAR:
            return name
    return '"' + name.replace('"', '""') + '"'
