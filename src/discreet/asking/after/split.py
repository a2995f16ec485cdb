"""Where the noise is: one question about people, and what is selected from its answer.

`split` takes a query apart. Inside is a question, as every question is: it is what is charged, stored and
found again. Around it is whatever SQL can do with a table, computed from the released rows alone.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from discreet.asking.policy import Policy
from discreet.asking.queries.functions import AFTER
from discreet.asking.queries.nodes import (
    Aggregate,
    Call,
    Case,
    Expression,
    Literal,
    Name,
    Nested,
    Output,
    Pivot,
    Query,
    Scalar,
    Select,
    Source,
    TableName,
    Union,
    Window,
    children,
    default_name,
    refuse,
)
from discreet.asking.queries.question import domain_of
from discreet.asking.queries.resolve import expand, is_question, is_released, source_of
from discreet.asking.queries.types import Scope, assign_types

RELEASED = "#released"  # the answer's name in what is around it: no table has it
SEVERAL = (
    "several_answers",
    "This needs the answers to two different questions. Ask them as a list, under one charge, or select "
    "from one answer: WITH t AS (SELECT ... GROUP BY ...) SELECT ... FROM t; a total is "
    "SUM(COUNT(*)) OVER ().",
)


Lift: TypeAlias = Callable[[Expression], Expression]


class Split(NamedTuple):
    """A question, and what is selected from its answer; None where it is the answer itself."""

    question: Query
    around: Query | None


def split(query: Query, policy: Policy) -> Split:
    """Return the question inside a query, and what is around it."""
    if not isinstance(query, Pivot) and not is_released(query, policy):
        if not isinstance(query, Select) or not _is_more(query):
            return Split(query, None)  # what comes before the noise is resolved, or refused, as it stands
        if not is_question(query, policy):
            return Split(query, None)
    splitter = _Splitter(policy)
    around = splitter.lift(query)
    distinct = list(dict.fromkeys(splitter.found))
    if len(distinct) == 1:
        return Split(distinct[0], around)
    question, names = _merge(distinct, query)
    by_question = dict(zip(distinct, names, strict=True))
    return Split(question, _renamed(around, [by_question[each] for each in splitter.found]))


def _merge(found: list[Select], query: Query) -> tuple[Select, list[dict[str, str]]]:
    """Return one question that has the numbers of several about the same rows, and their names in it.

    The condition of each becomes the FILTER of its aggregates; they share the price as columns do.
    """
    plain = [replace(each, outputs=(), where=None, place=None) for each in found]
    single = not plain[0].keys and plain[0].sets is None and not plain[0].order and plain[0].limit is None
    if any(each != plain[0] for each in plain) or not single or found[0].having is not None:
        refuse(*SEVERAL, query)
    outputs: list[Output] = []
    names: list[dict[str, str]] = []
    for number, each in enumerate(found):
        mine = {}
        for output in each.outputs:
            name = f"{output.name}_{number + 1}"
            mine[output.name] = name
            outputs.append(Output(name, _filtered(output.expression, each.where), place=output.place))
        names.append(mine)
    wheres = [each.where for each in found]
    where = None if None in wheres else wheres[0]
    for condition in wheres[1:] if where is not None else ():
        where = Call("or", (where, condition))  # type: ignore[arg-type]
    return replace(found[0], outputs=tuple(outputs), where=where), names


def _filtered(node: Expression | None, where: Expression | None) -> Expression | None:
    if node is None or where is None:
        return node

    def lift(each: Expression) -> Expression:
        if not isinstance(each, Aggregate):
            return rebuilt(each, lift)
        both = where if each.condition is None else Call("and", (each.condition, where))
        return replace(each, condition=both)

    return lift(node)


def _renamed(query: Query, names: list[dict[str, str]]) -> Query:
    """Return the query with each place of an answer as its part of the one that has all of them."""

    def change(source: Source) -> Source:
        if isinstance(source, Nested):
            return replace(source, query=over(source.query))
        assert isinstance(source, TableName)
        mine = names[int(source.alias)]
        outputs = tuple(Output(name, Name(there)) for name, there in mine.items())
        return Nested(Select(outputs, TableName(RELEASED, RELEASED)), RELEASED)

    def over(inner: Query) -> Query:
        if isinstance(inner, Union):
            return replace(inner, members=tuple(over(each) for each in inner.members))  # type: ignore[misc]
        assert isinstance(inner, Select)
        lifted = replace(inner, source=change(inner.source))
        return _replace_all(lifted, lambda node: replace(node, query=over(node.query)))  # type: ignore[attr-defined, call-arg]

    return over(query)


def _is_more(query: Select) -> bool:
    """Return whether a SELECT with aggregates asks for more than arithmetic on each of its rows."""
    if query.qualify is not None or query.offset or query.distinct:
        return True
    if any(each.nulls_first for each in query.order):
        return True
    ordered = [each.expression for each in query.order]
    shown = [each.expression for each in query.outputs]
    every = [each for each in (*shown, query.having, *ordered) if each is not None]
    return any(_follows(node) for each in every for node in _above(each))


def _above(node: Expression) -> Iterator[Expression]:
    """Yield an expression and the parts inside it that are no parts of an aggregate."""
    yield node
    if not isinstance(node, Aggregate):
        for each in children(node):
            yield from _above(each)


def _follows(node: Expression) -> bool:
    return isinstance(node, Window | Scalar) or (isinstance(node, Call) and node.function in AFTER)


@dataclass
class _Splitter:
    policy: Policy
    found: list[Select] = field(default_factory=list)  # in the order of their places

    def lift(self, query: Query) -> Query:
        """Return a query over the answer instead of over the question, which is found."""
        if isinstance(query, Pivot):
            return self._pivot(query)
        if isinstance(query, Union):
            return replace(query, members=tuple(self._member(each) for each in query.members))
        if is_released(query, self.policy):
            assert isinstance(query.source, Nested)
            source = Nested(self.lift(query.source.query), query.source.alias, place=query.source.place)
            return self._over(query, source)
        if not _is_more(query):
            return Select((Output("*", None),), self._place(query))
        return self._take_apart(query)

    def _place(self, question: Select) -> TableName:
        """Return where the answer to a question stands; its alias is the question's number."""
        self.found.append(question)
        return TableName(RELEASED, str(len(self.found) - 1))

    def _member(self, query: Select) -> Select:
        if not is_question(query, self.policy):
            refuse("set_operation", "UNION ALL unites answers, or rows: not both.", query)
        lifted = self.lift(query)
        assert isinstance(lifted, Select)
        return lifted

    def _over(self, query: Select, source: Source) -> Select:
        lifted = _replace_all(query, self._scalar)
        return replace(lifted, source=source)

    def _scalar(self, node: Expression) -> Expression:
        assert isinstance(node, Scalar)
        if not is_question(node.query, self.policy):
            refuse("subquery", "A subquery in an expression is of what was released: one aggregate.", node)
        lifted = self.lift(node.query)
        assert isinstance(lifted, Select)
        return replace(node, query=lifted)

    def _take_apart(self, query: Select) -> Select:
        """Return what surrounds the keys and aggregates of one SELECT; they are the question."""
        scope = Scope(source_of(query, self.policy).fields)
        aliases = {
            each.name.lower(): each.expression for each in query.outputs if each.expression is not None
        }
        keys = tuple(expand(key, aliases, scope) for key in query.keys)
        pieces = _Pieces(query, keys, scope, self._scalar)
        outputs = tuple(pieces.output(each) for each in query.outputs)
        having = None if query.having is None else pieces.lift(query.having)
        order = tuple(replace(each, expression=pieces.lift(each.expression)) for each in query.order)
        qualify = None if query.qualify is None else pieces.lift(query.qualify)
        inner = pieces.outputs()
        place = self._place(Select(inner, query.source, query.where, keys, query.sets, place=query.place))
        return replace(query, outputs=outputs, source=place, where=having, keys=(),
                       sets=None, having=None, order=order, qualify=qualify)  # fmt: skip

    def _pivot(self, pivot: Pivot) -> Select:
        """Return a column for each label: those that are written out, or that the owner declared."""
        if isinstance(pivot.source, Nested) and is_question(pivot.source.query, self.policy):
            lifted = self.lift(pivot.source.query)
            labels = pivot.labels or self._labels_inside(pivot, lifted)
            outputs = [*_named(pivot.keys), *_columns(pivot, labels)]
            return Select(
                tuple(outputs), Nested(lifted, pivot.source.alias), None, pivot.keys, place=pivot.place
            )
        keys = (*pivot.keys, pivot.on)
        inner = Select((*_named(keys), *pivot.using), pivot.source, None, keys, place=pivot.place)
        labels = pivot.labels or self._labels(pivot, inner)
        place = self._place(inner)
        names = [each.name for each in _named(keys)]
        told = replace(
            pivot,
            on=Name(names[-1]),
            using=tuple(Output(each.name, Aggregate("maximum", Name(each.name))) for each in pivot.using),
        )
        outputs = [*(Output(name, Name(name)) for name in names[:-1]), *_columns(told, labels)]
        return Select(tuple(outputs), place, None, tuple(map(Name, names[:-1])), place=pivot.place)

    def _labels(self, pivot: Pivot, inner: Select) -> tuple[Literal, ...]:
        scope = Scope(source_of(inner, self.policy).fields)
        domain = domain_of(assign_types(pivot.on, scope), scope)
        if domain is None:
            refuse(
                "pivot",
                "The columns of an answer do not depend on the data: PIVOT takes declared keys, or "
                "labels, as ON x IN ('a', 'b').",
                pivot.on,
            )
        return tuple(Literal(each) for each in domain if each is not None)

    def _labels_inside(self, pivot: Pivot, lifted: Query) -> tuple[Literal, ...]:
        inner, name = self.found[-1], pivot.on
        plain = (
            isinstance(lifted, Select) and isinstance(lifted.source, TableName) and len(lifted.outputs) == 1
        )
        for each in inner.outputs if plain else ():
            if (
                isinstance(name, Name)
                and each.name.lower() == name.name.lower()
                and each.expression is not None
            ):
                return self._labels(replace(pivot, on=each.expression), inner)
        return refuse(
            "pivot", "PIVOT of an answer takes its labels written out, as ON x IN ('a', 'b').", name
        )


