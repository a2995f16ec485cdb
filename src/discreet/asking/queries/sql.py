"""SQL text into the tree. The dialect is DuckDB's, cut down to a closed list; see docs/guide/sql.md.

Common table expressions are put in place of their names as standard SQL scopes them: a name means the
nearest definition before it, and inside its own definition whatever it meant before. No name is left to
shadow another.
"""

import logging
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from discreet.asking.queries import sql_rewritten, sql_windows
from discreet.asking.queries.nodes import (
    Aggregate,
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
    check_size,
    default_name,
    has_aggregate,
    has_window,
    refuse,
    underline,
)
from discreet.asking.queries.sql_expressions import READERS, is_digits, only, place_of, read_expression
from discreet.asking.queries.sql_values import inline_values
from discreet.errors import UnsupportedQuery

MOST_CHARACTERS = 20_000
MOST_TOKENS = 5_000
MOST_SETS = 64
MOST_NESTED = 50  # parentheses, CASEs and subqueries inside one another

_SAMPLE = "A sample is no more private than its rows, and less exact. Ask about the whole table."

READERS.update(sql_rewritten.READERS | sql_windows.READERS)

Scope: TypeAlias = Mapping[str, Query]  # common table expressions by lower-case name

logging.getLogger("sqlglot").setLevel(logging.CRITICAL)  # its warnings quote the question


def read_sql(text: str) -> Query:
    """Return the tree of one SELECT, or a refusal that underlines the place.

    >>> read_sql("SELECT COUNT(*) AS n FROM accounts").outputs[0].name
    'n'
    """
    try:
        return _read_query(_parse(text), {})
    except UnsupportedQuery as error:
        raise underline(error, text) from None
    except RecursionError:
        refuse("too_deep", "A question must nest less deeply. Use fewer parentheses.")


def _parse(text: str) -> exp.Expression:
    if len(text) > MOST_CHARACTERS:
        refuse("too_long", f"A question must have at most {MOST_CHARACTERS} characters.")
    try:
        tokens = sqlglot.tokenize(text, read="duckdb")
        _check_size(tokens)
        _check_start(tokens)
        statements = [each for each in sqlglot.parse(text, read="duckdb") if each is not None]
    except SqlglotError as error:
        refuse("syntax", _describe(error), _place_of_error(error))
    if len(statements) != 1:
        message = f"A question must be one SELECT, got {len(statements)} statements. Ask them as a list."
        refuse("several_statements", message)
    statement = statements[0]
    assert isinstance(statement, exp.Expression)
    return statement


def _check_start(tokens: list[sqlglot.Token]) -> None:
    first = next((token for token in tokens if token.text != "("), None)
    if first is None:
        refuse("several_statements", "A question must be one SELECT, got none.")
    if first.text.upper() not in ("SELECT", "WITH", "FROM", "PIVOT"):
        refuse(
            "not_select", "A question must begin with SELECT, WITH or PIVOT.", (first.start, first.end + 1)
        )


def _check_size(tokens: list[sqlglot.Token]) -> None:
    if len(tokens) > MOST_TOKENS:
        refuse("too_long", f"A question must have at most {MOST_TOKENS} names and signs.")
    depth = 0
    for token in tokens:
        text = token.text.upper()
        depth += (text in ("(", "CASE", "[", "{")) - (text in (")", "END", "]", "}"))
        if depth > MOST_NESTED:
            refuse(
                "too_deep", f"A question must nest at most {MOST_NESTED} deep.", (token.start, token.end + 1)
            )


def _describe(error: SqlglotError) -> str:
    details = getattr(error, "errors", None) or [{}]
    said = str(details[0].get("description") or "a quote or a comment is not closed").rstrip(".")
    if "oken" in said or "sqlglot" in said:  # the parser's own message is no help to an analyst
        said = "something is missing or out of place, before this or in it"
    return f"A question must be SQL, but here {said[0].lower()}{said[1:]}."


def _place_of_error(error: SqlglotError) -> tuple[int, int] | None:
    details = (getattr(error, "errors", None) or [{}])[0]
    context, marked = details.get("start_context"), details.get("highlight")
    if context is None or not marked:
        return None
    return None if len(context) >= 100 else (len(context), len(context) + len(marked))


def _read_query(node: exp.Expression, scope: Scope) -> Query:
    read = _read_any_query(node, scope)
    check_size(read)
    return read


