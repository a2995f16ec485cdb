"""A loss written down: "100 * laplace(scale=10) + 10 * sampled(gaussian(sigma=1), rate=0.01)".

Python's own grammar, read through a closed list of nodes: numbers, lists, +, *, / between numbers, and the
constructors below. Nothing is evaluated. What a loss prints is read back as the same loss.
"""

import ast
import difflib
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from discreet.errors import InvalidParameter
from discreet.kernel.losses.additive import gaussian, laplace, staircase
from discreet.kernel.losses.approximate import approximate
from discreet.kernel.losses.bounded_range import bounded_range
from discreet.kernel.losses.channel import channel, randomized_response
from discreet.kernel.losses.family import RELATIONS, Relation, check_relation
from discreet.kernel.losses.gdp import GDP
from discreet.kernel.losses.lattice import discrete_gaussian, discrete_laplace
from discreet.kernel.losses.loss import PrivacyLoss
from discreet.kernel.losses.parallel import parallel
from discreet.kernel.losses.pure import pure
from discreet.kernel.losses.renyi import RenyiDP
from discreet.kernel.losses.sampled_group import exchanged
from discreet.kernel.losses.truncated import truncated_laplace
from discreet.kernel.losses.zcdp import zcdp
from discreet.kernel.numerics import exact_whole

Value: TypeAlias = PrivacyLoss | Fraction | list[Any]

LONGEST = 100_000  # characters

LAWS: dict[str, Callable[..., PrivacyLoss]] = {
    "laplace": laplace,
    "gaussian": gaussian,
    "discrete_laplace": discrete_laplace,
    "discrete_gaussian": discrete_gaussian,
    "truncated_laplace": truncated_laplace,
    "randomized_response": randomized_response,
    "channel": channel,
    "bounded_range": bounded_range,
    "staircase": staircase,
    "exchanged": exchanged,
    "pure": pure,
    "approximate": approximate,
    "zcdp": zcdp,
    "gdp": lambda *, mu, relation: GDP(mu, relation).loss,
    "renyi": lambda *, order, epsilon, relation: RenyiDP(order, epsilon, relation).loss,
}
CHANGES: dict[str, Callable[..., PrivacyLoss]] = {  # of losses, whose relation they keep
    "sampled": lambda loss, *, rate: loss.sampled(rate),
    "drawn": lambda loss, *, batch, of: loss.drawn(
        batch=exact_whole(batch, name="batch"), of=exact_whole(of, name="of")
    ),
    "best_of": lambda loss, *, runs: loss.best_of(runs),
    "group": lambda loss, *, size: loss.for_group(exact_whole(size, name="size", least=1)),
    "parallel": lambda *losses: parallel(losses),
}
_RELATION = re.compile(rf"\(({'|'.join(RELATIONS)})\)$")


def read_loss(text: str) -> PrivacyLoss:
    """The loss that the text describes; a relation other than add/remove stands at its end, in brackets.

    >>> read_loss("100 * laplace(scale=10) + sampled(gaussian(sigma=1), rate=1/100)")
    100 * laplace(scale=10, sensitivity=1) + sampled(gaussian(sigma=1, sensitivity=1), rate=0.01)
    >>> read_loss("2 * pure(epsilon=1) (replace)")
    2 * pure(epsilon=1) (replace)
    """
    if len(text) > LONGEST:
        raise InvalidParameter(f"the loss must be at most {LONGEST} characters long, got {len(text)}.")
    stated = _RELATION.search(text.strip())
    plain = text.strip()[: stated.start()].strip() if stated else text.strip()
    try:
        value = _Reader(plain, check_relation(stated[1]) if stated else "add/remove").read()
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, InvalidParameter):
            raise
        raise _unreadable("it is not an expression") from None
    if not isinstance(value, PrivacyLoss):
        raise _unreadable("it is a number, and no loss")
    return value


@dataclass(frozen=True)
class _Reader:
    """One text, read through the closed list of nodes."""

    text: str
    relation: Relation

    def read(self) -> Value:
        return self._node(ast.parse(self.text, mode="eval").body)

    def _node(self, node: ast.expr) -> Value:
        if isinstance(node, ast.Constant):
            return self._number(node)
        if isinstance(node, ast.List):
            return [self._node(item) for item in node.elts]
        if isinstance(node, ast.BinOp):
            return _combine(node.op, self._node(node.left), self._node(node.right))
        if isinstance(node, ast.Call):
            return self._call(node)
        raise _unreadable(f"it has a {type(node).__name__.lower()}")

    def _number(self, node: ast.Constant) -> Fraction:
        if isinstance(node.value, bool) or not isinstance(node.value, int | float):
            raise _unreadable("it has a value that is no number")
        written = ast.get_source_segment(self.text, node) or ""
        return Fraction(written.replace("_", ""))  # as written: 0.1 is 1/10

    def _call(self, node: ast.Call) -> PrivacyLoss:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name not in LAWS and name not in CHANGES:
            known = ", ".join([*LAWS, *CHANGES])
            near = difflib.get_close_matches(name, [*LAWS, *CHANGES], n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise InvalidParameter(f"a loss must be one of {known}, got {name[:60]}.{hint}")
        if any(keyword.arg is None for keyword in node.keywords):
            raise _unreadable("it unpacks arguments")
        if name == "group" and self.relation == "replace" and _is_sample(node):
            return self._exchange(node)
        positional = [self._node(item) for item in node.args]
        named: dict[str, Any] = {str(keyword.arg): self._node(keyword.value) for keyword in node.keywords}
        if "relation" in named:
            raise _unreadable("it has a relation inside; write it at the end, in brackets")
        try:
            if name in LAWS:
                return LAWS[name](*positional, **named, relation=self.relation)
            return CHANGES[name](*positional, **named)
        except (TypeError, AttributeError):
            raise InvalidParameter(f"{name} must have its own parameters, by name. See --help.") from None

    def _exchange(self, node: ast.Call) -> PrivacyLoss:
        """Who is replaced on a sample, as `under_replace` prints it: a group of two or more."""
        group = _Reader(self.text, "add/remove")._call(node)
        if all(chain is not None and chain[1] > 1 for chain in (term.family.chain() for term in group.terms)):
            return PrivacyLoss(group.terms, "replace")
        raise InvalidParameter("group must have a size of 2 or more where a sample is under replace.")


def _is_sample(node: ast.Call) -> bool:
    """Whether a loss on a Poisson sample, or of several parts, is what a call is given."""
    first = node.args[0] if node.args else None
    named = first.func if isinstance(first, ast.Call) else None
    return isinstance(named, ast.Name) and named.id in ("sampled", "parallel")


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


def _unreadable(why: str) -> InvalidParameter:
    return InvalidParameter(
        f'a loss must be written as in "10 * laplace(scale=10) + gaussian(sigma=2)", but {why}.',
        parameter="loss",
    )
