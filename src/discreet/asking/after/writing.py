"""One level as a statement for DuckDB: made of our own names, a closed list of functions, and constants.

Columns are c0, c1, ...; r is a row's number, which breaks every tie, so that equal answers give equal rows.
"""

from collections.abc import Mapping

from discreet.asking.after.level import Level
from discreet.asking.policy import Type
from discreet.asking.queries.nodes import (
    Aggregate,
    Call,
    Case,
    Expression,
    Literal,
    Order,
    Slot,
    Window,
    children,
    refuse,
)
from discreet.asking.queries.text import CAST_NAMES, INFIX, PARTS, write_literal
from discreet.errors import InternalError

SQL_TYPES: Mapping[Type, str] = {
    "integer": "HUGEINT",
    "number": "DOUBLE",
    "text": "VARCHAR",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
}
# Forms of {0}, {1}, ...; what fails on some number gives NULL instead.
FORMS = {
    "divide": "({0} / NULLIF({1}, 0))",
    "divide_whole": "({0} // NULLIF({1}, 0))",
    "modulo": "({0} % NULLIF({1}, 0))",
    "negate": "(-{0})",
    "not": "(NOT {0})",
    "is_null": "({0} IS NULL)",
    "trim": "TRIM({0}, ' ')",
    "ltrim": "LTRIM({0}, ' ')",
    "rtrim": "RTRIM({0}, ' ')",
    "substr": "SUBSTRING({0}, {1}, {2})",
    "split_part": "SPLIT_PART({0}, {1}, {2})",
    **{name: f"TRY({name.upper()}({{0}}))" for name in ("sqrt", "exp")},
    **{name: f"TRY({name.upper()}(NULLIF({{0}}, 0)))" for name in ("ln", "log10", "log2")},
    "power": "TRY(POWER({0}, {1}))",
}
PLAIN = ("abs", "sign", "floor", "ceil", "round", "coalesce", "lower", "upper", "length", "replace", "least",
         "greatest")  # fmt: skip
AGGREGATES = {
    "count": "COUNT",
    "sum": "SUM",
    "average": "AVG",
    "variance": "VAR_SAMP",
    "deviation": "STDDEV_SAMP",
    "variance_population": "VAR_POP",
    "deviation_population": "STDDEV_POP",
    "minimum": "MIN",
    "maximum": "MAX",
    "mode": "MODE",
    "correlation": "CORR",
    "covariance": "COVAR_SAMP",
    "covariance_population": "COVAR_POP",
    "slope": "REGR_SLOPE",
    "intercept": "REGR_INTERCEPT",
}
ONE_BY_ONE = ("row_number", "lag", "lead", "first_value", "last_value", "nth_value", "ntile")
RANKS = ("rank", "dense_rank", "percent_rank", "cume_dist")
MOST_LETTERS = 1_000  # of a text in a table after the noise
MOST_MADE = 64_000  # letters of a text that || and REPLACE make of them
POSITIONS = {"substr", "split_part"}  # functions whose whole numbers are places


