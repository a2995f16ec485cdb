"""Name resolution: from the tree and the policy to a question that can be planned."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from discreet.asking.policy import Policy
from discreet.asking.queries.advice import ADVICE
from discreet.asking.queries.builder import Builder
from discreet.asking.queries.derived import CALENDAR, as_date, derive, is_day_number, of_days
from discreet.asking.queries.nodes import (
    Aggregate,
    Expression,
    Literal,
    Name,
    Nested,
    Output,
    Pivot,
    Query,
    Scalar,
    Select,
    Slot,
    Union,
    Window,
    aggregates,
    check_size,
    has_aggregate,
    has_window,
    refuse,
    underline,
)
from discreet.asking.queries.question import Key, Measure, Question, Term, counted_labels, domain_of
from discreet.asking.queries.relations import (
    Field,
    Project,
    Relation,
    Stacked,
    has_each_row,
    is_public,
    unit_scan,
    where_true,
)
from discreet.asking.queries.resolve_source import (
    Sources,
    conjuncts,
    is_per_unit,
    is_present,
    resolve_per_unit,
)
from discreet.asking.queries.sql import read_sql
from discreet.asking.queries.types import (
    Scope,
    as_condition,
    assign_types,
    fit_integer,
    rebuild,
    type_aggregate,
)
from discreet.errors import InvalidParameter, UnsupportedQuery


def resolve(query: Query, policy: Policy, *, text: str | None = None) -> Question:
    """Return the question that a tree asks of a policy's data; with the text, refusals underline the
    place.
    """
    try:
        check_size(query)
        with counted_labels():
            return _resolve(query, policy)
    except UnsupportedQuery as error:
        raise (error if text is None else underline(error, text)) from None


def _resolve(query: Query, policy: Policy) -> Question:
    if isinstance(query, Union):
        refuse("set_operation", "UNION ALL must be in FROM, and is then aggregated.", query)
    if isinstance(query, Pivot) or is_released(query, policy):
        refuse("released", "This is selected from an answer. Ask it with ask or explain.", query)
    refuse_after_noise(query)
    return _resolve_question(query, policy)


def is_released(query: Query, policy: Policy) -> bool:
    """Return whether a query selects from what is itself a question: all of it follows the noise."""
    if isinstance(query, Union):
        return any(is_question(each, policy) for each in query.members)
    source = query.source
    return isinstance(source, Nested) and is_question(source.query, policy)


def is_question(query: Query, policy: Policy) -> bool:
    """Return whether a query gives released rows, and not rows of people."""
    if isinstance(query, Pivot) or is_released(query, policy):
        return True
    return (
        isinstance(query, Select) and aggregates(query) and not is_per_unit(query, source_of(query, policy))
    )


def refuse_after_noise(query: Select) -> None:
    """Refuse the clauses that only a released table may have."""
    if query.distinct:
        refuse("distinct", "DISTINCT, and UNION without ALL, compare the rows of many people. GROUP BY the "
               "columns and COUNT(*), or write UNION ALL.", query)  # fmt: skip
    if query.qualify is not None:
        refuse(*ADVICE["Window"], query.qualify)
    if any(each.nulls_first for each in query.order):
        refuse("nulls_order", "NULLS FIRST orders what was released.", query)
    if query.offset:
        refuse("limit_in_rows", "OFFSET would choose among people. Move it to the end.", query)


def source_of(query: Select, policy: Policy) -> Relation:
    def nested(inner: Query, alias: str) -> Relation:
        return resolve_rows(inner, alias, policy)

    pool = [] if query.where is None else conjuncts(query.where)
    return Sources(policy, nested, pool).resolve(query.source)


def resolve_rows(query: Query, alias: str, policy: Policy) -> Relation:
    """Return a query in FROM as rows: a row-wise SELECT, a UNION ALL of them, or one row for each unit."""
    if isinstance(query, Union):
        return _stack(query, alias, policy)
    if isinstance(query, Pivot):
        refuse("nested_aggregate", "PIVOT gives a table that was released. Select from it alone.", query)
    refuse_after_noise(query)
    if query.order or query.limit is not None:
        refuse("limit_in_rows", "ORDER BY and LIMIT would choose among people. Move them to the end.", query)
    source = source_of(query, policy)
    if not aggregates(query):
        if query.having is not None:
            refuse("clause", "HAVING follows GROUP BY. Use WHERE.", query.having)
        return _project(query, source, alias)
    if is_per_unit(query, source):
        return resolve_per_unit(query, source, alias)
    return refuse("nested_aggregate", "A subquery is row-wise, or has GROUP BY the unit alone.", query)


def _project(query: Select, source: Relation, alias: str) -> Project:
    scope = Scope(source.fields)
    outputs: list[tuple[str, Expression]] = []
    for each in query.outputs:
        if each.expression is not None:
            outputs.append((each.name, fit_integer(assign_types(each.expression, scope))))
            continue
        outputs.extend(
            (found.name, Name(found.name, found.table, type=found.type))
            for found in source.fields
            if found.table[0] != "#" and (each.table is None or each.table.lower() == found.table.lower())
        )
    _check_names([name for name, _ in outputs], query)
    fields = tuple(_field_of(name, expression, alias, scope) for name, expression in outputs)
    return Project(source, tuple(outputs), alias, fields)


def _field_of(name: str, expression: Expression, alias: str, scope: Scope) -> Field:
    if isinstance(expression, Name):
        return replace(scope.field(expression), table=alias, name=name)
    kind = expression.type or "text"
    domain = domain_of(expression, scope)
    nullable = not is_present(expression, scope)
    return Field(alias, name, kind, range=scope.range(expression), keys=domain, nullable=nullable)


def _check_names(names: list[str], where: Select) -> None:
    seen: set[str] = set()
    for name in names:
        if name.lower() in seen:
            refuse("duplicate_column", f"Two columns are named {name!r}. Rename one with AS.", where)
        seen.add(name.lower())


def _stack(query: Union, alias: str, policy: Policy) -> Stacked:
    members = []
    for each in query.members:
        member = resolve_rows(each, alias, policy)
        if not isinstance(member, Project):
            refuse("set_operation", "UNION ALL takes row-wise SELECTs.", each)
        if has_each_row(member) or is_public(member):
            refuse("set_operation", "UNION ALL takes tables whose unit is a column.", each)
        members.append(member)
    first = members[0]
    if len({_unit_type(member) for member in members}) > 1:
        refuse("set_operation", "UNION ALL takes tables whose units are of one type.", query)
    for member in members[1:]:
        if [each.type for each in member.fields] != [each.type for each in first.fields]:
            refuse("type", "The members of UNION ALL must have the same number and types of columns.", query)
    columns = zip(*(member.fields for member in members), strict=True)
    return Stacked(tuple(members), alias, tuple(_merge(column) for column in columns))


def _unit_type(relation: Relation) -> str | None:
    scan = unit_scan(relation)
    found = None if scan.unit is None else Scope(scan.fields).find(Name(scan.unit))
    return None if found is None else found.type


def _merge(fields: tuple[Field, ...]) -> Field:
    """Return what holds of a column in every member of a union."""
    ranges = [each.range for each in fields if each.range is not None]
    hull = (min(low for low, _ in ranges), max(high for _, high in ranges)) if ranges else None
    labels = [each.keys for each in fields if each.keys is not None]
    keys = tuple(dict.fromkeys(key for each in labels for key in each))
    return replace(
        fields[0],
        range=hull if len(ranges) == len(fields) else None,
        bounds=fields[0].bounds if len({each.bounds for each in fields}) == 1 else None,
        keys=keys if len(labels) == len(fields) else None,
        is_unit=all(each.is_unit for each in fields),
        nullable=any(each.nullable for each in fields),
    )


@dataclass
class Release:
    """Turns expressions over keys and aggregates into expressions over slots, collecting the aggregates."""

    scope: Scope
    keys: list[Expression]
    aliases: dict[str, Expression] = field(default_factory=dict)
    aggregates: list[Aggregate] = field(default_factory=list)

    def lower(self, node: Expression) -> Expression:
        """Return the expression over slots; a bare column that is no key is refused."""
        if isinstance(node, Aggregate):
            days = of_days(node, self.scope)
            if days is not None:
                return as_date(self._slot(type_aggregate(days, self.scope)))
            return derive(type_aggregate(node, self.scope), self.scope, self._slot)
        if isinstance(node, Window):
            refuse(*ADVICE["Window"], node)
        if isinstance(node, Scalar):
            refuse(*ADVICE["Subquery"], node)
        if isinstance(node, Name) and node.table is None and self._alias(node) is not None:
            return self._alias(node)  # type: ignore[return-value]
        typed = None if has_aggregate(node) else self._as_key(node)
        if typed is not None:
            return typed
        if isinstance(node, Literal):
            return assign_types(node, self.scope)
        if isinstance(node, Name):
            self.scope.field(node)
            message = (
                f"Column {node.name!r} is neither in GROUP BY nor in an aggregate. Write it in one of them."
            )
            refuse("not_grouped", message, node)
        return rebuild(node, self.lower)

    def _alias(self, node: Name) -> Expression | None:
        found = self.aliases.get(node.name.lower())
        return found if found is not None and self.scope.find(node) is None else None

    def _as_key(self, node: Expression) -> Expression | None:
        if isinstance(node, Literal):
            return None
        try:
            typed = assign_types(node, self.scope)
        except UnsupportedQuery:
            return None
        return Slot(self.keys.index(typed), type=typed.type, place=node.place) if typed in self.keys else None

    def _slot(self, node: Aggregate) -> Slot:
        if node not in self.aggregates:
            self.aggregates.append(node)
        return Slot(len(self.keys) + self.aggregates.index(node), type=node.type, place=node.place)


def _refuse_unknown(expression: Expression | None, scope: Scope) -> None:
    """Refuse a name that is not known, which is what to mend first."""
    if expression is not None:
        try:
            assign_types(expression, scope)
        except UnsupportedQuery as error:
            if error.fields.get("reason") == "unknown_column":
                raise


def _resolve_question(query: Select, policy: Policy) -> Question:
    rows = source_of(query, policy)
    if is_public(rows):
        refuse("public_table", "A question is about a private table. Public tables are joined to it.", query)
    if not aggregates(query):
        for each in query.outputs:
            if each.expression is not None and has_window(each.expression):
                refuse(*ADVICE["Window"], each.expression)
            _refuse_unknown(each.expression, Scope(rows.fields))
        first = query.outputs[0].expression
        refuse("rows", "A question must aggregate: no row is shown. Use COUNT, SUM, AVG ...", first or query)
    scope = Scope(rows.fields)
    aliases = {each.name.lower(): each.expression for each in query.outputs if each.expression is not None}
    keys = [assign_types(expand(key, aliases, scope), scope) for key in query.keys]
    release = Release(scope, keys)
    columns = tuple((each.name, _lower_output(each, release)) for each in query.outputs)
    _check_names([name for name, _ in columns], query)
    release.aliases = {name.lower(): expression for name, expression in columns}
    having = None if query.having is None else as_condition(release.lower(query.having))
    order = tuple(Term(release.lower(each.expression), each.descending) for each in query.order)
    _check_released(columns, having, order)
    if not release.aggregates:
        refuse("no_aggregate", "Listing keys is a question too: add COUNT(*) or COUNT(DISTINCT unit).", query)
    resolved = [Key(key, domain_of(key, scope)) for key in keys]
    _refuse_unit_key(resolved, scope, query)
    return Question(
        rows=rows,
        keys=tuple(resolved),
        sets=query.sets if query.sets is not None else (tuple(range(len(keys))),),
        measures=tuple(_measure(each, scope) for each in release.aggregates),
        columns=columns,
        having=having,
        order=order,
        limit=query.limit,
    )


def expand(key: Expression, aliases: dict[str, Expression], scope: Scope) -> Expression:
    """Return a GROUP BY term that names an output means that output, unless a column has the name."""
    if isinstance(key, Name) and key.table is None and scope.find(key) is None:
        meant = aliases.get(key.name.lower(), key)
        return key if meant == key else replace(meant, place=key.place)
    return key


def _lower_output(output: Output, release: Release) -> Expression:
    if output.expression is None:
        refuse("star", "* is allowed in COUNT(*) and alone in a row-wise subquery only.", output)
    return release.lower(output.expression)


def _refuse_unit_key(keys: list[Key], scope: Scope, query: Select) -> None:
    for key, written in zip(keys, query.keys, strict=True):
        if isinstance(key.expression, Name) and scope.field(key.expression).is_unit and key.domain is None:
            refuse(
                "group_by_unit",
                "A group for each unit would show people. Write it in a subquery and ask about that: "
                "SELECT AVG(n) AS mean FROM (SELECT unit, COUNT(*) AS n FROM t GROUP BY unit) AS each.",
                written,
            )


def _measure(aggregate: Aggregate, scope: Scope) -> Measure:
    argument = aggregate.argument
    if argument is None:
        return Measure(aggregate)
    if aggregate.function not in ("mode", "count_distinct"):
        bounds = None if aggregate.function == "count" else scope.range(argument)
        if bounds is None and is_day_number(argument) and aggregate.function == "quantile":
            bounds = (
                CALENDAR  # not for MIN and MAX: beyond all dates of the data any day is as good an answer
            )
        counted = Scope(where_true(scope.fields, aggregate.condition))
        return Measure(aggregate, range=bounds, present=is_present(argument, counted))
    domain = domain_of(argument, scope)
    if domain is None and aggregate.function == "count_distinct":
        refuse("count_distinct", "DISTINCT counts the unit, keys that the owner declared, or CASE labels. "
               "GROUP BY the column to find its private keys.", aggregate)  # fmt: skip
    if domain is None:
        refuse("mode_keys", "MODE needs keys that the owner declared, or CASE labels. GROUP BY and COUNT(*) "
               "with LIMIT 1 asks the same of private keys.", aggregate)  # fmt: skip
    return Measure(aggregate, domain=tuple(label for label in domain if label is not None))


def _check_released(
    columns: Sequence[tuple[str, Expression]], having: Expression | None, order: Sequence[Term]
) -> None:
    """Refuse what is computed from released values where it doubles with every SELECT around it."""
    rest = [] if having is None else [having]
    check_size(*(each for _, each in columns), *rest, *(each.expression for each in order))


def read_question(question: str | Builder | Query, policy: Policy) -> Question:
    """Return the resolved question, whichever way it was asked."""
    return resolve(read_tree(question), policy, text=question if isinstance(question, str) else None)


def read_tree(question: str | Builder | Query) -> Query:
    """Return the tree of a question that was asked as text, with a builder, or as a tree."""
    if isinstance(question, str):
        return read_sql(question)
    if isinstance(question, Builder):
        return question.query
    if isinstance(question, Select | Union | Pivot):
        return question
    raise InvalidParameter(f"a question must be SQL text or a builder, got {type(question).__name__}.")
