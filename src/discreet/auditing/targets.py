"""discreet's own mechanisms as targets: how to sample each, which neighbours to try, its law where finite.

Only public methods are called, so that what is audited is what users get. Adding a kind of mechanism = one
function and one line in ADAPTERS.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, comb, floor
from typing import Any

import numpy as np

from discreet.auditing import laws, local_laws, selection_laws
from discreet.auditing.blackbox import Target
from discreet.auditing.claim import BITS
from discreet.auditing.exact import Law
from discreet.auditing.neighbours import Pair, numbers, vectors
from discreet.errors import InvalidParameter
from discreet.numerics import Arb, ball, working_precision

MOST_STEPS = 4096  # of a discrete Gaussian's sigma whose weights are summed one by one
FINEST_STREAM = 64  # steps in one sensitivity of a sparse vector that is enumerated
STREAM_LENGTH = 6
CANDIDATES = 4
VECTORISED = ("Laplace", "Gaussian")  # their noise does not depend on how many numbers are released
MOST_ENUMERATED = 200  # pairs
MOST_POINTS = 2000  # different outputs of a selection or report that are enumerated


@dataclass(frozen=True)
class Adapted:
    """A mechanism as f(data, n), with pairs to sample, and its law where finite, with pairs to enumerate."""

    target: Target
    pairs: list[Pair]
    law: Callable[[Any], Law] | None = None
    enumerated: tuple[Pair, ...] = ()
    everywhere: bool = True  # whether the law says all there is to say about any pair


def adapt(mechanism: Any) -> Adapted:
    """The adapter that fits what the mechanism can do."""
    for fits, adapter in ADAPTERS:
        if all(hasattr(mechanism, name) for name in fits):
            return adapter(mechanism)
    raise InvalidParameter(
        f"target must be a function f(data, n) or a mechanism with a known way to sample it, got "
        f"{type(mechanism).__name__}. Wrap it: lambda data, n: [mechanism.release(data) for _ in range(n)].",
        parameter="target",
    )


def _additive(mechanism: Any) -> Adapted:
    """Noise on a lattice: where arrays are taken, n copies of a number are n independent releases."""
    pairs = numbers(sensitivity=mechanism.sensitivity)
    whole = mechanism.step >= 1
    vectorised = type(mechanism).__name__ in VECTORISED

    def sample(data: Any, n: int) -> Any:
        if vectorised and not isinstance(data, list):
            return mechanism.release(np.full(n, data, dtype=np.int64 if whole else np.float64))
        return [mechanism.release(data) for _ in range(n)]

    return Adapted(sample, pairs, _additive_law(mechanism), tuple(pairs[:1]), everywhere=False)


def _additive_law(mechanism: Any) -> Callable[[Any], Law] | None:
    step = mechanism.step
    shift = ceil(mechanism.sensitivity / step)
    kind = type(mechanism).__name__
    with working_precision(BITS):
        if kind == "Laplace":
            spread = mechanism.scale / step
            tail = laws.laplace_tail(spread)
        elif kind == "Gaussian":
            spread = mechanism.sigma / step
            tail = laws.gaussian_tail(spread)
        elif kind == "DiscreteGaussian" and mechanism.sigma / step <= MOST_STEPS:
            spread = mechanism.sigma / step
            tail = laws.discrete_gaussian_tail(spread)
        elif kind == "Staircase":
            price = mechanism.epsilon / (mechanism.dimension or 1)
            spread = shift / min(price, Fraction(1))
            tail = laws.staircase_tail(price, stair=shift, width=mechanism.width)
        else:
            return None
    return laws.lattice_law(tail, step=step, spread=spread, shift=shift)


def _response(mechanism: Any) -> Adapted:
    """Randomised response: each element of a list is one person."""
    values = list(mechanism.values)

    def truth() -> Arb:
        if mechanism.epsilon is None:
            return ball(mechanism.truth)
        return 1 / (1 + (len(values) - 1) * (-ball(mechanism.epsilon)).exp())

    pairs = [(values[0], values[1])]
    if len(values) > 2:
        pairs.append((values[0], values[-1]))
    law = laws.response_law(values, truth)
    return Adapted(lambda data, n: mechanism.release([data] * n), pairs, law, tuple(pairs))


def _selection(mechanism: Any) -> Adapted:
    """Selection among candidates: the data are their scores."""
    size = mechanism.sensitivity
    pairs = [
        ([a * size for a in first], [b * size for b in second])
        for first, second in vectors(dimension=CANDIDATES, scores=mechanism.scores)
    ]

    def sample(data: Any, n: int) -> Any:
        candidates = range(len(data))
        return [mechanism.choose(candidates, data) for _ in range(n)]

    return Adapted(sample, pairs, _selection_law(mechanism, pairs[0][0]), tuple(pairs))


def _selection_law(mechanism: Any, scores: list[Fraction]) -> Callable[[Any], Law] | None:
    kind = type(mechanism).__name__
    if kind == "TopK" and mechanism.method == "peeling":
        return selection_laws.peeling_law(mechanism.factor / mechanism.count, mechanism.count)
    moves = ceil(mechanism.sensitivity / mechanism.step) if kind == "NoisyMax" else 0
    if kind == "NoisyMax" and mechanism.noise == "laplace" and moves <= FINEST_STREAM:
        return selection_laws.noisy_max_law(mechanism.scale / mechanism.step, mechanism.step)
    try:
        mechanism.probabilities(scores)
    except (AttributeError, InvalidParameter):
        return None
    return laws.float_law(mechanism.probabilities)


def _stream(mechanism: Any) -> Adapted:
    """A sparse vector: each run is a new stream of the same parameters; the data are the values asked."""
    names = ("epsilon", "threshold", "sensitivity", "count", "delta", "split", "step", "relation")
    accepted = type(mechanism).__init__.__annotations__
    parameters = {name: getattr(mechanism, name) for name in names if name in accepted}
    half, size = STREAM_LENGTH // 2, mechanism.sensitivity
    low, high = mechanism.threshold - size, mechanism.threshold
    pairs = [
        ([low] * half + [high] * half, [high] * half + [low] * half),
        ([low] * STREAM_LENGTH, [high] * STREAM_LENGTH),
        ([low] * (STREAM_LENGTH - 1) + [high], [high] * (STREAM_LENGTH - 1) + [low]),
    ]

    def run(data: Any) -> tuple[Any, ...]:
        stream = type(mechanism)(**parameters)
        return tuple(stream.test(value) for value in data if not stream.finished)

    return Adapted(lambda data, n: [run(data) for _ in range(n)], pairs, _stream_law(mechanism), tuple(pairs))


def _stream_law(mechanism: Any) -> Callable[[Any], Law] | None:
    moves, kind = ceil(mechanism.sensitivity / mechanism.step), type(mechanism).__name__
    valued = kind == "NumericSparse" and mechanism.count == 1
    if not (valued or kind in ("AboveThreshold", "Sparse")) or moves > FINEST_STREAM:
        return None
    answers = laws.sparse_law(
        threshold=floor(mechanism.threshold / mechanism.step + Fraction(1, 2)),
        moves=moves,
        noise=mechanism.noise,
        count=mechanism.count,
        step=mechanism.step,
    )
    noise = _additive_law(mechanism.values) if valued else None
    return answers if noise is None else selection_laws.valued_law(answers, noise)


def _keys(mechanism: Any) -> Adapted:
    """Key selection: the data are how many persons hold one key."""
    levels = range(mechanism.always + 1)
    pairs = [(n, n + 1) for n in levels]
    shown = [pairs[0], pairs[len(pairs) // 2], pairs[-1]]

    def law(persons: Any) -> Law:
        kept = mechanism.probability(persons)
        return laws.float_law(lambda _: (kept, 1 - kept))(persons)

    def sample(data: Any, n: int) -> Any:
        kept = set(mechanism.select(dict.fromkeys(range(n), data)))
        return np.array([i in kept for i in range(n)])

    return Adapted(sample, shown, law, tuple(pairs[:MOST_ENUMERATED]))


def _counted_keys(mechanism: Any) -> Adapted:
    """Counted keys: the data are the count of one key, which somebody may move by the sensitivity."""
    pairs = [(n, n + mechanism.sensitivity) for n in range(mechanism.always + 1)]
    shown = [pairs[0], pairs[len(pairs) // 2], pairs[-1]]

    def sample(data: Any, n: int) -> Any:
        found = mechanism.release(dict.fromkeys(range(n), data))
        return [found.get(i) for i in range(n)]

    law = selection_laws.counted_keys_law(mechanism.scale, mechanism.threshold)
    return Adapted(sample, shown, law, tuple(pairs[:MOST_ENUMERATED]))


def _quantile(mechanism: Any) -> Adapted:
    """A quantile of bounded values: the data are lists."""
    low, high = (float(end) for end in mechanism.bounds)
    middle = (low + high) / 2
    if mechanism.relation == "add/remove":
        pairs = [([], [low]), ([middle] * 2, [middle] * 2 + [high]), ([low, high], [low, high, high])]
    else:
        pairs = [([low], [high]), ([middle, low], [middle, high])]
    countable = mechanism.method == "exponential" and mechanism.points <= MOST_POINTS
    law = selection_laws.quantile_law(mechanism) if countable else None
    return Adapted(lambda data, n: [mechanism.release(data) for _ in range(n)], pairs, law, tuple(pairs))


def _local_choice(mechanism: Any) -> Adapted:
    """A report of one of several values: the data are one person's value."""
    values = list(mechanism.values)
    pairs = [(values[0], values[1]), (values[0], values[-1])]
    countable = comb(len(values), mechanism.size) <= MOST_POINTS
    law = selection_laws.subset_law(values, mechanism.epsilon, mechanism.size) if countable else None
    return Adapted(lambda data, n: mechanism.randomize([data] * n), pairs, law, tuple(pairs))


