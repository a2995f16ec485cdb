"""Relations as SQL: every relation is a SELECT of columns c0, c1, ... and, if private, of `unit`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from discreet.asking.engines.sql import (
    SQL_TYPES,
    binary,
    call,
    cast,
    column,
    every,
    is_known,
    named,
    real,
    when,
    whole,
)
from discreet.asking.engines.sql.dialect import Dialect, Typed, hash_of
from discreet.asking.engines.sql.expressions import Columns, build
from discreet.asking.planning import Lattice
from discreet.asking.policy import Type
from discreet.asking.queries import (
    Aggregate,
    Expression,
    Filtered,
    Joined,
    Name,
    PerUnit,
    Project,
    Range,
    Relation,
    Scan,
    Slot,
    Stacked,
)
from discreet.errors import InternalError

ScanColumn = Callable[[str, str], exp.Expression]  # table and column -> the value, normalised
UNIT = "unit"


@dataclass(frozen=True)
class Selected:
    """A SELECT, and the names its columns go by: (table alias, column) -> c0, c1, ..."""

    select: exp.Select
    names: Mapping[tuple[str, str], str]
    types: Mapping[tuple[str, str], Type]
    private: bool

    def columns(self, alias: str) -> Columns:
        """Return how expressions name these columns when the SELECT is in FROM under an alias."""

        def find(node: Expression) -> exp.Expression:
            assert isinstance(node, Name)
            assert node.table is not None
            return column(self.names[node.table, node.name], alias)

        return find

    def source(self, alias: str) -> exp.Expression:
        """Return the SELECT as a subquery."""
        return self.select.subquery(alias, copy=False)


@dataclass(frozen=True)
class Relations:
    """Builds the SQL of relations; `tables` says where a table is, `value` reads one of its columns.

    The salt chooses among a unit's rows where a join has a cap.
    """

    tables: Mapping[str, exp.Expression]
    value: ScanColumn
    dialect: Dialect
    hashing: str
    salt: int = 0

    def build(self, node: Expression, columns: Columns) -> exp.Expression:
        """Return the SQL of an expression."""
        return build(node, columns, self.dialect)

    def select(self, relation: Relation) -> Selected:
        """Return the SELECT of a relation."""
        if isinstance(relation, Scan):
            return self._scan(relation)
        if isinstance(relation, Filtered):
            return self._filter(relation)
        if isinstance(relation, Project):
            return self._project(relation)
        if isinstance(relation, Joined):
            return self._join(relation)
        if isinstance(relation, Stacked):
            return self._stack(relation)
        return self._per_unit(relation)

    def _named(self, relation: Relation, *, private: bool) -> Selected:
        names = {(field.table, field.name): f"c{index}" for index, field in enumerate(relation.fields)}
        types = {(field.table, field.name): field.type for field in relation.fields}
        return Selected(exp.Select(), names, types, private)

    def _scan(self, scan: Scan) -> Selected:
        # (R1); a public table is one row for each key, as (R5) asks.
        made = self._named(scan, private=scan.public_key is None)
        select = exp.Select().from_(self.tables[scan.table].copy(), copy=False)
        for pair, short in made.names.items():
            name = pair[1]
            select.select(named(self.read(scan.table, name, made.types[pair]), short), copy=False)
        if scan.public_key is not None:
            return _first_of_each(replace(made, select=select), scan)
        select.select(named(self._unit(scan), UNIT), copy=False)
        return Selected(select, made.names, made.types, made.private)

    def read(self, table: str, name: str, kind: Type) -> exp.Expression:
        """Return the value of a column that questions compute on; whose a row is, is read in full."""
        value = self.value(table, name)
        return self.dialect.cut(value) if kind == "text" else value

    def _unit(self, scan: Scan) -> exp.Expression:
        if scan.each_row:
            return whole(0)  # each row is its own unit: there is nothing to bound, only something to be there
        if scan.unit is None:
            return cast(exp.null(), "BIGINT")  # reached by a foreign key, in a join above
        return self.value(scan.table, scan.unit)

    def _filter(self, relation: Filtered) -> Selected:
        # (R2): row by row.
        source = self.select(relation.source)
        select = exp.Select().from_(source.source("s"), copy=False)
        select.select(exp.Star(), copy=False)
        select.where(self.build(relation.condition, source.columns("s")), copy=False)
        return Selected(select, source.names, source.types, source.private)

    def _project(self, relation: Project) -> Selected:
        # (R2): row by row.
        source = self.select(relation.source)
        made = self._named(relation, private=source.private)
        select = exp.Select().from_(source.source("s"), copy=False)
        for index, (_, expression) in enumerate(relation.outputs):
            kind = SQL_TYPES[relation.fields[index].type]
            built = self.build(expression, source.columns("s"))
            select.select(named(cast(built, kind), f"c{index}"), copy=False)
        if source.private:
            select.select(named(column(UNIT, "s"), UNIT), copy=False)
        return Selected(select, made.names, made.types, source.private)

    def _join(self, relation: Joined) -> Selected:
        sides = {"l": self.select(relation.left), "r": self.select(relation.right)}
        if relation.cap is not None:  # (R6): each side is cut first
            sides = {
                alias: self._cap(side, relation.cap, number)
                for number, (alias, side) in enumerate(sides.items())
            }
        private = any(side.private for side in sides.values())
        made = self._named(relation, private=private)
        select = exp.Select().from_(sides["l"].source("l"), copy=False)
        on = [
            binary(
                exp.EQ, self.build(one, sides["l"].columns("l")), self.build(other, sides["r"].columns("r"))
            )
            for one, other in relation.on
        ]
        if relation.one_unit:  # (R6), (R8): a pair is of one unit
            on.append(binary(exp.EQ, column(UNIT, "l"), column(UNIT, "r")))
        select.join(sides["r"].source("r"), on=every(on), join_type=relation.kind, copy=False)
        for alias, side in sides.items():
            for pair, short in side.names.items():
                select.select(named(column(short, alias), made.names[pair]), copy=False)
        if private:  # (R7): the unit of the side that the key leads to
            select.select(named(column(UNIT, "l" if relation.unit_from == "left" else "r"), UNIT), copy=False)
        return Selected(select, made.names, made.types, private)

    def _cap(self, side: Selected, cap: int, number: int) -> Selected:
        """Return at most `cap` rows of each unit: numbered in the order of their values, kept in that of a
        hash.
        """
        # (C3): the number takes the place of x in (C1).
        values = [column(side.names[pair], "s") for pair in sorted(side.names)]
        names = [*side.names.values(), UNIT]
        numbered = exp.Select().from_(side.source("s"), copy=False).select(exp.Star(), copy=False)
        numbered.where(is_known(column(UNIT, "s")), copy=False)
        numbered.select(named(row_number([column(UNIT, "s")], values), "number"), copy=False)
        own = column("number", "v")
        mixed: list[Typed] = [(whole(number), None), (column(UNIT, "v"), None), (own, None)]
        order = [hash_of(self.dialect, self.hashing, self.salt, mixed), own.copy()]
        ranked = exp.Select().from_(numbered.subquery("v", copy=False), copy=False)
        ranked.select(*(column(name, "v") for name in names), copy=False)
        ranked.select(named(row_number([column(UNIT, "v")], order), "place"), copy=False)
        select = exp.Select().from_(ranked.subquery("k", copy=False), copy=False)
        select.select(*(column(name, "k") for name in names), copy=False)
        select.where(binary(exp.LTE, column("place", "k"), whole(cap)), copy=False)
        return Selected(select, side.names, side.types, side.private)

    def _stack(self, relation: Stacked) -> Selected:
        # (R3): a sum of multisets.
        members = [self.select(each) for each in relation.members]
        made = self._named(relation, private=True)
        union: exp.Expression = members[0].select
        for member in members[1:]:
            union = exp.Union(this=union, expression=member.select, distinct=False)
        source = exp.Subquery(this=union, alias=exp.TableAlias(this=exp.to_identifier("s")))
        select = exp.Select().from_(source, copy=False).select(exp.Star(), copy=False)
        return Selected(select, made.names, made.types, private=True)

    def _per_unit(self, relation: PerUnit) -> Selected:
        # (R4): a function of one unit's rows.
        source = self.select(relation.source)
        made = self._named(relation, private=True)
        inner = exp.Select().from_(source.source("s"), copy=False)
        inner.select(named(column(UNIT, "s"), UNIT), copy=False)
        for index, each in enumerate(relation.aggregates):
            total = self._total(each, relation.ranges[index], source.columns("s"))
            inner.select(named(total, f"a{index + 1}"), copy=False)
        inner.where(is_known(column(UNIT, "s")), copy=False)
        inner.group_by(column(UNIT, "s"), copy=False)

        def slot(node: Expression) -> exp.Expression:
            assert isinstance(node, Slot)
            if node.index:
                return column(f"a{node.index}", "u")
            unit = column(UNIT, "u")
            return self.dialect.cut(unit) if node.type == "text" else unit

        select = exp.Select().from_(inner.subquery("u", copy=False), copy=False)
        for index, (_, expression) in enumerate(relation.outputs):
            kind = SQL_TYPES[relation.fields[index].type]
            select.select(named(cast(self.build(expression, slot), kind), f"c{index}"), copy=False)
        select.select(named(column(UNIT, "u"), UNIT), copy=False)
        if relation.condition is not None:
            select.where(self.build(relation.condition, slot), copy=False)
        return Selected(select, made.names, made.types, private=True)

    def _total(self, aggregate: Aggregate, bounds: Range | None, columns: Columns) -> exp.Expression:
        """Return an aggregate of one unit's rows, exact."""
        condition = None if aggregate.condition is None else self.build(aggregate.condition, columns)

        def chosen(node: exp.Expression) -> exp.Expression:
            where = None if condition is None else exp.Where(this=condition.copy())
            return node if where is None else exp.Filter(this=node, expression=where)

        if aggregate.argument is None:
            return chosen(exp.Count(this=exp.Star()))
        argument = self.build(aggregate.argument, columns)
        count = chosen(exp.Count(this=argument.copy()))
        if aggregate.function == "count":
            return count
        if aggregate.function in ("minimum", "maximum"):
            return chosen(call("min" if aggregate.function == "minimum" else "max", argument))
        whole_sum = aggregate.argument.type == "integer"
        lattice = None if whole_sum else Lattice.over(_known(bounds), "number")
        step = argument if lattice is None else place(lattice, argument, self.dialect)
        total = chosen(self.dialect.total(cast(step, "HUGEINT")))
        if whole_sum and aggregate.function == "sum":
            return self.dialect.narrow(total)
        number = self.dialect.widened(total)
        if lattice is not None:
            number = self.dialect.arithmetic(exp.Mul, number, real(float(lattice.step)))
        return number if aggregate.function == "sum" else self.dialect.divide(number, cast(count, "DOUBLE"))