def _read_any_query(node: exp.Expression, scope: Scope) -> Query:
    if isinstance(node, exp.Subquery) and not node.args.get("alias"):
        only(node, "this")
        return _read_query(node.this, scope)
    if isinstance(node, exp.Select):
        return _read_select(node, scope)
    if isinstance(node, exp.Union):
        return _read_union(node, scope)
    if isinstance(node, exp.Pivot):
        return _read_pivot(node, scope)
    if isinstance(node, exp.SetOperation):
        refuse("set_operation", "Only UNION ALL is allowed between tables of the same unit.", place_of(node))
    return refuse("not_select", "A question must be a SELECT.", place_of(node))


def _read_with(node: exp.Expression, scope: Scope) -> Scope:
    clause = node.args.get("with_")
    if clause is None:
        return scope
    if clause.args.get("recursive"):
        refuse("recursive", "WITH RECURSIVE is not allowed.", place_of(clause))
    only(clause, "expressions")
    inner = dict(scope)
    for each in clause.expressions:
        only(each, "this", "alias")
        only(each.args["alias"], "this")
        inner[each.alias.lower()] = _read_query(each.this, inner)
    return inner


def _read_union(node: exp.Union, outer: Scope) -> Query:
    scope = _read_with(node, outer)
    only(node, "this", "expression", "with_", "distinct", "order", "limit", "offset")
    members: list[Select] = []
    for side in (node.this, node.expression):
        read = _read_query(side, scope)
        if isinstance(read, Pivot):
            refuse("set_operation", "UNION ALL takes SELECTs. Select from the PIVOT.", place_of(side))
        members.extend(read.members if isinstance(read, Union) else (read,))
    united = Union(tuple(members), place=place_of(node))
    clauses = [node.args.get(name) for name in ("distinct", "order", "limit", "offset")]
    if not any(clauses):
        return united
    distinct, order, limit, offset = clauses
    named = tuple(replace(each, expression=Name(each.name)) for each in members[0].outputs)
    return Select(  # what follows the last member is about all of them
        outputs=(Output("*", None),),
        source=Nested(united, "united"),
        order=tuple(_read_order(each, named) for each in _expressions(order)),
        limit=_read_limit(limit),
        offset=_read_limit(offset) or 0,
        distinct=bool(distinct),
        place=place_of(node),
    )


def _read_pivot(node: exp.Pivot, outer: Scope) -> Query:
    scope = _read_with(node, outer)
    only(node, "this", "expressions", "using", "group", "with_")
    if len(node.expressions) != 1 or not node.args.get("using"):
        refuse("pivot", "PIVOT t ON column USING COUNT(*) GROUP BY key takes one column.", place_of(node))
    (on,), labels = node.expressions, None
    if isinstance(on, exp.In):
        only(on, "this", "expressions")
        listed = [read_expression(each) for each in on.expressions]
        labels = tuple(each for each in listed if isinstance(each, Literal))
        if len(labels) < len(listed):
            refuse("pivot", "PIVOT ... ON x IN (...) takes labels written out.", place_of(on))
        on = on.this
    using = tuple(_read_output(each, position) for position, each in enumerate(node.args["using"]))
    if not all(isinstance(each.expression, Aggregate) for each in using):
        refuse("pivot", "USING takes aggregates, as COUNT(*).", place_of(node))
    keys, sets = _read_group(node.args.get("group"), ())
    if sets is not None:
        refuse("pivot", "PIVOT groups by columns, without ROLLUP.", place_of(node))
    source = _read_source(node.this, scope)
    return Pivot(source, read_expression(on), labels, using, tuple(keys), place=place_of(node))


def _read_select(node: exp.Select, outer: Scope) -> Select:
    scope = _read_with(node, outer)
    before = sql_windows.subqueries.set(partial(_read_query, scope=scope))
    try:
        return _read_clauses(node, scope)
    finally:
        sql_windows.subqueries.reset(before)


def _read_clauses(node: exp.Select, scope: Scope) -> Select:
    distinct = node.args.get("distinct")
    if distinct is not None and distinct.args.get("on"):
        refuse("distinct", "DISTINCT ON keeps one row of many. GROUP BY the columns instead.", place_of(node))
    for clause, reason, advice in (
        (
            "sample",
            "sample",
            _SAMPLE,
        ),
        ("into", "not_select", "A question writes nothing. Leave INTO out."),
        ("laterals", "join", "LATERAL is not allowed. Join tables with JOIN ... ON."),
    ):
        if node.args.get(clause):
            refuse(reason, advice, place_of(node))
    allowed = ("expressions", "from_", "joins", "where", "group", "having", "order", "limit", "with_")
    only(node, *allowed, "distinct", "qualify", "windows", "offset")
    if node.args.get("from_") is None:
        refuse("no_table", "A question must have a FROM with a table of the data set.", place_of(node))
    _name_windows(node)
    inline_values(node)
    listed = [each for one in node.expressions for each in sql_rewritten.spread_quantiles(one)]
    outputs = tuple(_read_output(each, position) for position, each in enumerate(listed))
    keys, sets = _read_group(node.args.get("group"), outputs)
    return Select(
        outputs=outputs,
        source=_read_from(node, scope),
        where=_read_condition(node.args.get("where")),
        keys=tuple(_by_position(key, outputs) for key in keys),
        sets=sets,
        having=_read_condition(node.args.get("having")),
        order=tuple(_read_order(each, outputs) for each in _expressions(node.args.get("order"))),
        limit=_read_limit(node.args.get("limit")),
        offset=_read_limit(node.args.get("offset")) or 0,
        qualify=_read_condition(node.args.get("qualify")),
        distinct=distinct is not None,
        place=place_of(node),
    )