def _named(keys: Sequence[Expression]) -> list[Output]:
    return [Output(default_name(key, place), key) for place, key in enumerate(keys)]


def _columns(pivot: Pivot, labels: Sequence[Literal]) -> Iterator[Output]:
    for label in labels:
        for each in pivot.using:
            assert isinstance(each.expression, Aggregate)
            shown = str(label.value)
            name = shown if len(pivot.using) == 1 else f"{shown}_{each.name}"
            test: Expression = Call("equal", (pivot.on, label))
            if each.expression.condition is not None:
                test = Call("and", (test, each.expression.condition))
            yield Output(name, replace(each.expression, condition=test))


@dataclass
class _Pieces:
    """The keys and aggregates of one SELECT, each with the name that it has in the answer."""

    query: Select
    keys: tuple[Expression, ...]
    scope: Scope
    scalar: Lift
    names: dict[Expression, str] = field(default_factory=dict)
    outer: dict[str, Expression] = field(default_factory=dict)

    def output(self, output: Output) -> Output:
        """Return one column over the answer, and remember what it is called."""
        if output.expression is None:
            refuse("star", "* is allowed in COUNT(*) and of subqueries only. Name the columns.", output)
        self._prefer(output)
        lifted = self.lift(output.expression)
        self.outer.setdefault(output.name.lower(), lifted)
        return replace(output, expression=lifted)

    def _prefer(self, output: Output) -> None:
        """Call a key or aggregate that is shown as it is by the name that it is shown under."""
        assert output.expression is not None
        found = self._piece(output.expression)
        if found is not None and found not in self.names:
            self.names[found] = self._free(output.name)

    def _piece(self, node: Expression) -> Expression | None:
        if isinstance(node, Aggregate):
            return node
        plain = _plain(node)
        return next((key for key in self.keys if _plain(key) == plain), None)

    def _free(self, name: str) -> str:
        taken, wanted, number = {each.lower() for each in self.names.values()}, name, 2
        while wanted.lower() in taken:
            wanted, number = f"{name}_{number}", number + 1
        return wanted

    def _name(self, piece: Expression) -> Name:
        if piece not in self.names:
            self.names[piece] = self._free(default_name(piece, len(self.names)))
        return Name(self.names[piece], place=piece.place)

    def lift(self, node: Expression) -> Expression:
        """Return an expression over the answer's columns."""
        if isinstance(node, Name) and node.table is None and self.scope.find(node) is None:
            known = self.outer.get(node.name.lower())
            if known is not None:
                return known
        piece = self._piece(node)
        if piece is not None:
            return replace(self._name(piece), place=node.place)
        if isinstance(node, Name):
            self.scope.field(node)
            message = (
                f"Column {node.name!r} is neither in GROUP BY nor in an aggregate. Write it in one of them."
            )
            refuse("not_grouped", message, node)
        return self.scalar(node) if isinstance(node, Scalar) else rebuilt(node, self.lift)

    def outputs(self) -> tuple[Output, ...]:
        """Return the columns of the question: what was used, and every key."""
        for key in self.keys:
            self._name(key)
        return tuple(Output(name, piece, place=piece.place) for piece, name in self.names.items())


