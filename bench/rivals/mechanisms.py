"""Selection, quantiles and answers of OpenDP and diffprivlib. Each function sets up and returns the work."""

import numpy as np
import opendp.prelude as dp
from diffprivlib import mechanisms, tools

dp.enable_features("contrib")


def opendp_noisy_max(scores, epsilon, monotone=False):
    """Permute-and-flip, as OpenDP's noisy max is under pure DP."""
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int, monotonic=monotone)
    choose = dp.m.make_noisy_max(*space, dp.max_divergence(), scale=(1 if monotone else 2) / epsilon)
    assert choose.map(1) <= epsilon * (1 + 1e-9)
    values = _scores(scores)
    return lambda: choose(values)


def opendp_gumbel(scores, epsilon):
    """The exponential mechanism."""
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
    choose = dp.m.make_noisy_max(*space, dp.zero_concentrated_divergence(), scale=2 / epsilon)
    values = _scores(scores)
    return lambda: choose(values)


def diffprivlib_selection(scores, epsilon, kind):
    values = [float(score) for score in _scores(scores)]
    mechanism = getattr(mechanisms, kind)(epsilon=epsilon, sensitivity=1, utility=values, monotonic=False)
    return mechanism.randomise


def repeated(work, times, **parameters):
    """The answers of one of the works above or below, so many times over."""
    ask = globals()[work](**parameters)
    return np.array([ask() for _ in range(times)]).tolist()


def opendp_count(epsilon):
    release = dp.m.make_laplace(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=1 / epsilon)
    return lambda: release(0)


def diffprivlib_count(epsilon, kind):
    release = getattr(mechanisms, kind)(epsilon=epsilon, sensitivity=1).randomise
    return lambda: float(release(0))


def opendp_vector(epsilon, delta, size):
    """`size` counts that one person can all change by 1, at one total price; Gaussian noise if delta > 0."""
    domain = dp.vector_domain(dp.atom_domain(T=int))
    if delta == 0:
        release = dp.m.make_laplace(domain, dp.l1_distance(T=int), scale=size / epsilon)
        return lambda: release([0] * size)

    def make(scale):
        noisy = dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale=scale)
        return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(noisy), delta=delta)

    release = dp.binary_search_chain(make, d_in=float(np.sqrt(size)), d_out=(epsilon, delta), T=float)
    return lambda: release([0] * size)


def opendp_quantile(values, epsilon, candidates, alpha):
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    points = list(range(candidates))

    def make(scale):
        return space >> dp.m.then_private_quantile(dp.max_divergence(), points, alpha, scale)

    release = dp.binary_search_chain(make, d_in=1, d_out=epsilon, T=float)
    return lambda: release(values)


def diffprivlib_quantile(values, epsilon, candidates, alpha):
    data = np.array(values, dtype=float)
    bounds = (0.0, float(candidates - 1))
    return lambda: float(tools.quantile(data, alpha, epsilon=epsilon, bounds=bounds))


def _scores(scores):
    """A list, or how many counts to make up: the same ones for everybody."""
    if isinstance(scores, list):
        return scores
    return [(i * 7919) % 1000 for i in range(scores)]
