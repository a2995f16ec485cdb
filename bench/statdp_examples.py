"""The eleven examples of StatDP (Ding et al., CCS 2018), vectorised: n runs in one call.

Noisy values are rounded to multiples of 2^-10, so that ideal noise is judged and not the last bits of floats,
which StatDP does not look at either.
"""

import numpy as np

rng = np.random.default_rng()


def _laplace(scale, shape):
    """Laplace noise: an exponential with a random sign."""
    noise = rng.standard_exponential(shape)
    noise *= scale
    return np.copysign(noise, rng.integers(-128, 128, shape, dtype=np.int8), out=noise)


def _exponential(scale, shape):
    return scale * rng.standard_exponential(shape)


def _noisy(queries, n, scale, noise=_laplace):
    values = noise(scale, (n, len(queries)))
    values += np.asarray(queries)
    return values


def _published(values):
    return np.round(values * 1024) / 1024


def noisy_max_v1a(queries, n, epsilon):
    return _noisy(queries, n, 2 / epsilon).argmax(axis=1)


def noisy_max_v1b(queries, n, epsilon):
    return _published(_noisy(queries, n, 2 / epsilon).max(axis=1))


def noisy_max_v2a(queries, n, epsilon):
    return _noisy(queries, n, 2 / epsilon, _exponential).argmax(axis=1)


def noisy_max_v2b(queries, n, epsilon):
    return _published(_noisy(queries, n, 2 / epsilon, _exponential).max(axis=1))


def histogram(queries, n, epsilon):
    return _published(_noisy(queries[:1], n, 1 / epsilon)[:, 0])  # the first is all that is given out


def histogram_eps(queries, n, epsilon):
    return _published(_noisy(queries[:1], n, epsilon)[:, 0])


def _stopped(above):
    """Answers until the first "above"; 2 afterwards."""
    before = np.cumsum(above, axis=1, dtype=np.int8) - above
    return np.where(before < 1, above, np.int8(2))


def _first_above(above):
    """How many answers come before the first "above"."""
    return np.where(above.any(axis=1), above.argmax(axis=1), above.shape[1])


def svt(queries, n, epsilon):
    return _first_above(_noisy(queries, n, 4 / epsilon) >= 0.5 + _laplace(2 / epsilon, (n, 1)))


def _distance(queries, answers):
    """How far the answers are from 'first half above, second half below'; missing answers count as wrong."""
    expected = np.arange(len(queries)) < len(queries) // 2
    return np.count_nonzero(answers != expected, axis=1)


def isvt1(queries, n, epsilon):
    return _distance(queries, np.asarray(queries) >= 1 + _laplace(2 / epsilon, (n, 1)))


def isvt2(queries, n, epsilon):
    return _distance(queries, _noisy(queries, n, 2 / epsilon) >= 1 + _laplace(2 / epsilon, (n, 1)))


def isvt3(queries, n, epsilon):
    above = _noisy(queries, n, 4 / (3 * epsilon)) > 1 + _laplace(4 / epsilon, (n, 1))
    return _distance(queries, _stopped(above))


def isvt4(queries, n, epsilon):
    noisy = _noisy(queries, n, 2 / epsilon)
    above = noisy > 1 + _laplace(2 / epsilon, (n, 1))
    first = _first_above(above)
    at = np.minimum(first, len(queries) - 1)
    last = np.where(first < len(queries), np.take_along_axis(noisy, at[:, None], axis=1)[:, 0], 0)
    return np.column_stack((first, _published(last)))


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
