"""Generated questions at the ends of everything, and a person whose rows hold those ends.

`questions` makes trees of every allowed node and function, with literals and nestings at the ends of their
types. `ROWS` are tables in which one person holds both ends of every range, missing values, NaN, infinities
and the types' own ends; `NEIGHBOURS` are the same tables without that person, or with ordinary rows.
"""

import dataclasses
import datetime
import itertools
import math
import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, get_args

from discreet.asking.policy import from_toml
from discreet.asking.queries.functions import CASTS, FUNCTIONS
from discreet.asking.queries.nodes import (
    Aggregate,
    AggregateName,
    Call,
    Case,
    Join,
    Literal,
    Name,
    Nested,
    Node,
    Order,
    Output,
    Select,
    TableName,
    Union,
)

POLICY = from_toml(
    """
[dataset]
id = "extremes"
budget = { epsilon = 1, delta = 1e-6 }

[tables.t]
unit = "person"
max_groups = 2
max_rows = 3
[tables.t.columns]
person = { type = "integer" }
a = { type = "integer", bounds = [-9223372036854775808, 9223372036854775807] }
b = { type = "integer", bounds = [-10, 10] }
x = { type = "number", bounds = [-1e150, 1e150] }
y = { type = "number", bounds = [0, 1] }
z = { type = "number" }
s = { type = "text", keys = ["", "A", "é"] }
w = { type = "text" }
f = { type = "boolean" }
d = { type = "date", bounds = ["0001-01-01", "0001-03-01"] }
m = { type = "timestamp" }

[tables.v]
unit = "visitor"
max_rows = 2
[tables.v.columns]
visitor = { type = "integer" }
n = { type = "integer", bounds = [-9223372036854775808, 9223372036854775807] }

[public.p]
key = "s"
[public.p.columns]
s = { type = "text" }
size = { type = "integer", bounds = [-9223372036854775808, 9223372036854775807] }
"""
)
# The same under limits: one that is found, and where both tables are joined, one that is declared.
LIMITED = dataclasses.replace(
    POLICY,
    tables=tuple(
        dataclasses.replace(each, limit="auto" if each.name == "t" else 5) for each in POLICY.tables
    ),
)
LAST = datetime.datetime(9999, 12, 31, 23, 59, 59, 999999)
WHOLES = [-(2**63), 1 - 2**63, 2**63 - 1, 2**62, 2**31, 2**53 + 1, -1, 0, 1, -10, 10, None]
DOUBLES = [math.inf, -math.inf, math.nan, 1.7976931348623157e308, -1.7976931348623157e308, 5e-324, -5e-324,
           0.0, -0.0, 0.5, 1.0, 1e150, -1e150, 1e300, 2.0**53, 2.0**63, -(2.0**63), None]  # fmt: skip
TEXTS = ["", "A", "a", "é", "🦆", "9223372036854775807", "-9223372036854775808", "9223372036854775808",
         "1e308", "1e999", "-1e-999", "nan", "inf", "0001-01-01", "9999-12-31", "2020-02-30", "true", "%_",
         "\n", "9999-12-31 23:59:59.999999", "x" * 3000, "9" * 200 + ".5e99", None]  # fmt: skip
DAYS = [datetime.date(1, 1, 1), datetime.date(1, 3, 1), datetime.date(9999, 12, 31), None]
MOMENTS = [datetime.datetime(1, 1, 1), LAST, datetime.datetime(2020, 2, 29, 12, 30), None]
HELD: dict[str, list[Any]] = {
    "a": WHOLES, "b": WHOLES, "x": DOUBLES, "y": DOUBLES, "z": DOUBLES, "s": TEXTS, "w": TEXTS,
    "f": [True, False, None], "d": DAYS, "m": MOMENTS,
}  # fmt: skip
KINDS = {"a": "integer", "b": "integer", "x": "number", "y": "number", "z": "number", "s": "text",
         "w": "text", "f": "boolean", "d": "date", "m": "timestamp"}  # fmt: skip
PERSON = 7


def _ordinary(person: int) -> dict[str, Any]:
    return {"person": person, "a": person, "b": person % 5, "x": person / 2, "y": 0.25, "z": 1.5, "s": "A",
            "w": f"w{person}", "f": True, "d": datetime.date(1, 2, person % 20 + 1),
            "m": datetime.datetime(2020, 1, person % 20 + 1)}  # fmt: skip


def _extreme() -> list[dict[str, Any]]:
    """Each value in a row of its own at least once, beside others each time."""
    longest = max(map(len, HELD.values()))
    rows = []
    for shift, index in itertools.product(range(3), range(longest)):
        places = {name: index + shift * place for place, name in enumerate(HELD)}
        rows.append({name: HELD[name][at % len(HELD[name])] for name, at in places.items()})
    return [{"person": PERSON, **row} for row in rows]


