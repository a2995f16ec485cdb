"""JOIN (VALUES ...): labels written in the question, read as CASE on the columns that they are joined on.

No engine sees the list. Its keys differ from row to row, as those of a public table do, so that one row of a
person never becomes two.

Tested by: tests/queries/test_rewritten.py
"""

from typing import TypeAlias

from sqlglot import exp

from discreet.asking.queries.nodes import MOST_NODES, Literal, refuse
from discreet.asking.queries.sql_expressions import only, place_of, read_expression

_FORM = "Write JOIN (VALUES ('a', 1), ('b', 2)) AS v(key, label) ON t.x = v.key."

Pair: TypeAlias = tuple[exp.Expression, int]  # a column of people's rows, and the position of its key


def inline_values(node: exp.Select) -> None:
    """Replace every VALUES that is joined, and the names of its columns, in the clauses of one SELECT."""
    left = MOST_NODES  # a list may name the columns of another: what is written out is reckoned first
    for join in list(node.args.get("joins") or ()):
        if isinstance(join.this, exp.Values):
            join.pop()
            left -= _inline(node, join, left)


def _inline(node: exp.Select, join: exp.Join, most: int) -> int:
    """Replace one list; return how many nodes that took."""
    columns, rows = _read_list(join)
    alias = join.this.alias.lower()
    pairs = _read_pairs(join, alias, columns)
    _check_keys([tuple(row[position] for _, position in pairs) for row in rows], join)
    _check_names(node, join, columns)
    used = [each for each in node.find_all(exp.Column) if each.table.lower() == alias]
    used = [each for each in used if each.find_ancestor(exp.Select) is node]
    size = len(rows) * (len(used) + 1) * sum(2 + sum(1 for _ in there.walk()) for there, _ in pairs)
    if size > most:
        message = "VALUES must be shorter, or its columns used less often. A public table may be long."
        refuse("too_long", message, place_of(join))
    tests = [_match(pairs, row) for row in rows]
    for column in used:
        if column.name.lower() not in columns:
            refuse(
                "unknown_column", f"Column {column.name!r} is not among those of VALUES.", place_of(column)
            )
        position = columns.index(column.name.lower())
        branches = [
            exp.If(this=test.copy(), true=row[position].copy()) for test, row in zip(tests, rows, strict=True)
        ]
        label: exp.Expression = exp.Case(ifs=branches)
        if column.parent is node and column.arg_key == "expressions":
            label = exp.Alias(this=label, alias=exp.to_identifier(column.name))
        column.replace(label)
    if not join.args.get("side"):
        node.where(exp.or_(*tests), copy=False)
    return size


def _read_list(join: exp.Join) -> tuple[list[str], list[list[exp.Expression]]]:
    """Return the names of the columns in small letters, and the rows; all of them are written out."""
    only(join, "this", "side", "kind", "on", "using")
    side, kind = (str(join.args.get(part) or "").upper() for part in ("side", "kind"))
    if side not in ("", "LEFT") or kind not in ("", "INNER", "OUTER"):
        refuse("join", f"VALUES takes JOIN and LEFT JOIN. {_FORM}", place_of(join))
    values = join.this
    only(values, "expressions", "alias")
    named = values.args.get("alias")
    columns = [each.name.lower() for each in (named.args.get("columns") if named else None) or ()]
    rows = [each.expressions if isinstance(each, exp.Tuple) else [each] for each in values.expressions]
    if not values.alias or len(set(columns)) < len(columns) or any(len(row) != len(columns) for row in rows):
        refuse(
            "values",
            f"VALUES must have a name, and a name for each of its columns. {_FORM}",
            place_of(values),
        )
    for each in (cell for row in rows for cell in row):
        if not isinstance(read_expression(each), Literal):
            refuse("values", f"VALUES takes values that are written out. {_FORM}", place_of(each))
    return columns, rows


def _read_pairs(join: exp.Join, alias: str, columns: list[str]) -> list[Pair]:
    condition = join.args.get("on")
    pairs: list[Pair] = []
    if isinstance(condition, exp.And):
        equalities = list(condition.flatten(unnest=True))
    else:
        equalities = [] if condition is None else [condition.unnest()]
    for name in join.args.get("using") or ():
        pairs += [
            (exp.column(name.copy()), place)
            for place, each in enumerate(columns)
            if each == name.name.lower()
        ]
    for each in equalities:
        sides = (each.this, each.expression) if isinstance(each, exp.EQ) else ()
        for there, here in (sides, sides[::-1]) if sides else ():
            mine = (
                isinstance(here, exp.Column) and here.table.lower() == alias and here.name.lower() in columns
            )
            if mine and all(column.table.lower() != alias for column in there.find_all(exp.Column)):
                pairs.append((there, columns.index(here.name.lower())))
                break
        else:
            refuse("values", f"VALUES is joined where columns are equal. {_FORM}", place_of(join))
    if not pairs or len(pairs) < len(join.args.get("using") or ()):
        refuse("values", f"VALUES is joined where columns are equal. {_FORM}", place_of(join))
    return pairs


def _check_keys(keys: list[tuple[exp.Expression, ...]], join: exp.Join) -> None:
    read = [tuple(getattr(read_expression(cell), "value", None) for cell in key) for key in keys]
    if any(None in key for key in read) or len(set(read)) < len(read):
        message = (
            "The rows of VALUES must differ in what they are joined on, and have it: one label for each."
        )
        refuse("values", message, place_of(join.this))


def _check_names(node: exp.Select, join: exp.Join, columns: list[str]) -> None:
    """Refuse a name that may be of the list or of a table, and * for all of both."""
    if any(isinstance(each, exp.Star) or isinstance(each.this, exp.Star) for each in node.expressions):
        refuse("star", "* does not include VALUES. Name the columns.", place_of(node))
    known = {each.alias.lower() for each in node.expressions if isinstance(each, exp.Alias)}
    known |= {each.name.lower() for each in node.expressions if isinstance(each, exp.Column) and each.table}
    known |= {each.name.lower() for each in join.args.get("using") or ()}
    for column in node.find_all(exp.Column):
        unsure = not column.table and column.name.lower() in columns and column.name.lower() not in known
        if unsure and column.find_ancestor(exp.Select) is node:
            message = f"Column {column.name!r} must name its table, as {join.this.alias}.{column.name}."
            refuse("ambiguous_column", message, place_of(column))


def _match(pairs: list[Pair], row: list[exp.Expression]) -> exp.Expression:
    equal = [exp.EQ(this=there.copy(), expression=row[position].copy()) for there, position in pairs]
    return exp.and_(*equal)  # type: ignore[return-value]
