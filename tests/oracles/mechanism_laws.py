"""The law of every mechanism on a small input, from its textbook definition: slow, plain, and shared with
nothing.

`law(mechanism, value)` maps each outcome to its probability; what is cut off an infinite tail is below 1e-12.
"""

import importlib
import math
import re
from functools import cache, lru_cache
from itertools import permutations, product

import numpy as np
from mpmath import mp, mpf

FAR = 40  # scales of Laplace noise: e^-40 is left out


def real(value):
    return mpf(value.numerator) / mpf(value.denominator)


def normalise(weights):
    total = sum(weights.values())
    return {outcome: weight / total for outcome, weight in weights.items()}


@lru_cache(maxsize=64)
def laplace_masses(scale):
    """Pr[k] of discrete Laplace noise around 0, as a dict."""
    reach = math.ceil(FAR * scale)
    return normalise({k: mp.exp(-abs(k) / real(scale)) for k in range(-reach, reach + 1)})


def shifted(masses, by):
    return {k + by: mass for k, mass in masses.items()}


# --- additive noise -------------------------------------------------------------------------------


def laplace(m, value):
    return shifted(laplace_masses(m.scale / m.step), value)


def gaussian(m, value):
    sigma = real(m.sigma)
    half, reach = mpf(1) / 2, math.ceil(9 * m.sigma)
    return {
        value + k: mp.ncdf((k + half) / sigma) - mp.ncdf((k - half) / sigma) for k in range(-reach, reach + 1)
    }


def discrete_gaussian(m, value):
    reach = math.ceil(12 * m.sigma)
    masses = {k: mp.exp(-(mpf(k) ** 2) / (2 * real(m.sigma) ** 2)) for k in range(-reach, reach + 1)}
    return shifted(normalise(masses), value)


def staircase(m, value):
    d, reach = math.ceil(m.sensitivity), math.ceil(FAR / m.epsilon) + 1
    masses = {0: mpf(1)}
    for j, i in product(range(reach), range(d)):
        stairs = j if i < m.width else j + 1
        masses[j * d + i] = masses[-j * d - i] = mp.exp(-stairs * real(m.epsilon))
    return shifted(normalise(masses), value)


# --- selection ------------------------------------------------------------------------------------


def rate(m):
    return real(m.epsilon) / ((1 if m.scores == "monotone" else 2) * real(m.sensitivity))


def exponential(m, scores):
    return normalise({i: mp.exp(rate(m) * mpf(score)) for i, score in enumerate(scores)})


def permute_and_flip(m, scores):
    return _flip([mp.exp(rate(m) * (mpf(score) - max(scores))) for score in scores])


def _flip(keep):
    """In every order of the candidates, the first whose coin falls heads."""
    law = dict.fromkeys(range(len(keep)), mpf(0))
    for order in permutations(range(len(keep))):
        alive = mpf(1) / math.factorial(len(keep))
        for i in order:
            law[i] += alive * keep[i]
            alive *= 1 - keep[i]
    return law


def noisy_order(scores, scale):
    """Pr of each order of the noisy scores, ties in random order, by summing over all noise at once."""
    masses = laplace_masses(scale)
    noise, weight = np.array(list(masses)), np.array([float(mass) for mass in masses.values()])
    grids = np.meshgrid(*(noise + score for score in scores), indexing="ij")
    joint = np.einsum("i,j,k->ijk", weight, weight, weight)
    fits = {
        order: (grids[order[0]] >= grids[order[1]]) & (grids[order[1]] >= grids[order[2]])
        for order in permutations(range(len(scores)))
    }
    ways = sum(fit.astype(int) for fit in fits.values())
    return {order: float((joint * fit / ways).sum()) for order, fit in fits.items()}


def noisy_max(m, scores):
    if m.noise == "gumbel":
        return exponential(m, scores)
    if m.noise == "exponential":
        return permute_and_flip(m, scores)
    return _first(noisy_order(scores, 1 / m.factor), 1, single=True)


def top_k(m, scores):
    if m.method == "one shot":
        return _first(noisy_order(scores, m.count / m.factor), m.count, single=False)
    law = {}
    for taken in permutations(range(len(scores)), m.count):
        left, probability = set(range(len(scores))), mpf(1)
        for i in taken:
            weights = {j: mp.exp(rate(m) / m.count * scores[j]) for j in left}
            probability *= weights[i] / sum(weights.values())
            left.remove(i)
        law[taken] = probability
    return law


def _first(orders, count, *, single):
    law = {}
    for order, probability in orders.items():
        outcome = order[0] if single else order[:count]
        law[outcome] = law.get(outcome, 0) + probability
    return law


def quantile(m, values):
    low, high = (int(bound) for bound in m.bounds)
    q = real(m.quantile)
    widest = mpf(1) if m.relation == "replace" else max(q, 1 - q)
    widest = mpf(1) / 2 if q in (0, 1) else widest

    def score(c):
        less, more = sum(x < c for x in values), sum(x > c for x in values)
        return -abs((1 - q) * less - q * more)

    weights = {c: mp.exp(real(m.epsilon) * score(c) / (2 * widest)) for c in range(low, high + 1)}
    if m.method == "exponential":
        return normalise(weights)
    best = max(weights.values())
    return dict(zip(weights, _flip([weight / best for weight in weights.values()]).values(), strict=True))