def _tables(theirs: list[dict[str, Any]], visits: list[int | None]) -> dict[str, list[dict[str, Any]]]:
    others = [_ordinary(person) for person in (1, 2, 3, 4, 4, 5)]
    return {
        "t": [*others, *theirs],
        "v": [{"visitor": 1, "n": 3}, *({"visitor": PERSON, "n": number} for number in visits)],
        "p": [{"s": "A", "size": 2**63 - 1}, {"s": "é", "size": -(2**63)}, {"s": "", "size": None}],
    }


ROWS = _tables(_extreme(), WHOLES)
NEIGHBOURS = {"absent": _tables([], []), "ordinary": _tables([_ordinary(PERSON)] * 2, [0])}

LITERALS: dict[str, list[Any]] = {
    "integer": [2**63 - 1, -(2**63), 1 - 2**63, 0, 1, -1, 2, 1024, 10**18],
    "number": [1.7976931348623157e308, 5e-324, 1e150, -1e150, 0.0, 0.5, 1e-300, 2.0**63],
    "text": [each for each in TEXTS if each is not None],
    "boolean": [True, False],
    "date": DAYS[:3],
    "timestamp": MOMENTS[:3],
}
PATTERNS = ["", "%", "A%", "_", "%é%", "%9%9%"]
SHAPES = {"integers": ["integer"], "booleans": ["boolean"], "numeric": ["integer", "number"],
          "numbers": ["integer", "number"], "arithmetic": ["integer", "number"], "texts": ["text"],
          "times": ["date", "timestamp"], "clock": ["timestamp"],
          "joined": ["text", "integer", "boolean", "date"],
          "ordered": ["integer", "number", "date", "timestamp"]}  # fmt: skip
EVERY = list(LITERALS)
JOINT = ("correlation", "covariance", "covariance_population", "slope", "intercept")
NUMERIC = ("sum", "average", "variance", "deviation", "quantile", "minimum", "maximum")


class Maker:
    """Makes expressions over the columns of one source."""

    def __init__(self, draw: random.Random, columns: dict[str, str]) -> None:
        self.draw = draw
        self.columns = columns

    def make(self, kind: str, depth: int) -> Any:
        """An expression of a kind, nested at most so deep."""
        if depth == 0 or self.draw.random() < 0.2:
            return self._leaf(kind)
        if self.draw.random() < 0.15:
            parts = [(self.make("boolean", depth - 1), self.make(kind, depth - 1))]
            return Case(tuple(parts), self.make(kind, depth - 1))
        fitting = [name for name, each in FUNCTIONS.items() if (each.gives or kind) == kind]
        fitting = [name for name in fitting if FUNCTIONS[name].gives or kind in self._takes(name)]
        return self.call(self.draw.choice(fitting), depth, kind) if fitting else self._leaf(kind)

    def _takes(self, name: str) -> list[str]:
        return EVERY if FUNCTIONS[name].shape == "same" else SHAPES[FUNCTIONS[name].shape]

    def _leaf(self, kind: str) -> Any:
        known = [name for name, each in self.columns.items() if each == kind]
        if known and self.draw.random() < 0.75:
            return Name(self.draw.choice(known))
        return Literal(self.draw.choice(LITERALS[kind]))

    def call(self, name: str, depth: int, kind: str | None = None, *, of: str | None = None) -> Any:
        """A call of a function; `kind` is what it gives where it gives what it takes, `of` what it takes."""
        function = FUNCTIONS[name]
        if name in ("substr", "width_bucket", "replace", "split_part"):
            return self._written_out(name, depth)
        if name == "like":
            return Call(name, (self.make("text", depth - 1), Literal(self.draw.choice(PATTERNS))))
        if function.shape == "listed":
            kind = self.draw.choice(EVERY)
            listed = tuple(Literal(each) for each in self.draw.sample(LITERALS[kind], 2))
            return Call(name, (self.make(kind, depth - 1), *listed))
        if name == "subtract" and kind in (None, "integer") and self.draw.random() < 0.3:
            return Call(name, (self.make("date", depth - 1), self.make("date", depth - 1)))
        takes = list(CASTS.get(name) or SHAPES.get(function.shape) or EVERY)
        given = kind if function.gives is None and kind in takes else of or self.draw.choice(takes)
        return Call(name, tuple(self.make(given, depth - 1) for _ in range(function.least)))

    def _written_out(self, name: str, depth: int) -> Any:
        if name == "substr":
            places = self.draw.choice([(1,), (2, 2), (1, 0), (2**31 - 1, 2**31 - 1)])
            return Call(name, (self.make("text", depth - 1), *map(Literal, places)))
        if name == "replace":
            texts = self.draw.choice([("9", ""), ("é", "x" * 100), ("0", "%_"), ("A", "é🦆")])
            return Call(name, (self.make("text", depth - 1), *map(Literal, texts)))
        if name == "split_part":
            text, place = self.draw.choice(["9", "-", "é", "\n", " "]), self.draw.choice([1, 2, 100])
            return Call(name, (self.make("text", depth - 1), Literal(text), Literal(place)))
        ends = self.draw.choice([(0, 1), (-(2**63), 2**63 - 1), (-1e300, 1e300), (0.0, 5e-324)])
        value = self.make(self.draw.choice(["integer", "number"]), depth - 1)
        return Call(name, (value, *map(Literal, ends), Literal(self.draw.choice([1, 7, 10_000]))))

    def wide(self) -> Any:
        """A whole number whose range is as wide as ranges may be."""
        wholes = [Name(name) for name, kind in self.columns.items() if kind == "integer"]
        large = Call("multiply", (Literal(2**63 - 1), Literal(2**63 - 1)))
        either = Case(((self.make("boolean", 1), large),), Call("subtract", (Literal(0), large)))
        one = self.draw.choice(wholes)
        return self.draw.choice([either, Call("multiply", (one, one)), Call("negate", (one,)), one])

    def aggregate(self, name: str) -> Aggregate:
        """An aggregate of something that it may be of."""
        condition = self.make("boolean", 1) if self.draw.random() < 0.3 else None
        if name in ("count_rows", "count_units"):
            argument = Name("person") if name == "count_units" and "person" in self.columns else None
            return Aggregate("count_rows" if argument is None else "count_units", argument, condition)
        if name in ("mode", "count_distinct"):
            labels = [self.make("boolean", 1), self._written_out("width_bucket", 1)]
            argument = self.draw.choice([*labels, *self._keyed()])
            return Aggregate("mode" if name == "mode" else "count_units", argument, condition)
        if name == "count":
            return Aggregate(name, self.make(self.draw.choice(EVERY), 2), condition)
        fraction = (
            self.draw.choice([0, Fraction(1, 2), 1, Fraction(1, 10**9)]) if name == "quantile" else None
        )
        wide = self.draw.random() < 0.5
        argument = self.wide() if wide else self.make(self.draw.choice(["integer", "number"]), 1)
        if name in ("minimum", "maximum", "quantile") and self.draw.random() < 0.2:
            argument = self.make(self.draw.choice(["date", "timestamp"]), 1)
        other = self.make(self.draw.choice(["integer", "number"]), 1) if name in JOINT else None
        rank = None if fraction is None else Fraction(fraction)
        return Aggregate(name, argument, condition, rank, other)

    def _keyed(self) -> list[Any]:
        return [Name("s")] if self.columns.get("s") == "text" else []


