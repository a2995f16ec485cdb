"""What an expression costs on one row: the parts that it becomes for an engine, and the seconds they take."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from discreet.asking.queries import Call, Case, Expression, Name

READ_S = 10e-9  # a stored or computed value is read
PLAIN_S = 50e-9  # it is compared, added, chosen
HEAVY_S = 500e-9  # it is divided, rounded, taken from a date
TEXT_S = 2e-6  # it is a text as long as a name, and changed, cut, searched or read as something else
NAME_LETTERS = 8  # that a name has; a text of a question may have thousands

# How often at most an engine's SQL repeats what a function is of: each nesting multiplies by it.
COPIES = {
    "abs": 3,
    "divide_whole": 13,
    "floor": 3,
    "ceil": 3,
    "round": 5,
    "sqrt": 3,
    "width_bucket": 6,
    "to_integer": 4,
    "to_number": 8,
    "to_boolean": 2,
    "to_date": 4,
    "to_timestamp": 4,
}
NULLED = {"modulo": 2}  # the same, where an engine writes out what NULLIF is of
ARITHMETIC = {"add": 1, "subtract": 1, "multiply": 1, "divide": 2}  # how often its last operand is written
PLAIN = {
    *(
        "add",
        "subtract",
        "multiply",
        "negate",
        "abs",
        "sign",
        "coalesce",
        "least",
        "greatest",
        "and",
        "or",
        "not",
        "is_null",
        "in",
    ),
    *("equal", "unequal", "less", "at_most", "greater", "at_least", "divide_whole"),
}


@dataclass(frozen=True)
class Parts:
    """The parts of SQL that something becomes, and the seconds that they take on one row.

    `letters` is the length of the longest text inside: what is written out, and what || and REPLACE make.
    """

    nodes: int = 0
    seconds: float = 0.0
    letters: int = 0

    def __add__(self, other: "Parts") -> "Parts":
        letters = max(self.letters, other.letters)
        return Parts(self.nodes + other.nodes, self.seconds + other.seconds, letters)

    def times(self, count: int) -> "Parts":
        """So many copies."""
        return Parts(self.nodes * count, self.seconds * count, self.letters)

    @property
    def names(self) -> float:
        """How many times as long as a name its texts may be."""
        return max(1.0, self.letters / NAME_LETTERS)

    @property
    def stored(self) -> "Parts":
        """The same value where it is read, and not computed."""
        return Parts(1, READ_S, self.letters)


Costs: TypeAlias = Mapping[tuple[str, str], Parts]  # of a column, by table and name


def _own(node: Call, inner: Parts) -> Parts:
    """Return the call itself, of arguments that hold these parts; a text takes as long as it is."""
    is_text = any(each.type == "text" for each in (node, *node.arguments))
    seconds = PLAIN_S if node.function in PLAIN else TEXT_S if is_text else HEAVY_S
    return Parts(1, seconds * inner.names if is_text else seconds)


def parts_of(node: Expression, costs: Costs) -> Parts:
    """Return the parts of an expression, every column computed anew from what is stored.

    >>> from discreet.asking.queries import Literal
    >>> parts_of(Call("abs", (Call("abs", (Literal(-3),)),)), {}).nodes
    13
    """
    if isinstance(node, Name):
        return costs[node.table or "", node.name]
    if isinstance(node, Case):
        every = [*(part for branch in node.branches for part in branch), node.otherwise]
        return sum((parts_of(each, costs) for each in every), Parts(1, PLAIN_S))
    if not isinstance(node, Call):
        text = getattr(node, "value", None)
        return Parts(1, READ_S, len(text) if isinstance(text, str) else 0)
    if _is_real(node):
        return _chain(node, costs).times(2)  # what NULLIF is of, around the outermost operation alone
    copies = COPIES.get(node.function, NULLED.get(node.function, 1))
    given = [parts_of(each, costs).times(copies) for each in node.arguments]
    inner = replace(sum(given, Parts()), letters=_letters(node, given))
    return inner + _own(node, inner)


def _letters(node: Call, given: list[Parts]) -> int:
    """Return the length of the longest text that a call is of, or makes: of a stored one, that of a name."""
    longest = max((each.letters for each in given), default=0)
    if node.function == "concat":
        return sum(max(each.letters, NAME_LETTERS) for each in given)
    if node.function == "replace":
        old, new = (len(getattr(each, "value", None) or "") for each in node.arguments[1:])
        return max(longest, max(given[0].letters, NAME_LETTERS) * -(-new // max(old, 1)))
    return longest


def _is_real(node: Expression) -> bool:
    """Return whether it is arithmetic of doubles, whose operands may be NaN."""
    return isinstance(node, Call) and node.type == "number" and node.function in ARITHMETIC


def _chain(node: Expression, costs: Costs) -> Parts:
    """Arithmetic inside arithmetic: only a divisor is written twice."""
    if not isinstance(node, Call) or not _is_real(node):
        return parts_of(node, costs)
    first, *others = (_chain(each, costs) for each in node.arguments)
    inner = sum((each.times(ARITHMETIC[node.function]) for each in others), first)
    return inner + _own(node, inner)