def _name_windows(node: exp.Select) -> None:
    """Put the windows that WINDOW names in the place of their names."""
    named = {each.name.lower(): each for each in node.args.get("windows") or ()}
    for window in list(node.find_all(exp.Window)):
        name = window.args.get("alias")
        if name is None or window.arg_key == "windows":
            continue
        meant = named.get(name.name.lower())
        if meant is None:
            refuse("window", f"Window {name.name!r} is not known. Name it with WINDOW.", place_of(window))
        for part in ("partition_by", "order", "spec"):
            if meant.args.get(part) and not window.args.get(part):
                found = meant.args[part]
                copied = [each.copy() for each in found] if isinstance(found, list) else found.copy()
                window.set(part, copied)
        window.set("alias", None)


def _expressions(node: exp.Expression | None) -> list[exp.Expression]:
    if node is None:
        return []
    only(node, "expressions")
    return list(node.expressions)


def _read_condition(node: exp.Expression | None) -> Expression | None:
    if node is None:
        return None
    only(node, "this")
    return read_expression(node.this)


def _read_output(node: exp.Expression, position: int) -> Output:
    if isinstance(node, exp.Star):
        only(node)
        return Output("*", None, place=place_of(node))
    if isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
        only(node.this)
        return Output("*", None, node.table or None, place=place_of(node))
    if isinstance(node, exp.Alias):
        only(node, "this", "alias")
        return Output(node.alias, read_expression(node.this), place=place_of(node))
    expression = read_expression(node)
    return Output(default_name(expression, position), expression, place=place_of(node))


def _read_order(node: exp.Expression, outputs: tuple[Output, ...]) -> Order:
    only(node, "this", "desc", "nulls_first")
    if isinstance(node.this, exp.Var):
        refuse("clause", "ORDER BY names its columns.", place_of(node))
    term = _by_position(read_expression(node.this), outputs)
    first, down = bool(node.args.get("nulls_first")), bool(node.args.get("desc"))
    return Order(term, descending=down, nulls_first=first, place=term.place)


def _by_position(term: Expression, outputs: tuple[Output, ...]) -> Expression:
    """Return the output that a whole number in GROUP BY or ORDER BY points at; other terms as they are."""
    if not isinstance(term, Literal):
        return term
    chosen = (
        outputs[term.value - 1] if isinstance(term.value, int) and 0 < term.value <= len(outputs) else None
    )
    if chosen is None or chosen.expression is None:
        refuse("position", f"A position must be between 1 and {len(outputs)}.", term)
    return replace(chosen.expression, place=term.place)


def _read_limit(node: exp.Expression | None) -> int | None:
    if node is None:
        return None
    if isinstance(node, exp.Fetch):
        only(node, "direction", "count", "limit_options")
        options = node.args.get("limit_options")
        if options is not None:
            only(options, "rows")
        number = node.args.get("count")
    else:
        only(node, "expression")
        number = node.expression
    if not isinstance(number, exp.Literal) or not is_digits(number.this) or len(number.this) > 9:
        refuse("limit", "LIMIT and OFFSET take a whole number written out.", place_of(node))
    return int(number.this)


def _read_group(
    node: exp.Group | None, outputs: tuple[Output, ...]
) -> tuple[list[Expression], tuple[tuple[int, ...], ...] | None]:
    if node is None:
        return [], None
    if node.args.get("all"):
        only(node, "all")
        shown = [each.expression for each in outputs if each.expression is not None]
        return [each for each in shown if not isinstance(each, Literal) and not _is_of_many(each)], None
    only(node, "expressions", "rollup", "cube", "grouping_sets")
    parts = [*node.expressions]
    for name in ("rollup", "cube", "grouping_sets"):
        parts.extend(node.args.get(name) or [])
    keys: list[Expression] = []
    sets: list[tuple[int, ...]] = [()]
    for part in parts:
        choices = _read_sets(part, keys)
        if len(sets) * len(choices) > MOST_SETS:
            message = f"A question must have at most {MOST_SETS} grouping sets. Group by fewer of them."
            refuse("grouping_sets", message, place_of(node))
        sets = [(*left, *right) for left in sets for right in choices]
    plain = [tuple(range(len(keys)))]
    return keys, None if sets == plain else tuple(tuple(sorted(set(each))) for each in sets)