def key_selection(m, persons):
    """One key of so many persons; or several keys, each with a coin of its own."""
    if isinstance(persons, tuple):
        coins = [_one_key(m, count) for count in persons]
        return {kept: mp.fprod(coin[each] for coin, each in zip(coins, kept, strict=True))
                for kept in product((True, False), repeat=len(persons))}  # fmt: skip
    return _one_key(m, persons)


def _one_key(m, persons):
    moved = m.max_groups if m.relation == "add/remove" else 2 * m.max_groups
    grow, delta, keep = mp.exp(real(m.epsilon) / moved), real(m.delta) / moved, mpf(0)
    for _ in range(persons - m.threshold + 1):
        keep = min(grow * keep + delta, 1 - (1 - keep - delta) / grow, mpf(1))
    return {True: keep, False: 1 - keep}


def counted_keys(m, counts):
    """Keys of these counts: Laplace noise cut off where its upper end has δ′, shown above that."""
    moved = m.max_groups if m.relation == "add/remove" else 2 * m.max_groups
    scale, delta = moved * m.sensitivity / m.epsilon, real(m.delta) / moved
    most = m.sensitivity
    while sum(p for x, p in cut_laplace(scale, most).items() if x > most - m.sensitivity) > delta:
        most += 1
    return shown_counts(cut_laplace(scale, most), most, counts)


@lru_cache(maxsize=512)
def cut_laplace(scale, most):
    return normalise({x: mp.exp(-abs(x) / real(scale)) for x in range(-most, most + 1)})


def shown_counts(noise, threshold, counts):
    """The law of what is shown of several keys: each key's noisy count where it exceeds the threshold."""
    each = []
    for count in counts:
        found = {count + x: p for x, p in noise.items() if count + x > threshold}
        each.append({None: 1 - sum(found.values()), **found})
    return {
        values: mp.fprod(law[value] for law, value in zip(each, values, strict=True))
        for values in product(*each)
    }


# --- randomised response --------------------------------------------------------------------------


def randomized_response(m, value):
    others = len(m.values) - 1
    truth = real(m.truth) if m.epsilon is None else 1 / (1 + others * mp.exp(-real(m.epsilon)))
    return {answer: truth if answer == value else (1 - truth) / others for answer in m.values}


# --- sparse vector --------------------------------------------------------------------------------


def sparse_vector(m, values):
    """Every transcript: sum over the threshold's noise, drawn anew where a round ends."""
    step_threshold = {k: float(p) for k, p in laplace_masses(m.noise.threshold * m.sensitivity).items()}
    query = {k: float(p) for k, p in laplace_masses(m.noise.query * m.sensitivity).items()}
    tails = dict(
        zip(sorted(query), np.cumsum([query[k] for k in sorted(query, reverse=True)])[::-1], strict=True)
    )

    def above(value, noisy):
        gap = noisy - value
        return 1.0 if gap <= min(tails) else 0.0 if gap > max(tails) else float(tails[gap])

    @cache
    def rounds(i, left):
        law = {}
        for noise, mass in step_threshold.items():
            for path, p in within(i, left, m.noise.answers, int(m.threshold) + noise).items():
                law[path] = law.get(path, 0.0) + mass * p
        return law

    def within(i, left, left_in_round, noisy):
        if i == len(values) or left == 0:
            return {(): 1.0}
        high = above(values[i], noisy)
        law = {
            (False, *path): (1 - high) * p for path, p in within(i + 1, left, left_in_round, noisy).items()
        }
        ends = left_in_round == 1 and left > 1
        rest = rounds(i + 1, left - 1) if ends else within(i + 1, left - 1, left_in_round - 1, noisy)
        for path, p in rest.items():
            law[(True, *path)] = high * p
        return law

    return rounds(0, m.count)


def numeric_sparse(m, values):
    law = {}
    for path, p in sparse_vector(m, values).items():
        if True not in path:
            law[(None,) * len(path)] = p
            continue
        for noise, mass in laplace_masses(m.values.scale).items():
            law[*(None,) * (len(path) - 1), values[len(path) - 1] + noise] = p * float(mass)
    return law


LAWS = {
    "AboveThreshold": sparse_vector,
    "CountedKeys": counted_keys,
    "DiscreteGaussian": discrete_gaussian,
    "Exponential": exponential,
    "Gaussian": gaussian,
    "KeySelection": key_selection,
    "Laplace": laplace,
    "NoisyMax": noisy_max,
    "NumericSparse": numeric_sparse,
    "PermuteAndFlip": permute_and_flip,
    "Quantile": quantile,
    "RandomizedResponse": randomized_response,
    "Sparse": sparse_vector,
    "Staircase": staircase,
    "TopK": top_k,
}


def law(mechanism, value):
    """The law by its second writing: here, or as `stated_law` in the mechanism's own test file."""
    name = type(mechanism).__name__
    stated = LAWS.get(name) or own_tests(name).stated_law
    return stated(mechanism, value)


def own_tests(name):
    """tests/mechanisms/test_two_words.py for TwoWords."""
    snake = re.sub("(?<!^)(?=[A-Z])", "_", name).lower()
    return importlib.import_module(f"mechanisms.test_{snake}")


def hockey_stick(p, q, epsilon):
    """δ(ε) of two laws: the sum of (p - e^ε·q)+."""
    grow = math.exp(epsilon)
    return sum(max(0.0, float(p.get(outcome, 0)) - grow * float(q.get(outcome, 0))) for outcome in {*p, *q})