class Writer:
    """Writes the expressions and clauses of one level."""

    def __init__(self, level: Level) -> None:
        self._level = level
        self._row = "MIN(r)" if level.grouped else "r"
        self.windows: list[Window] = []

    def select(self, table: str, *, traced: bool) -> str:
        """Return the statement. Traced, it also gives the rows that each row, and each window, is made of."""
        level = self._level
        for each in (
            *(node for _, node in level.outputs),
            level.where,
            level.having,
            level.qualify,
            *level.keys,
        ):
            if each is not None and letters_of(each) > MOST_MADE:
                refuse("too_long", "A text after the noise could become too long. Join fewer of them.", each)
        outputs = [self.write(each) for _, each in level.outputs]
        listed = [f"{each} AS o{place}" for place, each in enumerate(outputs)]
        if traced:
            listed.append("LIST(r ORDER BY r) AS rows" if level.grouped else "[r] AS rows")
            listed += [f"{self._trace(each)} AS w{place}" for place, each in enumerate(self.windows)]
        chosen = "SELECT DISTINCT" if level.distinct else "SELECT"
        parts = [f"{chosen} {', '.join(listed)} FROM {table}"]
        if level.where is not None:
            parts.append(f"WHERE {self.write(level.where)}")
        if level.keys or level.sets is not None:
            parts.append(f"GROUP BY {self._group()}")
        if level.having is not None:
            parts.append(f"HAVING {self.write(level.having)}")
        if level.qualify is not None:
            parts.append(f"QUALIFY {self.write(level.qualify)}")
        ties = [f"o{place}" for place in range(len(outputs))] if level.distinct else [self._row]
        ordered = [self._order(each) for each in level.order]
        parts.append(f"ORDER BY {', '.join([*ordered, *ties])}")
        if level.limit is not None:
            parts.append(f"LIMIT {level.limit:d}")
        if level.offset:
            parts.append(f"OFFSET {level.offset:d}")
        return " ".join(parts)

    def _group(self) -> str:
        keys = [self.write(key, inside=True) for key in self._level.keys]
        if self._level.sets is None:
            return ", ".join(keys)
        sets = ", ".join(f"({', '.join(keys[each] for each in group)})" for group in self._level.sets)
        return f"GROUPING SETS ({sets})"

    def _order(self, term: Order) -> str:
        down, nulls = " DESC" if term.descending else " ASC", "FIRST" if term.nulls_first else "LAST"
        return f"{self.write(term.expression)}{down} NULLS {nulls}"

    def write(self, node: Expression, *, inside: bool = False) -> str:
        """Return an expression; `inside` an aggregate or key, where the rows are not grouped yet."""
        if isinstance(node, Literal):
            return _literal(node)
        if isinstance(node, Slot):
            alone = self._level.grouped and not inside and node.index >= self._level.width
            return f"ANY_VALUE(c{node.index:d})" if alone else f"c{node.index:d}"
        if isinstance(node, Case):
            parts = [[self.write(each, inside=inside) for each in branch] for branch in node.branches]
            branches = "".join(f" WHEN {test} THEN {value}" for test, value in parts)
            return f"CASE{branches} ELSE {self.write(node.otherwise, inside=inside)} END"
        if isinstance(node, Call):
            return self._call(node, inside=inside)
        if isinstance(node, Aggregate):
            return self._aggregate(node)
        if isinstance(node, Window):
            self.windows += [] if node in self.windows else [node]
            return f"{self._over(node)} OVER ({self._window(node)})"
        raise InternalError(f"{type(node).__name__} must have SQL after the noise")

    def _call(self, node: Call, *, inside: bool) -> str:
        name = node.function
        given = [
            f"{each.value:d}"
            if name in POSITIONS and isinstance(each, Literal) and type(each.value) is int
            else self.write(each, inside=inside)
            for each in node.arguments
        ]
        if name == "substr" and len(given) == 2:
            return f"SUBSTRING({given[0]}, {given[1]})"
        if name in FORMS:
            return FORMS[name].format(*given)
        if name in INFIX:
            return "(" + f" {INFIX[name]} ".join(given) + ")"
        if name == "in":
            return f"({given[0]} IN ({', '.join(given[1:])}))"
        if name in CAST_NAMES:
            return f"TRY_CAST({given[0]} AS {SQL_TYPES[name.removeprefix('to_')]})"  # type: ignore[index]
        if name in PARTS:
            return f"CAST(DATE_PART('{name}', {given[0]}) AS HUGEINT)"
        if name.startswith("trunc_"):
            return f"DATE_TRUNC('{name.removeprefix('trunc_')}', {given[0]})"
        if name in PLAIN:
            return f"{name.upper()}({', '.join(given)})"
        return refuse(
            "unknown_function", f"{name.upper()} is not offered after the noise. Ask for it inside.", node
        )

    def _aggregate(self, node: Aggregate) -> str:
        arguments = [
            self.write(each, inside=True) for each in (node.argument, node.other) if each is not None
        ]
        if node.function == "quantile" and node.fraction is not None:
            arguments.append(repr(float(node.fraction)))
        return self._filtered(_function(node.function, arguments), node.condition, inside=True)

    def _filtered(self, text: str, condition: Expression | None, *, inside: bool) -> str:
        return text if condition is None else f"{text} FILTER (WHERE {self.write(condition, inside=inside)})"

    def _over(self, node: Window) -> str:
        if node.function in ONE_BY_ONE:
            counts = node.function == "ntile"
            given = [
                _count(each)
                if counts or (place == 1 and node.function != "first_value")
                else self.write(each)
                for place, each in enumerate(node.arguments)
            ]
            return f"{node.function}({', '.join(given)})"
        if node.function in RANKS:
            return f"{node.function}()"
        arguments = [self.write(each) for each in node.arguments]
        return self._filtered(_function(node.function, arguments), node.condition, inside=False)

    def _window(self, node: Window) -> str:
        parts = []
        if node.partition:
            parts.append("PARTITION BY " + ", ".join(map(self.write, node.partition)))
        rows = node.frame is not None and node.frame.kind == "ROWS"
        ties = [self._row] if node.function in ONE_BY_ONE or rows else []
        ordered = [*map(self._order, node.order), *ties]
        if ordered:
            parts.append("ORDER BY " + ", ".join(ordered))
        if node.frame is not None:
            start, end = (
                _end(each, last=last) for each, last in ((node.frame.start, False), (node.frame.end, True))
            )
            parts.append(f"{node.frame.kind} BETWEEN {start} AND {end}")
        return " ".join(parts)

    def _trace(self, node: Window) -> str:
        """Return the numbers of the rows that a window is over: one, for LAG and LEAD."""
        if node.function in ("lag", "lead"):
            places = [_count(each) for each in node.arguments[1:2]]
            return f"{node.function}({', '.join([self._row, *places])}) OVER ({self._window(node)})"
        kept = self._filtered(f"LIST({self._row})", node.condition, inside=False)
        return f"{kept} OVER ({self._window(node)})"


