"""Noise of OpenDP and diffprivlib. Each function sets up and returns the work to time."""

import opendp.prelude as dp
from diffprivlib import mechanisms

dp.enable_features("contrib")


def _opendp(law, scale, domain, distance):
    make = {"laplace": dp.m.make_laplace, "gaussian": dp.m.make_gaussian}[law]
    return make(domain, distance, scale=float(scale))


def opendp_vector(law, scale, size):
    """Whole numbers, all in one call."""
    distance = dp.l1_distance(T=int) if law == "laplace" else dp.l2_distance(T=float)
    release = _opendp(law, scale, dp.vector_domain(dp.atom_domain(T=int)), distance)
    zeros = [0] * size
    return lambda: release(zeros)


def opendp_floats(law, scale, size):
    """Floats, all in one call."""
    distance = dp.l1_distance(T=float) if law == "laplace" else dp.l2_distance(T=float)
    release = _opendp(law, scale, dp.vector_domain(dp.atom_domain(T=float, nan=False)), distance)
    zeros = [0.0] * size
    return lambda: release(zeros)


def opendp_scalar(law, scale, size):
    """Whole numbers, one call each."""
    distance = dp.absolute_distance(T=int if law == "laplace" else float)
    release = _opendp(law, scale, dp.atom_domain(T=int), distance)
    return lambda: [release(51) for _ in range(size)]


def diffprivlib_scalar(law, scale, size):
    """Floats, one call each (there is no other way)."""
    if law == "laplace":
        release = mechanisms.Laplace(epsilon=1 / scale, sensitivity=1).randomise
    else:  # calibrated: about this sigma
        release = mechanisms.GaussianAnalytic(epsilon=1.0, delta=1e-6, sensitivity=scale / 4.2247).randomise
    return lambda: [release(51.0) for _ in range(size)]
