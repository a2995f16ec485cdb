"""The budget an owner declares, as exact numbers under the names of its notion."""

from collections.abc import Mapping
from fractions import Fraction
from typing import TypeAlias

from discreet.errors import InvalidParameter
from discreet.numerics import exact_delta, exact_epsilon, exact_positive

Budget: TypeAlias = tuple[tuple[str, Fraction], ...]

# The names each notion goes by: pure and approximate, zero-concentrated, Gaussian.
SHAPES = ({"epsilon"}, {"epsilon", "delta"}, {"rho"}, {"rho", "delta"}, {"mu"})


def read_budget(value: object) -> Budget:
    """A budget from a mapping, or from any notion whose fields carry these names.

    >>> read_budget({"epsilon": 1, "delta": 1e-6})
    (('delta', Fraction(1, 1000000)), ('epsilon', Fraction(1, 1)))
    """
    names = ("epsilon", "delta", "rho", "mu")
    if isinstance(value, Mapping):
        given = dict(value)
    else:
        given = {name: getattr(value, name) for name in names if name in _fields(value)}
    if set(given) not in SHAPES:
        raise InvalidParameter(
            "budget must be { epsilon }, { epsilon, delta }, { rho }, { rho, delta } or { mu }, "
            f"got {sorted(map(str, given))}.",
            parameter="budget",
        )
    readers = {"epsilon": exact_epsilon, "delta": exact_delta, "rho": exact_positive, "mu": exact_positive}
    return tuple((name, readers[name](given[name], name=f"budget {name}")) for name in sorted(given))


def _fields(value: object) -> tuple[str, ...]:
    return tuple(getattr(type(value), "__dataclass_fields__", ()))
