"""What each function means, in plain Python: the definition that every engine is tested against.

Missing values are None and stay so, except where SQL says otherwise (AND, OR, IS NULL, COALESCE, CASE). A
number is a double; arithmetic that is not a number gives None, one that is too large gives an infinity.
Integers have no limit here: name resolution refuses expressions that could leave 38 digits.
"""

import datetime
import math
import re
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

from discreet.asking.policy import LARGEST_INTEGER, SMALLEST_INTEGER, Value
from discreet.asking.queries.nodes import Call, Case, Expression, Literal
from discreet.errors import InternalError

Lookup: TypeAlias = Callable[[Expression], Value]

# The written grammars of casts from text: what does not match is NULL. At most 400 characters are looked at.
INTEGER_GRAMMAR = r"[+-]?[0-9]{1,19}"
NUMBER_GRAMMAR = r"[+-]?([0-9]{1,200}(\.[0-9]{0,200})?|\.[0-9]{1,200})([eE][+-]?[0-9]{1,3})?"
DATE_GRAMMAR = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
TIMESTAMP_GRAMMAR = r"[0-9]{4}-[0-9]{2}-[0-9]{2}[ T]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?"

LAST_DAY = datetime.date.max.toordinal()
UPPER, LOWER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"


def evaluate(node: Expression, lookup: Lookup) -> Value:
    """Return the value of an expression where `lookup` gives the value of its names.

    >>> evaluate(Call("divide", (Literal(1), Literal(0))), lambda name: None) is None
    True
    """
    if isinstance(node, Literal):
        return node.value
    if isinstance(node, Case):
        for condition, value in node.branches:
            if evaluate(condition, lookup) is True:
                return evaluate(value, lookup)
        return evaluate(node.otherwise, lookup)
    if isinstance(node, Call):
        return _evaluate_call(node, lookup)
    return lookup(node)


def _evaluate_call(node: Call, lookup: Lookup) -> Value:
    arguments = [evaluate(each, lookup) for each in node.arguments]
    if node.function in LENIENT:
        return LENIENT[node.function](arguments)
    if node.function not in STRICT:
        raise InternalError(f"the function {node.function} must have a meaning")
    return None if None in arguments else STRICT[node.function](*arguments)


def _and(values: list[Any]) -> Value:
    return False if False in values else None if None in values else True


def _or(values: list[Any]) -> Value:
    return True if True in values else None if None in values else False


LENIENT: dict[str, Callable[[list[Any]], Value]] = {
    "and": _and,
    "or": _or,
    "is_null": lambda values: values[0] is None,
    "coalesce": lambda values: next((value for value in values if value is not None), None),
    "least": lambda values: min((value for value in values if value is not None), default=None),
    "greatest": lambda values: max((value for value in values if value is not None), default=None),
}


def _real(value: float) -> float | None:
    return None if value != value else value  # noqa: PLR0124  # NaN is a missing value


def _add(left: Any, right: Any) -> Value:
    return (
        left + right
        if isinstance(left, int) and isinstance(right, int)
        else _real(float(left) + float(right))
    )


def _subtract(left: Any, right: Any) -> Value:
    if isinstance(left, datetime.date):
        return int((left - right).days)
    return (
        left - right
        if isinstance(left, int) and isinstance(right, int)
        else _real(float(left) - float(right))
    )


def _multiply(left: Any, right: Any) -> Value:
    return (
        left * right
        if isinstance(left, int) and isinstance(right, int)
        else _real(float(left) * float(right))
    )


def _divide(left: Any, right: Any) -> Value:
    return None if right == 0 else _real(float(left) / float(right))


def _divide_whole(left: int, right: int) -> Value:
    if right == 0:
        return None
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _modulo(left: int, right: int) -> Value:
    return None if right == 0 else int(math.copysign(1, left)) * (abs(left) % abs(right))


def _compare(test: Callable[[Any, Any], bool]) -> Callable[[Any, Any], Value]:
    def compare(left: Any, right: Any) -> Value:
        if isinstance(left, float) or isinstance(right, float):
            left, right = float(left), float(right)
        return test(left, right)

    return compare


def _in(value: Any, *listed: Any) -> Value:
    return any(_compare(lambda a, b: a == b)(value, each) for each in listed)


def _whole(rounding: Callable[[Any], int]) -> Callable[[Any], Value]:
    def apply(value: Any) -> Value:
        if isinstance(value, int):
            return value
        if math.isinf(value):
            return float(value)
        return float(rounding(value)) + 0.0

    return apply


def round_half_away(value: float) -> int:
    """Return the nearest whole number, halves away from zero.

    >>> round_half_away(2.5), round_half_away(-2.5), round_half_away(0.49999999999999994)
    (3, -3, 0)
    """
    size = math.floor(abs(Fraction(value)) + Fraction(1, 2))
    return size if value >= 0 else -size


def _like(text: str, pattern: str) -> Value:
    return _pattern(pattern).fullmatch(text) is not None


@lru_cache(maxsize=256)
def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(like_grammar(pattern), re.DOTALL)


def like_grammar(pattern: str) -> str:
    r"""Return a LIKE pattern as a regular expression, for Python and Java.

    Each part between two % is taken where it first stands, and never moved: what follows has most room
    there. So a text is read once for each part.

    >>> like_grammar("a%b_%c")
    'a(?>.*?b.).*c'
    """
    first, *rest = [
        "".join("." if each == "_" else re.escape(each) for each in part) for part in pattern.split("%")
    ]
    if not rest:
        return first
    *inner, last = rest
    return f"{first}{''.join(f'(?>.*?{part})' for part in inner if part)}.*{last}"


