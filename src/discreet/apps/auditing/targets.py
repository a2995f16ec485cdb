"""What is audited: mechanisms, by the protocol that they keep, as functions with pairs and finite laws."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any

from discreet.apps.auditing import local_laws
from discreet.apps.auditing.blackbox import Target
from discreet.errors import InvalidParameter
from discreet.kernel.laws import FiniteLaw, compute_subsets, compute_windows
from discreet.kernel.mechanisms import Mechanism
from discreet.kernel.mechanisms.mechanism import Pair

MOST_SAMPLED = 8  # pairs; of more, the first, the middle and the last
MOST_SETS = 2000  # reports that are enumerated


def _no_law(data: Any) -> None:
    return None


@dataclass(frozen=True)
class Audited:
    """A mechanism as f(data, n), with pairs to sample, and its law with pairs to enumerate."""

    target: Target
    pairs: Sequence[Pair]
    law: Callable[[Any], FiniteLaw | None] = _no_law
    enumerated: Sequence[Pair] = ()


def read_mechanism(mechanism: Any) -> Audited:
    """Return what a mechanism offers to an audit; only what users call is sampled."""
    if isinstance(mechanism, Mechanism):
        return _with_pairs(mechanism.sample, mechanism.law, mechanism.neighbours())
    adapter = LOCAL.get(str(getattr(mechanism, "protocol", "")))
    if adapter is not None:
        law, pairs = adapter(mechanism)
        return _with_pairs(lambda data, n: mechanism.randomize([data] * n), law, pairs)
    raise InvalidParameter(
        f"target must be a function f(data, n) or a mechanism with a known way to sample it, got "
        f"{type(mechanism).__name__}. Wrap it: lambda data, n: [mechanism.release(data) for _ in range(n)].",
        parameter="target",
    )


def _with_pairs(target: Target, law: Callable[[Any], FiniteLaw | None], pairs: Sequence[Pair]) -> Audited:
    few = len(pairs) <= MOST_SAMPLED
    return Audited(target, pairs if few else (pairs[0], pairs[len(pairs) // 2], pairs[-1]), law, pairs)


# --- local protocols that do not keep the mechanism protocol yet ------------------------------------------

Reports = tuple[Callable[[Any], FiniteLaw | None], list[Pair]]


def _choice(mechanism: Any) -> Reports:
    """Return the law of a report of several values: the data are one person's value."""
    values = list(mechanism.values)

    def law(truth: Any) -> FiniteLaw | None:
        if comb(len(values), mechanism.size) > MOST_SETS:
            return None
        return compute_subsets(values, mechanism.epsilon, mechanism.size, truth)

    return law, [(values[0], values[1]), (values[0], values[-1])]


def _projective(mechanism: Any) -> Reports:
    """Return the law of a report over a finite field: the data are one person's value."""
    values = list(mechanism.values)
    law = local_laws.projective_law(mechanism) if mechanism.reports <= MOST_SETS else _no_law
    return law, [(values[0], values[1]), (values[0], values[-1])]


def _wave(mechanism: Any) -> Reports:
    """Return the law of a report of a number's bin: the data are one person's number."""
    return local_laws.wave_law(mechanism), _ends(mechanism)


def _window(mechanism: Any) -> Reports:
    """Return the law of a report by windows: the data are one person's number."""
    low, high = mechanism.bounds

    def law(truth: Any) -> FiniteLaw:
        level = (Fraction(truth) - low) / (high - low) * mechanism.levels
        return compute_windows(
            level, epsilon=mechanism.epsilon, levels=mechanism.levels, window=mechanism.window
        )

    return law, _ends(mechanism)


def _noise(mechanism: Any) -> Reports:
    """Return the law of a report with noise: the data are one person's number."""
    low, _ = mechanism.bounds
    return lambda truth: mechanism.noise.law(Fraction(truth) - low), _ends(mechanism)


def _ends(mechanism: Any) -> list[Pair]:
    low, high = (float(end) for end in mechanism.bounds)
    return [(low, high), (low, (low + high) / 3), ((low + high) / 3, high)]


LOCAL: dict[str, Callable[[Any], Reports]] = {
    "choice": _choice,
    "projective": _projective,
    "wave": _wave,
    "window": _window,
    "laplace": _noise,
}