def letters_of(node: Expression) -> int:
    """Return the most letters that a text may have, or one inside it."""
    if isinstance(node, Literal):
        return len(node.value) if isinstance(node.value, str) else 40
    inner = [letters_of(each) for each in children(node)]
    if isinstance(node, Call) and node.function == "concat":
        return sum(inner)
    if isinstance(node, Call) and node.function == "replace":
        _, old, new = inner
        return inner[0] * max(1, -(-new // max(old, 1)))
    return max(inner, default=MOST_LETTERS)


def _function(name: str, arguments: list[str]) -> str:
    if name == "count_rows" or not arguments:
        return "COUNT(*)"
    if name in ("count_units", "count_distinct"):
        return f"COUNT(DISTINCT {arguments[0]})"
    if name == "quantile":
        return f"QUANTILE_CONT({arguments[0]}, {arguments[1]})"
    return f"{AGGREGATES[name]}({', '.join(arguments)})"


def _count(node: Expression) -> str:
    if not isinstance(node, Literal) or type(node.value) is not int or not 0 < node.value < 10**6:
        refuse("window", "NTILE, LAG and LEAD take a whole number written out, from 1 on.", node)
    return f"{node.value:d}"


def _end(rows: int | None, *, last: bool) -> str:
    if rows is None:
        return f"UNBOUNDED {'FOLLOWING' if last else 'PRECEDING'}"
    if rows == 0:
        return "CURRENT ROW"
    return f"{abs(rows):d} {'PRECEDING' if rows < 0 else 'FOLLOWING'}"


def _literal(node: Literal) -> str:
    value = node.value
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:d}::HUGEINT" if value >= 0 else f"({value:d})::HUGEINT"
    return f"'{value!r}'::DOUBLE" if isinstance(value, float) else write_literal(node)