def _is_of_many(node: Expression) -> bool:
    return has_aggregate(node) or has_window(node)


def _read_sets(node: exp.Expression, keys: list[Expression]) -> list[tuple[int, ...]]:
    """Return the alternatives that one term of GROUP BY offers, as positions in `keys` (which grows)."""

    def position(term: exp.Expression) -> int:
        key = read_expression(term)
        if key not in keys:
            keys.append(key)
        return keys.index(key)

    def positions(term: exp.Expression) -> tuple[int, ...]:
        inner = term.expressions if isinstance(term, exp.Tuple) else [term]
        return tuple(position(each) for each in inner)

    if isinstance(node, exp.Rollup | exp.Cube | exp.GroupingSets):
        only(node, "expressions")
    if isinstance(node, exp.GroupingSets):
        return [choice for each in node.expressions for choice in _read_sets(each, keys)]
    if isinstance(node, exp.Rollup):
        terms = [positions(each) for each in node.expressions]
        return [sum(terms[:count], ()) for count in range(len(terms), -1, -1)]
    if isinstance(node, exp.Cube):
        terms = [positions(each) for each in node.expressions]
        masks = range(2 ** len(terms) - 1, -1, -1) if len(terms) <= 6 else ()
        return [sum((term for bit, term in enumerate(terms) if mask >> bit & 1), ()) for mask in masks] or [
            ()
        ] * (MOST_SETS + 1)
    return [positions(node)]


def _read_from(node: exp.Select, scope: Scope) -> Source:
    clause = node.args["from_"]
    only(clause, "this")
    source = _read_source(clause.this, scope)
    return _join_all(source, node.args.get("joins") or [], scope)


def _join_all(source: Source, joins: list[exp.Join], scope: Scope) -> Source:
    for each in joins:
        source = _read_join(source, each, scope)
    return source


def _read_source(node: exp.Expression, scope: Scope) -> Source:
    if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table):
        only(node, "this")
        return _read_source(node.this, scope)
    if isinstance(node, exp.Subquery):
        only(node, "this", "alias")
        alias = _read_alias(node) or f"subquery_{(place_of(node) or (0, 0))[0]}"
        return Nested(_read_query(node.this, scope), alias, place=place_of(node))
    if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
        refuse(
            "table_function",
            "FROM takes tables of the data set and subqueries. Give labels by CASE, or by a public table.",
            place_of(node),
        )
    if node.args.get("db") or node.args.get("catalog"):
        refuse("qualified_table", "A table is named alone, without schema or file.", place_of(node))
    if node.args.get("sample"):
        refuse(
            "sample",
            _SAMPLE,
            place_of(node),
        )
    only(node, "this", "alias", "joins")
    alias = _read_alias(node) or node.name
    found = scope.get(node.name.lower())
    place = place_of(node.this)
    source: Source
    source = TableName(node.name, alias, place=place) if found is None else Nested(found, alias, place=place)
    return _join_all(source, node.args.get("joins") or [], scope)


def _read_alias(node: exp.Expression) -> str | None:
    alias = node.args.get("alias")
    if alias is None:
        return None
    only(alias, "this")
    return str(alias.name)


def _read_join(left: Source, node: exp.Join, scope: Scope) -> Source:
    for part in ("method", "kind", "side"):
        value = str(node.args.get(part) or "").upper()
        if value not in ("", "INNER", "OUTER", "LEFT"):
            refuse(
                "join",
                f"{value} JOIN is not allowed. "
                "Join on a public table's key, a declared foreign key or the unit.",
                place_of(node),
            )
    if isinstance(node.this, exp.Lateral | exp.Unnest):
        refuse("join", "LATERAL and UNNEST are not allowed. Join tables with JOIN ... ON.", place_of(node))
    only(node, "this", "side", "kind", "on", "using")
    condition = node.args.get("on")
    return Join(
        left,
        _read_source(node.this, scope),
        None if condition is None else read_expression(condition),
        tuple(each.name for each in node.args.get("using") or ()),
        "left" if node.args.get("side") else "inner",
        place=place_of(node),
    )