def _substr(text: str, start: int, length: int | None = None) -> Value:
    return text[start - 1 :] if length is None else text[start - 1 : start - 1 + length]


def _split_part(text: str, mark: str, part: int) -> Value:
    parts = text.split(mark)
    return parts[part - 1] if part <= len(parts) else ""


def _root(value: float) -> Value:
    return math.sqrt(value) if value >= 0 else None


def _width_bucket(value: float, low: float, high: float, count: int) -> Value:
    number, low, high = float(value), float(low), float(high)
    if number < low:
        return 0
    if number >= high:
        return count + 1
    return min(count, math.floor((number - low) / (high - low) * float(count)) + 1)


def _matches(grammar: str, text: str) -> bool:
    return re.fullmatch(grammar, text, re.ASCII) is not None


def _to_integer(value: Any) -> Value:
    if isinstance(value, str):
        whole = int(value) if _matches(INTEGER_GRAMMAR, value) else None
    elif isinstance(value, float):
        whole = None if math.isinf(value) else round(value)  # halves to even, as a double's cast rounds
    else:
        whole = int(value)
    return whole if whole is not None and SMALLEST_INTEGER <= whole <= LARGEST_INTEGER else None


def _to_number(value: Any) -> Value:
    if not isinstance(value, str):
        return float(value)
    number = float(value) if _matches(NUMBER_GRAMMAR, value) else math.inf
    return None if math.isinf(number) else number + 0.0


def _to_text(value: Any) -> Value:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, datetime.date) else str(value)


def _to_boolean(value: Any) -> Value:
    return {"true": True, "false": False}.get(value) if isinstance(value, str) else bool(value)


def _to_date(value: Any) -> Value:
    if isinstance(value, datetime.datetime):
        return value.date()
    return _read_time(datetime.date, DATE_GRAMMAR, value) if isinstance(value, str) else value


def _to_timestamp(value: Any) -> Value:
    if isinstance(value, str):
        head, dot, tail = value.partition(".")
        return _read_time(
            datetime.datetime, TIMESTAMP_GRAMMAR, head + dot + (tail.ljust(6, "0") if dot else "")
        )
    if isinstance(value, datetime.datetime):
        return value
    return datetime.datetime(value.year, value.month, value.day)


def _read_time(kind: Any, grammar: str, text: str) -> Value:
    if not _matches(grammar, text):
        return None
    try:
        return kind.fromisoformat(text)  # type: ignore[no-any-return]
    except ValueError:
        return None


def _truncate(unit: str) -> Callable[[Any], Value]:
    def apply(value: Any) -> Value:
        month = {"year": 1, "quarter": (value.month - 1) // 3 * 3 + 1}.get(unit, value.month)
        day = 1 if unit in ("year", "quarter", "month") else value.day
        cut = value.replace(month=month, day=day)
        if unit == "week":
            cut -= datetime.timedelta(days=value.weekday())  # the year 1 began on a Monday
        if isinstance(cut, datetime.datetime):
            kept = {"hour": ("minute", "second", "microsecond"), "minute": ("second", "microsecond")}
            gone = kept.get(unit, ("hour", "minute", "second", "microsecond"))
            cut = cut.replace(**dict.fromkeys(gone, 0))  # type: ignore[arg-type]
        return cut  # type: ignore[no-any-return]

    return apply


STRICT: dict[str, Callable[..., Value]] = {
    "add": _add,
    "subtract": _subtract,
    "multiply": _multiply,
    "divide": _divide,
    "divide_whole": _divide_whole,
    "modulo": _modulo,
    "negate": lambda value: -value,
    "abs": abs,
    "sign": lambda value: (value > 0) - (value < 0),
    "floor": _whole(math.floor),
    "ceil": _whole(math.ceil),
    "round": _whole(round_half_away),
    "equal": _compare(lambda left, right: left == right),
    "unequal": _compare(lambda left, right: left != right),
    "less": _compare(lambda left, right: left < right),
    "at_most": _compare(lambda left, right: left <= right),
    "greater": _compare(lambda left, right: left > right),
    "at_least": _compare(lambda left, right: left >= right),
    "not": lambda value: not value,
    "in": _in,
    "like": _like,
    "lower": lambda text: text.translate(str.maketrans(UPPER, LOWER)),
    "upper": lambda text: text.translate(str.maketrans(LOWER, UPPER)),
    "length": len,
    "substr": _substr,
    "concat": lambda *texts: "".join(texts),
    "trim": lambda text: text.strip(" "),
    "ltrim": lambda text: text.lstrip(" "),
    "rtrim": lambda text: text.rstrip(" "),
    "replace": lambda text, old, new: text.replace(old, new),
    "split_part": _split_part,
    "sqrt": _root,
    "date_of": lambda day: datetime.date.fromordinal(min(max(day, 1), LAST_DAY)),  # of released numbers alone
    "width_bucket": _width_bucket,
    "to_integer": _to_integer,
    "to_number": _to_number,
    "to_text": _to_text,
    "to_boolean": _to_boolean,
    "to_date": _to_date,
    "to_timestamp": _to_timestamp,
    "year": lambda value: value.year,
    "quarter": lambda value: (value.month - 1) // 3 + 1,
    "month": lambda value: value.month,
    "day": lambda value: value.day,
    "dow": lambda value: value.isoweekday() % 7,
    "isodow": lambda value: value.isoweekday(),
    "doy": lambda value: value.timetuple().tm_yday,
    "hour": lambda value: value.hour,
    "minute": lambda value: value.minute,
    "second": lambda value: value.second,
    **{
        f"trunc_{unit}": _truncate(unit)
        for unit in ("year", "quarter", "month", "week", "day", "hour", "minute")
    },
}
