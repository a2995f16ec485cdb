"""How objects show themselves: in a line that reads back, and in a notebook as a few facts."""

from collections.abc import Mapping
from fractions import Fraction
from html import escape
from inspect import signature


class Shown:
    """A value whose line is the call that makes it again; what is at its default is left out."""

    def __repr__(self) -> str:
        known = signature(type(self)).parameters
        said = {name: getattr(self, name) for name in getattr(self, "__dataclass_fields__", ())}
        parts = [
            f"{name}={plain_repr(value)}"
            for name, value in said.items()
            if not name.startswith("_") and value is not None and not _is_default(name, value, known)
        ]
        return f"{type(self).__name__}({', '.join(parts)})"


def _is_default(name: str, value: object, known: Mapping[str, object]) -> bool:
    default = getattr(known.get(name), "default", None)
    return value == default or (name == "dimension" and value == 1 and default is None)


def plain_repr(value: object) -> str:
    """Return how a value is written in a call: a fraction as the number that stands for it exactly.

    >>> plain_repr(Fraction(1, 2)), plain_repr(Fraction(3)), plain_repr(Fraction(1, 3))
    ('0.5', '3', 'Fraction(1, 3)')
    """
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        inside = ", ".join(map(plain_repr, value))
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if not isinstance(value, Fraction):
        return repr(value)
    if value.denominator == 1:
        return str(value.numerator)
    try:
        shortest = repr(float(value))
    except OverflowError:
        return repr(value)
    return shortest if Fraction(shortest) == value else repr(value)


def facts_html(title: str, facts: Mapping[str, str], *, more: str = "") -> str:
    """Return a small table for a notebook; `more` is markup that follows it.

    >>> facts_html("loss", {"epsilon": "< 1"})[:52]
    '<table><caption>loss</caption><tbody><tr><th>epsilon'
    """
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in facts.items())
    return f"<table><caption>{escape(title)}</caption><tbody>{rows}</tbody></table>{more}"


def lines_html(title: str, lines: list[str], *, more: str = "") -> str:
    """Return sentences for a notebook, a line each; a short beginning with a colon is bold."""
    said = []
    for line in lines:
        head, colon, rest = line.partition(": ")
        short = bool(colon) and len(head) < 40
        said.append(f"<b>{escape(head)}</b>: {escape(rest)}" if short else escape(line))
    return f"<div><b>{escape(title)}</b></div><div>{'<br>'.join(said)}</div>{more}"
