"""Numbers in JSON, exactly: a parameter leaves as the decimal it stands for."""

import json
from collections.abc import Mapping
from decimal import Context, Decimal
from typing import Any

from discreet.errors import InvalidParameter
from discreet.numerics import Real, exact
from discreet.numerics.rational import MAX_BITS

_ENOUGH = Context(prec=2 * MAX_BITS)  # a decimal with so many bits above and below the line is no longer


def write_object(facts: Mapping[str, Any]) -> bytes:
    """A JSON object of texts, lists of texts, numbers, and objects of numbers.

    >>> write_object({"sql": "SELECT 1", "epsilon": 0.1, "within": {"n": Decimal("0.125")}})
    b'{"sql":"SELECT 1","epsilon":0.1,"within":{"n":0.125}}'
    """
    return _written(facts).encode()


def _written(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{json.dumps(name)}:{_written(each)}" for name, each in value.items()) + "}"
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_written, value)) + "]"
    return _decimal(value)


def _decimal(value: Real) -> str:
    number = exact(value, name="a number")
    odd = number.denominator
    for prime in (2, 5):
        while odd % prime == 0:
            odd //= prime
    if odd != 1:
        raise InvalidParameter(
            f"a number must be a finite decimal to be sent, got {number}. Round it to the safe side."
        )
    written = _ENOUGH.divide(Decimal(number.numerator), Decimal(number.denominator))
    return str(written.normalize(_ENOUGH)).replace("E", "e")