class Asker:
    """Makes questions: a source, then aggregates of expressions over it."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw

    def question(self, functions: list[tuple[str, str | None]], aggregates: list[str], source: str) -> Select:
        """A question with these functions and aggregates, of this kind of source."""
        made, columns = getattr(self, f"_{source}")()
        maker = Maker(self.draw, columns)
        keys = [maker.make(self.draw.choice(EVERY), 1) for _ in range(self.draw.choice([0, 0, 0, 1, 1, 2]))]
        measures: list[Any] = [maker.aggregate(name) for name in aggregates]
        measures += [Aggregate("count", maker.call(name, 1, of=kind)) for name, kind in functions]
        if self.draw.random() < 0.3 and aggregates[0] in NUMERIC:
            after = self.draw.choice(["add", "multiply", "divide", "subtract"])
            measures.append(Call(after, (measures[0], Literal(self.draw.choice(LITERALS["number"])))))
        outputs = [Output(f"o{place}", each) for place, each in enumerate([*keys, *measures])]
        order = Order(Name(outputs[-1].name), self.draw.random() < 0.5)
        sets = ((0, 1), ()) if len(keys) == 2 and self.draw.random() < 0.4 else None
        return Select(
            tuple(outputs),
            made,
            where=maker.make("boolean", 2) if self.draw.random() < 0.5 else None,
            keys=tuple(keys),
            sets=sets,
            having=Call("greater", (Aggregate("count_rows"), Literal(-5)))
            if self.draw.random() < 0.2
            else None,
            order=(order,) if self.draw.random() < 0.3 else (),
            limit=5 if self.draw.random() < 0.2 else None,
        )

    def _table(self) -> tuple[Any, dict[str, str]]:
        return TableName("t", "t"), {"person": "integer", **KINDS}

    def _rows(self) -> tuple[Any, dict[str, str]]:
        source, columns = self._table()
        maker = Maker(self.draw, columns)
        outputs = {name: maker.make(kind, 1) for name, kind in KINDS.items()}
        return self._nested(outputs, source, maker), KINDS

    def _nested(self, outputs: dict[str, Any], source: Any, maker: Maker) -> Nested:
        listed = tuple(Output(name, each) for name, each in outputs.items())
        where = maker.make("boolean", 1) if self.draw.random() < 0.5 else None
        return Nested(Select(listed, source, where=where), "q")

    def _union(self) -> tuple[Any, dict[str, str]]:
        members = [self._rows()[0].query for _ in range(2)]
        return Nested(Union(tuple(members)), "q"), KINDS

    def _each(self) -> tuple[Any, dict[str, str]]:
        source, columns = self._table()
        maker = Maker(self.draw, columns)
        given = {"a": "integer", "b": "integer", "x": "number", "z": "number"}
        totals = {
            "person": Name("person"),
            "a": Aggregate("sum", maker.make("integer", 1)),
            "b": Aggregate("count", maker.make("text", 1)),
            "x": Aggregate(self.draw.choice(["sum", "average"]), Name(self.draw.choice(["x", "y", "a"]))),
            "z": Aggregate(self.draw.choice(["minimum", "maximum"]), maker.make("number", 1)),
        }
        totals["a"] = (
            Call("multiply", (totals["a"], totals["b"])) if self.draw.random() < 0.5 else totals["a"]
        )
        totals["x"] = Call("to_number", (totals["x"],))
        listed = tuple(Output(name, each) for name, each in totals.items())
        return Nested(Select(listed, source, keys=(Name("person"),)), "q"), {"person": "integer", **given}

    def _public(self) -> tuple[Any, dict[str, str]]:
        kind = self.draw.choice(["inner", "left"])
        names = {name: each for name, each in KINDS.items() if name != "s"}
        join = Join(TableName("t", "t"), TableName("p", "p"), using=("s",), kind=kind)
        return join, {"person": "integer", "size": "integer", **names}

    def _private(self) -> tuple[Any, dict[str, str]]:
        same = Call("equal", (Name("person"), Name("visitor")))
        return Join(TableName("t", "t"), TableName("v", "v"), same), {"n": "integer", **KINDS}


SOURCES = ("table", "rows", "union", "each", "public", "private")
AGGREGATES: tuple[str, ...] = get_args(AggregateName)


def questions(seed: int, count: int) -> Iterator[Iterator[Select]]:
    """So many questions that together have every function, every cast of every type and every aggregate; each
    is tried again until one is allowed."""
    draw = random.Random(seed)
    kinds = [(name, kind) for name in FUNCTIONS for kind in CASTS.get(name) or [None]]
    each, measured = -(-len(kinds) // count) + 1, -(-len(AGGREGATES) // count)
    functions = itertools.cycle(draw.sample(kinds, len(kinds)))
    aggregates, sources = itertools.cycle(AGGREGATES), itertools.cycle(SOURCES[:1] + SOURCES)
    for _ in range(count):
        named = [next(functions) for _ in range(each)]
        yield _tries(Asker(draw), named, [next(aggregates) for _ in range(measured)], next(sources))


def _tries(
    asker: Asker, functions: list[tuple[str, str | None]], aggregates: list[str], source: str
) -> Iterator[Select]:
    while True:
        yield asker.question(functions, aggregates, source)


def books(seed: int, count: int) -> Iterator[tuple[Select, int]]:
    """So many tables of books, each with a limit: counts of rows by keys whose labels are known."""
    draw = random.Random(seed)
    sources = itertools.cycle(SOURCES[:1] + SOURCES)
    for _ in range(count):
        asker = Asker(draw)
        made, columns = getattr(asker, f"_{next(sources)}")()
        maker = Maker(draw, columns)
        keys = [_key(maker) for _ in range(draw.choice([1, 1, 2, 3]))]
        outputs = [Output(f"o{place}", each) for place, each in enumerate(keys)]
        where = maker.make("boolean", 2) if draw.random() < 0.5 else None
        counted = Output("n", Aggregate("count_rows"))
        yield Select((*outputs, counted), made, where=where, keys=tuple(keys)), draw.choice([1, 3, 2**20])


def _key(maker: Maker) -> Any:
    times = [name for name, kind in maker.columns.items() if kind in ("date", "timestamp")]
    part = maker.draw.choice(["month", "dow", "quarter"])
    found = [
        maker.make("boolean", 2),
        maker._written_out("width_bucket", 2),
        *maker._keyed(),
        *(Name(each) for each in ("b", "f") if maker.columns.get(each) == KINDS[each]),
        *(Call(part, (Name(each),)) for each in times),
    ]
    return maker.draw.choice(found)


def nodes(tree: Any) -> Iterator[Node]:
    """Every node of a question."""
    if isinstance(tree, Node):
        yield tree
        tree = [getattr(tree, each.name) for each in dataclasses.fields(tree)]
    if isinstance(tree, list | tuple):
        for each in tree:
            yield from nodes(each)