def _first_of_each(public: Selected, scan: Scan) -> Selected:
    """Return one row of a public table for each key, the first by value: unique whatever the table holds."""
    key = next(
        short for (_, name), short in public.names.items() if name.lower() == str(scan.public_key).lower()
    )
    shorts = list(public.names.values())
    numbered = exp.Select().from_(public.source("s"), copy=False).select(exp.Star(), copy=False)
    number = row_number([column(key, "s")], [column(short, "s") for short in shorts])
    numbered.select(named(number, "number"), copy=False)
    select = exp.Select().from_(numbered.subquery("k", copy=False), copy=False)
    select.select(*(column(short, "k") for short in shorts), copy=False)
    select.where(binary(exp.EQ, column("number", "k"), whole(1)), copy=False)
    return replace(public, select=select)


def row_number(partition: list[exp.Expression], order: list[exp.Expression]) -> exp.Expression:
    """Return the place of a row among those of its partition, missing values last."""
    terms = [exp.Ordered(this=each, nulls_first=False) for each in order]
    return exp.Window(
        this=exp.RowNumber(), partition_by=partition, order=exp.Order(expressions=terms), over="OVER"
    )


def _known(bounds: Range | None) -> Range:
    if bounds is None:
        raise InternalError("a sum for each unit must have bounds")
    return bounds


