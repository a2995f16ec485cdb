"""Plain numpy noise for the gallery, whole-number where the fault lies elsewhere."""

import numpy as np

rng = np.random.default_rng()


def laplace(scale, size):
    """Discrete Laplace: Pr[k] proportional to exp(-|k|/scale)."""
    stop = 1 - np.exp(-1 / scale)
    return rng.geometric(stop, size) - rng.geometric(stop, size)


def gumbel_choice(logits, n):
    """n indices, Pr proportional to exp(logits)."""
    return np.argmax(np.asarray(logits, dtype=float) + rng.gumbel(size=(n, len(logits))), axis=1)


def discrete_gaussian(sigma, size):
    """Pr[k] proportional to exp(-k²/2sigma²), by inversion on a finite table."""
    k = np.arange(-int(12 * sigma) - 12, int(12 * sigma) + 13)
    weights = np.exp(-(k**2) / (2 * sigma**2))
    return rng.choice(k, p=weights / weights.sum(), size=size)