def _plain(node: Expression) -> Expression:
    """Return an expression in which a name is a name, however it is written."""
    if isinstance(node, Name):
        return Name(node.name.lower())
    return rebuilt(node, _plain)


def rebuilt(node: Expression, lift: Lift) -> Expression:
    """Return an expression whose parts are lifted; what has no parts is as it was."""
    if isinstance(node, Call):
        return replace(node, arguments=tuple(map(lift, node.arguments)))
    if isinstance(node, Case):
        branches = tuple((lift(test), lift(value)) for test, value in node.branches)
        return replace(node, branches=branches, otherwise=lift(node.otherwise))
    if isinstance(node, Window):
        return replace(
            node,
            arguments=tuple(map(lift, node.arguments)),
            condition=None if node.condition is None else lift(node.condition),
            partition=tuple(map(lift, node.partition)),
            order=tuple(replace(each, expression=lift(each.expression)) for each in node.order),
        )
    if isinstance(node, Aggregate):
        return replace(
            node,
            argument=None if node.argument is None else lift(node.argument),
            condition=None if node.condition is None else lift(node.condition),
            other=None if node.other is None else lift(node.other),
        )
    return node


def _replace_all(query: Select, scalar: Lift) -> Select:
    """Return a SELECT with every scalar subquery of its expressions changed."""

    def lift(node: Expression) -> Expression:
        return scalar(node) if isinstance(node, Scalar) else rebuilt(node, lift)

    def maybe(node: Expression | None) -> Expression | None:
        return None if node is None else lift(node)

    return replace(
        query,
        outputs=tuple(replace(each, expression=maybe(each.expression)) for each in query.outputs),
        where=maybe(query.where),
        keys=tuple(map(lift, query.keys)),
        having=maybe(query.having),
        order=tuple(replace(each, expression=lift(each.expression)) for each in query.order),
        qualify=maybe(query.qualify),
    )