def place(lattice: Lattice, argument: exp.Expression, dialect: Dialect) -> exp.Expression:
    """Return the step of a value, as `Lattice.place` says.

    A missing value stays missing: comparisons with it are not true, and it falls through to itself. Between
    the ends nothing grows by more than half a step, which `discreet.asking.planning.widths` leaves room for.
    """
    if lattice.type == "number":
        low, high = map(real, lattice.ends)
        inside = dialect.let(argument, lambda value: _clamp(value, low, high))
        return cast(dialect.steps(inside, float(1 / lattice.step)), "BIGINT")
    step = int(lattice.step)
    wide = "HUGEINT"
    ends = [whole(end * step, wide) for end in (lattice.lowest, lattice.highest)]
    value = dialect.let(cast(argument, wide), lambda value: _clamp(value, ends[0], ends[1]))
    if step > 1:
        value = dialect.let(value, lambda value: dialect.quotient(_towards(value, step), whole(step, wide)))
    small = max(abs(lattice.lowest), abs(lattice.highest)) < 2**62
    return cast(value, "BIGINT") if small else value


def _towards(value: exp.Expression, step: int) -> exp.Expression:
    """Return what a division towards zero takes to floor(value / step + 1/2), for an even step."""
    down, up = whole(step // 2 - 1, "HUGEINT"), whole(step // 2, "HUGEINT")
    below = binary(exp.LT, value, whole(0, "HUGEINT"))
    return when((below, binary(exp.Sub, value.copy(), down)), otherwise=binary(exp.Add, value.copy(), up))


def _clamp(value: exp.Expression, low: exp.Expression, high: exp.Expression) -> exp.Expression:
    return when(
        (binary(exp.LT, value.copy(), low), low.copy()),
        (binary(exp.GT, value.copy(), high), high.copy()),
        otherwise=value,
    )
