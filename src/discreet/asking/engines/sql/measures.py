"""What a row adds to each measure, and which group it is in: the whole numbers that are then bounded."""

from sqlglot import exp

from discreet.asking.engines.sql import (
    between,
    binary,
    call,
    cast,
    column,
    every,
    is_known,
    real,
    when,
    whole,
)
from discreet.asking.engines.sql.dialect import Dialect
from discreet.asking.engines.sql.expressions import Columns, build
from discreet.asking.engines.sql.relations import place
from discreet.asking.planning import Bernstein, ExactMeasure, RowCount, Sum, Tally, UnitCount
from discreet.asking.policy import Type, type_of
from discreet.asking.queries import Domain, Key

PLAIN = (RowCount(), UnitCount())  # the same for every row


def key_of(key: Key, columns: Columns, dialect: Dialect) -> exp.Expression:
    """Return the value of a key."""
    built = build(key.expression, columns, dialect)
    # Adding zero makes -0.0 and 0.0 one label.
    return binary(exp.Add, built, real(0.0)) if key.expression.type == "number" else built


def position_of(
    select: exp.Select,
    key: exp.Expression,
    domain: Domain,
    dialect: Dialect,
    *,
    name: str,
    rest: bool = False,
) -> exp.Expression:
    """Return the position of a key among its labels, which are joined under a name. Rows with another key are
    left out, or, with `rest`, get the position after the last one."""
    last = whole(len(domain)) if rest else None
    whole_numbers = all(type(label) is int for label in domain)
    if whole_numbers and list(domain) == list(range(domain[0], domain[0] + len(domain))):  # type: ignore[arg-type,operator]
        low, high = whole(int(domain[0])), whole(int(domain[-1]))  # type: ignore[arg-type]
        inside = between(key, low, high)
        if not rest:
            select.where(inside, copy=False)
        # Tested again: an engine may compute a column of rows that it leaves out.
        return when((inside.copy(), cast(binary(exp.Sub, key.copy(), low.copy()), "BIGINT")), otherwise=last)
    rows = [
        exp.Tuple(expressions=[dialect.literal(label, _type_of(domain)), whole(position)])
        for position, label in enumerate(domain)
    ]
    alias = exp.TableAlias(
        this=exp.to_identifier(name), columns=[exp.to_identifier("label"), exp.to_identifier("at")]
    )
    values = exp.Values(expressions=rows, alias=alias)
    label = column("label", name)
    same = dialect.same(key, label, _type_of(domain)) if None in domain else binary(exp.EQ, key, label)
    select.join(values, on=same, join_type="left" if rest else "", copy=False)
    place = column("at", name)
    return exp.Coalesce(this=place, expressions=[last]) if last is not None else place


def _type_of(domain: Domain) -> Type | None:
    return next((type_of(label) for label in domain if label is not None), None)


def partial_sum(measure: ExactMeasure, name: str, dialect: Dialect) -> exp.Expression:
    """Return a measure of one unit in one group."""
    if measure == RowCount():
        return exp.Count(this=exp.Star())
    if measure == UnitCount():
        return whole(1)
    if isinstance(measure, UnitCount):
        return call("max", column(name))
    return total_of(measure, column(name), dialect)


def total_of(measure: ExactMeasure, number: exp.Expression, dialect: Dialect) -> exp.Expression:
    """Return the sum of a measure's numbers. One that surely fits is kept in 64 bits, for speed."""
    return dialect.small_total(number) if is_small(measure) else dialect.total(number)


def is_small(measure: ExactMeasure) -> bool:
    """Return whether a measure's sums surely fit in 64 bits."""
    # Times 2^40 rows is below 2^63; (B5) for the rest.
    return not isinstance(measure, Sum | Bernstein) or measure.largest <= 2**22


def measured(measure: ExactMeasure, columns: Columns, dialect: Dialect) -> exp.Expression:
    """Return the whole number that a row adds: step 2."""
    condition = None if measure.condition is None else build(measure.condition, columns, dialect)
    if isinstance(measure, Sum | Bernstein):
        value = place(measure.lattice, build(measure.argument, columns, dialect), dialect)
        if isinstance(measure, Bernstein):
            value = dialect.let(value, lambda steps: _part(measure, steps))
        else:
            value = _powered(measure, value)
        return value if condition is None else when((condition, value))
    tests = [] if condition is None else [condition]
    if isinstance(measure, RowCount) and measure.argument is not None:
        tests.append(is_known(build(measure.argument, columns, dialect)))
    return when((every(tests), whole(1)), otherwise=whole(0)) if tests else whole(1)


def _powered(measure: Sum, value: exp.Expression) -> exp.Expression:
    if measure.centre:
        value = binary(exp.Sub, value, whole(measure.centre))
    return binary(exp.Mul, value, value.copy()) if measure.power == 2 else value


def _part(measure: Bernstein, steps: exp.Expression) -> exp.Expression:
    """Return what `Bernstein.of` says of a step, in 64 bits if all of it has them."""
    lattice = measure.lattice
    kind = "BIGINT" if max(lattice.largest, measure.largest) < 2**62 else "HUGEINT"
    above = binary(exp.Sub, cast(steps.copy(), kind), whole(lattice.lowest, kind))
    below = binary(exp.Sub, whole(lattice.highest, kind), cast(steps.copy(), kind))
    factors = [above] * measure.power + [below] * (measure.degree - measure.power)
    if len(factors) == 1:
        return factors[0]
    product = binary(exp.Mul, factors[0].copy(), factors[1].copy())
    return binary(exp.Mul, whole(2, kind), product) if measure.power == 1 else product


def code_of(measure: ExactMeasure | Tally, number: exp.Expression) -> exp.Expression:
    """Return the number that a row adds, as one >= 0 for the order: 0 where it adds nothing."""
    if measure in PLAIN:
        return whole(2)
    if isinstance(measure, Tally):  # steps of a coarse lattice, or positions
        return binary(exp.Add, number, whole(1))
    low, far = 0, 1
    if isinstance(measure, Bernstein):
        far = measure.largest
    if isinstance(measure, Sum):
        low, far = (measure.lattice.lowest - measure.centre if measure.power == 1 else 0), measure.largest
    kind = "BIGINT" if far < 2**61 else "HUGEINT"
    code = binary(exp.Sub, number, whole(low - 1, kind))
    return exp.Coalesce(this=code, expressions=[whole(0, kind)])


def tallied(tally: Tally, columns: Columns, dialect: Dialect) -> exp.Expression:
    """Return a row's place on the lattice, or its label, whose position is yet to be found: step 2 for a
    tally."""
    value = build(tally.argument, columns, dialect)
    if tally.lattice is not None:
        value = place(tally.lattice, value, dialect)
    return value if tally.condition is None else when((build(tally.condition, columns, dialect), value))
