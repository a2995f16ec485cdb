"""A loss written down: "100 * laplace(scale=10) + 10 * sampled(gaussian(sigma=1), rate=0.01)".

Python's own grammar, read through a closed list of nodes: numbers, lists, +, *, / between numbers, and the
constructors below. Nothing is evaluated. What a loss prints is read back as the same loss.
"""

import ast
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

from discreet.errors import InvalidParameter
from discreet.losses.additive import gaussian, laplace
from discreet.losses.approximate import approximate
from discreet.losses.bounded_range import bounded_range
from discreet.losses.channel import channel, randomized_response
from discreet.losses.gdp import GDP
from discreet.losses.lattice import discrete_gaussian, discrete_laplace
from discreet.losses.loss import PrivacyLoss
from discreet.losses.pure import pure
from discreet.losses.renyi import RenyiDP
from discreet.losses.zcdp import zcdp
from discreet.numerics import exact_whole

Value: TypeAlias = PrivacyLoss | Fraction | list[Any]

LONGEST = 100_000  # characters

CONSTRUCTORS: dict[str, Callable[..., PrivacyLoss]] = {
    "laplace": laplace,
    "gaussian": gaussian,
    "discrete_laplace": discrete_laplace,
    "discrete_gaussian": discrete_gaussian,
    "randomized_response": randomized_response,
    "channel": channel,
    "bounded_range": bounded_range,
    "pure": pure,
    "approximate": approximate,
    "zcdp": zcdp,
    "gdp": lambda *, mu: GDP(mu).loss,
    "renyi": lambda *, order, epsilon: RenyiDP(order, epsilon).loss,
    "sampled": lambda loss, *, rate: loss.sampled(rate),
    "group": lambda loss, *, size: loss.for_group(exact_whole(size, name="size", least=1)),
}


def read_loss(text: str) -> PrivacyLoss:
    """The loss that the text describes.

    >>> read_loss("100 * laplace(scale=10) + sampled(gaussian(sigma=1), rate=1/100)")
    100 * laplace(scale=10, sensitivity=1) + sampled(gaussian(sigma=1, sensitivity=1), rate=0.01)
    """
    if len(text) > LONGEST:
        raise InvalidParameter(f"the loss must be at most {LONGEST} characters long, got {len(text)}.")
    try:
        value = _read(ast.parse(text.strip(), mode="eval").body, text.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, InvalidParameter):
            raise
        raise _unreadable("it is not an expression") from None
    if not isinstance(value, PrivacyLoss):
        raise _unreadable("it is a number, and no loss")
    return value


def _read(node: ast.expr, text: str) -> Value:
    if isinstance(node, ast.Constant):
        return _number(node, text)
    if isinstance(node, ast.List):
        return [_read(item, text) for item in node.elts]
    if isinstance(node, ast.BinOp):
        return _combine(node.op, _read(node.left, text), _read(node.right, text))
    if isinstance(node, ast.Call):
        return _call(node, text)
    raise _unreadable(f"it has a {type(node).__name__.lower()}")


def _number(node: ast.Constant, text: str) -> Fraction:
    if isinstance(node.value, bool) or not isinstance(node.value, int | float):
        raise _unreadable("it has a value that is no number")
    return Fraction((ast.get_source_segment(text, node) or "").replace("_", ""))  # as written: 0.1 is 1/10


def _combine(kind: ast.operator, left: Value, right: Value) -> Value:
    losses = isinstance(left, PrivacyLoss), isinstance(right, PrivacyLoss)
    if isinstance(kind, ast.Add) and all(losses):
        return operator.add(left, right)  # type: ignore[no-any-return]
    if isinstance(kind, ast.Mult) and any(losses) and not all(losses):
        count, loss = (right, left) if losses[0] else (left, right)
        if isinstance(count, Fraction) and count.denominator == 1 and isinstance(loss, PrivacyLoss):
            return loss * count.numerator
    if isinstance(kind, ast.Div) and isinstance(left, Fraction) and isinstance(right, Fraction) and right:
        return left / right
    raise _unreadable("only loss + loss, whole number * loss and number / number are combined")


def _call(node: ast.Call, text: str) -> PrivacyLoss:
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name not in CONSTRUCTORS:
        raise InvalidParameter(f"a loss must be one of {', '.join(CONSTRUCTORS)}, got {name[:60]}.")
    if any(keyword.arg is None for keyword in node.keywords):
        raise _unreadable("it unpacks arguments")
    positional = [_read(item, text) for item in node.args]
    named = {str(keyword.arg): _read(keyword.value, text) for keyword in node.keywords}
    try:
        return CONSTRUCTORS[name](*positional, **named)
    except (TypeError, AttributeError):
        raise InvalidParameter(f"{name} must have its own parameters, by name. See --help.") from None


def _unreadable(why: str) -> InvalidParameter:
    return InvalidParameter(
        f'a loss must be written as in "10 * laplace(scale=10) + gaussian(sigma=2)", but {why}.',
        parameter="loss",
    )