def _local_projective(mechanism: Any) -> Adapted:
    """A report over a finite field: the data are one person's value."""
    values = list(mechanism.values)
    pairs = [(values[0], values[1]), (values[0], values[-1])]
    law = local_laws.projective_law(mechanism) if mechanism.reports <= MOST_POINTS else None
    return Adapted(lambda data, n: mechanism.randomize_many([data] * n), pairs, law, tuple(pairs))


def _local_wave(mechanism: Any) -> Adapted:
    """A report of a bounded number's bin: the data are one person's number."""
    pairs = _ends(mechanism)
    law = local_laws.wave_law(mechanism)
    return Adapted(lambda data, n: mechanism.randomize([data] * n), pairs, law, tuple(pairs))


def _local_window(mechanism: Any) -> Adapted:
    """A report of a bounded number, by windows: the data are one person's number."""
    pairs = _ends(mechanism)
    law = selection_laws.window_law(mechanism)
    return Adapted(lambda data, n: mechanism.randomize([data] * n), pairs, law, tuple(pairs))


def _local_noise(mechanism: Any) -> Adapted:
    """A report of a bounded number with noise: the data are one person's number."""
    pairs, law = _ends(mechanism), _additive_law(mechanism.noise)
    return Adapted(lambda data, n: mechanism.randomize([data] * n), pairs, law, tuple(pairs[:1]))


def _ends(mechanism: Any) -> list[Pair]:
    low, high = (float(end) for end in mechanism.bounds)
    return [(low, high), (low, (low + high) / 3), ((low + high) / 3, high)]


ADAPTERS: tuple[tuple[tuple[str, ...], Callable[[Any], Adapted]], ...] = (
    (("randomize", "values", "size"), _local_choice),
    (("randomize", "values", "field"), _local_projective),
    (("randomize", "bins", "window"), _local_wave),
    (("randomize", "levels", "window"), _local_window),
    (("randomize", "noise", "bounds"), _local_noise),
    (("choose", "scores", "sensitivity"), _selection),
    (("select", "probability", "always"), _keys),
    (("release", "probability", "always"), _counted_keys),
    (("release", "quantile", "bounds"), _quantile),
    (("test", "threshold", "noise"), _stream),
    (("release", "values", "truth"), _response),
    (("release", "step", "sensitivity"), _additive),
)
