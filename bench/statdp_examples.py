"""The eleven examples of StatDP (Ding et al., CCS 2018), vectorised: n runs in one call.

Noisy values are rounded to multiples of 2^-10, so that ideal noise is judged and not the last bits of floats,
which StatDP does not look at either.
"""

import numpy as np

rng = np.random.default_rng()


def _noisy(queries, n, scale, kind="laplace"):
    shape = (n, len(queries))
    noise = rng.laplace(0, scale, shape) if kind == "laplace" else rng.exponential(scale, shape)
    return np.round((np.asarray(queries) + noise) * 1024) / 1024


def noisy_max_v1a(queries, n, epsilon):
    return _noisy(queries, n, 2 / epsilon).argmax(axis=1)


def noisy_max_v1b(queries, n, epsilon):
    return _noisy(queries, n, 2 / epsilon).max(axis=1)


def noisy_max_v2a(queries, n, epsilon):
    return _noisy(queries, n, 2 / epsilon, "exponential").argmax(axis=1)


def noisy_max_v2b(queries, n, epsilon):
    return _noisy(queries, n, 2 / epsilon, "exponential").max(axis=1)


def histogram(queries, n, epsilon):
    return _noisy(queries, n, 1 / epsilon)[:, 0]


def histogram_eps(queries, n, epsilon):
    return _noisy(queries, n, epsilon)[:, 0]


def _stopped(above):
    """Answers until the first "above"; 2 afterwards."""
    before = np.cumsum(above, axis=1) - above
    return np.where(before < 1, above, 2)


def svt(queries, n, epsilon):
    above = _noisy(queries, n, 4 / epsilon) >= 0.5 + rng.laplace(0, 2 / epsilon, (n, 1))
    return (_stopped(above) == 0).sum(axis=1)


def _distance(queries, answers):
    """How far the answers are from 'first half above, second half below'; missing answers count as wrong."""
    expected = np.arange(len(queries)) < len(queries) // 2
    return (answers != expected).sum(axis=1)


def isvt1(queries, n, epsilon):
    return _distance(queries, np.asarray(queries) >= 1 + rng.laplace(0, 2 / epsilon, (n, 1)))


def isvt2(queries, n, epsilon):
    return _distance(queries, _noisy(queries, n, 2 / epsilon) >= 1 + rng.laplace(0, 2 / epsilon, (n, 1)))


def isvt3(queries, n, epsilon):
    above = _noisy(queries, n, 4 / (3 * epsilon)) > 1 + rng.laplace(0, 4 / epsilon, (n, 1))
    return _distance(queries, _stopped(above))


def isvt4(queries, n, epsilon):
    noisy = _noisy(queries, n, 2 / epsilon)
    answers = _stopped(noisy > 1 + rng.laplace(0, 2 / epsilon, (n, 1)))
    last = np.where(answers == 1, noisy, 0).sum(axis=1)
    return np.column_stack(((answers == 0).sum(axis=1), last))


# name -> (function, whether StatDP's paper calls it correct, whether all queries may differ)
EXAMPLES = {
    "noisy_max_v1a": (noisy_max_v1a, True, True),
    "noisy_max_v1b": (noisy_max_v1b, False, True),
    "noisy_max_v2a": (noisy_max_v2a, True, True),
    "noisy_max_v2b": (noisy_max_v2b, False, True),
    "histogram": (histogram, True, False),
    "histogram_eps": (histogram_eps, False, False),
    "SVT": (svt, True, True),
    "iSVT1": (isvt1, False, True),
    "iSVT2": (isvt2, False, True),
    "iSVT3": (isvt3, False, True),
    "iSVT4": (isvt4, False, True),
}
