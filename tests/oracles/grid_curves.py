"""δ(ε) of mixed compositions between two brackets: every loss rounded down, and up, to one grid, tilted, and
composed by a plain FFT in floats that holds the whole support. Written without a look at the fast code.

Rounding losses up, or sending what lies beyond the grid to infinity, never lowers δ; rounding them down, or
leaving out what lies beyond, never raises it. What floats lose is a share of about 10^-10 of the tilted mass
near ε, for the tilts and lengths used here.
"""

import math

import numpy as np

CELLS = 2**17
NEVER = 1e-45  # a probability that no comparison here can see
_erfc = np.vectorize(math.erfc)


class Law:
    """One loss: its probability of exceeding x (under P), its range, and its point masses as (loss, mass)."""

    def __init__(self, above, low, high, atoms=()):
        self.above, self.low, self.high, self.atoms = above, low, high, atoms


def laplace(e0):
    def above(x):  # of the part with a density, on (−e0, e0)
        inside = np.clip(x, -e0, e0)
        return 0.5 * (1 - np.exp((inside - e0) / 2))

    return Law(above, -e0, e0, ((e0, 0.5), (-e0, 0.5 * math.exp(-e0))))


def gaussian(mu):
    reach = mu * math.sqrt(2 * 105)
    return Law(
        lambda x: 0.5 * _erfc((x - mu * mu / 2) / (mu * math.sqrt(2))),
        mu * mu / 2 - reach,
        mu * mu / 2 + reach,
    )


def randomized_response(e0, values):
    total = math.exp(e0) + values - 1
    atoms = [(e0, math.exp(e0) / total), (-e0, 1 / total), (0.0, (values - 2) / total)]
    return Law(np.zeros_like, -e0, e0, tuple(atom for atom in atoms if atom[1]))


def discrete_laplace(scale, shift):
    a = 1 / scale
    norm = (1 - math.exp(-a)) / (1 + math.exp(-a))
    inner = [(a * (shift - 2 * k), norm * math.exp(-a * k)) for k in range(1, shift)]
    ends = [
        (a * shift, 1 / (1 + math.exp(-a))),
        (-a * shift, math.exp(-a * shift) / (1 + math.exp(-a))),
    ]
    return Law(np.zeros_like, -a * shift, a * shift, (*inner, *ends))


def sampled(law, q, direction):
    """The pair on a Poisson sample, of a law whose P and Q mirror each other."""
    sign = 1 if direction == 0 else -1

    def inner(x):  # the loss without sampling that becomes x
        with np.errstate(divide="ignore", invalid="ignore"):
            return sign * np.log((np.exp(sign * x) - 1 + q) / q)

    def loss(inner_loss):
        return sign * math.log1p(q * math.expm1(sign * inner_loss))

    def mirrored(l):  # Pr under Q of a loss above l is that under P of one below −l, of the density part
        return law.above(np.full_like(l, -np.inf)) - law.above(-l)

    def above(x):
        l = inner(x)
        l = np.where(np.isnan(l), -np.inf if direction == 0 else np.inf, l)
        if direction == 1:
            return law.above(l)
        under_q = mirrored(l) if not law.atoms else _density_under_q(law, l)
        return q * law.above(l) + (1 - q) * under_q

    def mixed(atom):
        value, mass = atom
        return mass if direction == 1 else q * mass + (1 - q) * mass * math.exp(-value)

    atoms = tuple((loss(atom[0]), mixed(atom)) for atom in law.atoms)
    return Law(above, loss(law.low), loss(law.high), atoms)


def _density_under_q(law, l):
    """Pr under Q of a loss above l, of the part with a density: by the mirror image of P's own part."""
    everything = law.above(np.array([-np.inf]))[0]
    return everything - law.above(-l)


def _bracket(law, step, rounding):
    """(first cell, masses, what is sent to infinity) with all losses rounded down or up."""
    first, last = math.floor(law.low / step), math.ceil(law.high / step)
    edges = np.arange(first, last + 1) * step
    masses = np.zeros(last - first + 1)
    above = law.above(edges)
    cells = np.maximum(above[:-1] - above[1:], 0.0)
    up = rounding is np.ceil
    masses[1:] += cells if up else 0.0
    masses[:-1] += 0.0 if up else cells
    beyond = float(above[-1])
    if up:
        masses[0] += max(float(law.above(np.array([-np.inf]))[0] - above[0]), 0.0)
    for loss, mass in law.atoms:
        place = rounding(loss / step + (1e-9 if up else -1e-9))
        masses[int(min(max(place, first), last)) - first] += mass
    return first, masses, beyond if up else 0.0


def delta_bracket(terms, epsilon, theta):
    """δ(ε) of [(law, count), ...] from below and above, with this tilt."""
    span = sum(count * (law.high - law.low) for law, count in terms)
    uses = sum(count for _, count in terms)
    step = span / (CELLS - 4 * uses - 4 * len(terms))
    return [_composed(terms, epsilon, theta, step, rounding) for rounding in (np.floor, np.ceil)]


def _composed(terms, epsilon, theta, step, rounding):
    start, height, lost, transform = 0, 0.0, 0.0, np.ones(CELLS // 2 + 1, dtype=complex)
    for law, count in terms:
        first, masses, beyond = _bracket(law, step, rounding)
        with np.errstate(divide="ignore"):
            logs = np.log(masses) + theta * step * (first + np.arange(masses.size))
        top = logs.max()
        tilted = np.exp(logs - top)
        whole = tilted.sum()
        transform *= np.fft.rfft(tilted / whole, CELLS) ** count
        height += count * (top + math.log(whole))
        start += first * count
        lost += count * beyond
    tilted = np.maximum(np.fft.irfft(transform, CELLS), 0.0)
    losses = step * (start + np.arange(CELLS))
    above = losses > epsilon
    gaps = losses[above] - epsilon
    finite = np.sum(tilted[above] * np.exp(-theta * gaps) * -np.expm1(-gaps))
    return float(finite * math.exp(height - theta * epsilon)) + lost


def saddle(terms, epsilon):
    """A tilt for ε: about the least of K(θ) − θε, on a coarse grid of the same laws."""

    def exponent(theta):
        total = -theta * epsilon
        for law, count in terms:
            first, masses, _ = _bracket(law, (law.high - law.low) / 512, np.ceil)
            with np.errstate(divide="ignore"):
                logs = np.log(masses) + theta * (law.high - law.low) / 512 * (first + np.arange(masses.size))
            total += count * (logs.max() + math.log(np.exp(logs - logs.max()).sum()))
        return total

    return min((2.0 ** (i / 2) for i in range(-12, 24)), key=exponent)
