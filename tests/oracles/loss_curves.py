"""Slow, obvious curves δ(ε) of composed losses, in mpmath, written without a look at the fast code."""

import mpmath
import numpy as np
from flint import arb, arb_poly, ctx
from mpmath import mp, mpf


def two_points(k, high, low, p, epsilon):
    """Σ over all 2^k outcomes, grouped: losses `high` with probability p and `low` otherwise."""
    total, mass, odds = mpf(0), p**k, (1 - p) / p
    for j in range(k + 1):
        loss = (k - j) * high + j * low
        if loss <= epsilon:
            break
        total += mass * (1 - mpmath.exp(epsilon - loss))
        mass *= odds * (k - j) / (j + 1)
    return total


def randomised_response(k, e0, epsilon):
    e0 = mpf(e0)
    return two_points(k, e0, -e0, 1 / (1 + mpmath.exp(-e0)), mpf(epsilon))


def gaussian(k, mu, epsilon):
    mu, e = mpf(mu) * mpmath.sqrt(k), mpf(epsilon)
    return mpmath.ncdf(mu / 2 - e / mu) - mpmath.exp(e) * mpmath.ncdf(-mu / 2 - e / mu)


def laplace(k, e0, epsilon):
    """Expand the k-fold law into atoms and polynomial pieces, and integrate each piece in closed form.

    One loss is e^((l−ε₀)/2)/2 times two unit atoms at ±ε₀ plus the density 1/2 on [−ε₀, ε₀]; in its
    transform that is (1 + u)E + (1 − u)/E with u = 1/(2s), E = e^(ε₀s).
    """
    with mp.workdps(60 + 4 * k):
        e0, e = mpf(e0), mpf(epsilon)
        total = mpf(0)
        for j in range(k + 1):
            knot = e0 * (k - 2 * j)
            if knot <= e:
                break
            total += mpmath.binomial(k, j) * _pieces(k, j, knot, e)
        return +(total * mpmath.exp(-k * e0 / 2) / mpf(2) ** k)


def _pieces(k, j, knot, e):
    coefficients = np.array([1], dtype=object)
    for sign in [1] * (k - j) + [-1] * j:
        coefficients = np.convolve(coefficients, np.array([1, sign], dtype=object))
    y = knot - e
    small, large = mpmath.exp(-y / 2), mpmath.exp(y / 2)
    total = int(coefficients[0]) * mpmath.exp(knot / 2) * (1 - mpmath.exp(-y))
    falling, rising, power = 2 * (1 - small), 2 * (large - 1), mpf(1)  # ∫ v^(m−1)/(m−1)! e^(∓v/2) over [0, y]
    for m in range(1, k + 1):
        if m > 1:
            power *= y / (m - 1)
            falling, rising = 2 * (falling - power * small), 2 * (power * large - rising)
        piece = mpmath.exp(knot / 2) * falling - mpmath.exp(e - knot / 2) * rising
        total += int(coefficients[m]) * piece / mpf(2) ** m
    return total


def on_a_line(log_transform, epsilon, *, theta, window, last):
    """δ by Fourier inversion along Re z = θ, with far more nodes and digits than are needed."""
    step = 2 * mp.pi / window
    total = mpf(0)
    for j in range(last + 1):
        z = mpmath.mpc(theta, step * j)
        value = mpmath.exp(log_transform(z) - z * epsilon) / (z * (z + 1))
        total += (value.real if j == 0 else 2 * value.real) / window
    return total


def many_laplaces(k, e0, epsilon, theta):
    e0 = mpf(e0)

    def log_transform(z):
        up = mpmath.exp(z * e0)
        down = mpmath.exp(-(z + 1) * e0)
        return k * mpmath.log((up + down) / 2 + (up - down) / (4 * z + 2))

    return on_a_line(log_transform, mpf(epsilon), theta=mpf(theta), window=mpf(400), last=2500)


def rounded_grid(losses, weights, k, epsilon, *, step):
    """Brackets: every loss rounded down, and up, to a grid; the k-fold law by plain convolution in floats."""
    ends = []
    for rounding in (np.floor, np.ceil):
        cells = rounding(losses / step).astype(int)
        law = np.bincount(cells - cells.min(), weights)
        total, offset = np.ones(1), 0
        for bit in f"{k:b}":
            total, offset = _convolve(total, total), 2 * offset
            if bit == "1":
                total, offset = _convolve(total, law), offset + cells.min()
        values = step * (offset + np.arange(total.size))
        above = values > epsilon
        ends.append(float(np.sum(total[above] * -np.expm1(epsilon - values[above]))))
    return ends


def _convolve(a, b):
    size = a.size + b.size - 1
    n = 1 << (size - 1).bit_length()
    out = np.fft.irfft(np.fft.rfft(a, n) * np.fft.rfft(b, n), n)[:size]
    return np.maximum(out, 0)


def sampled_gaussian_law(sigma, rate, direction, *, points=20001):
    """(losses, probabilities) of one use on a fine grid of outputs."""
    x = np.linspace(-8 * sigma, 1 + 8 * sigma, points)
    zero = np.exp(-(x**2) / (2 * sigma**2))
    one = np.exp(-((x - 1) ** 2) / (2 * sigma**2))
    mixed = (1 - rate) * zero + rate * one
    first = mixed if direction == "remove" else zero
    losses = np.log1p(rate * np.expm1((2 * x - 1) / (2 * sigma**2)))
    return (losses if direction == "remove" else -losses), first / first.sum()


def sampled_gaussian(sigma, rate, direction, epsilon):
    """One use: q·δ₀(ln(1 + (e^ε − 1)/q)) to remove, c·δ₀(ln(q·e^ε/c)) to add, c = 1 − (1 − q)e^ε."""
    mu, q, e = 1 / mpf(sigma), mpf(rate), mpmath.exp(epsilon)
    if direction == "remove":
        return q * gaussian(1, mu, mpmath.log(1 + (e - 1) / q))
    left = 1 - (1 - q) * e
    return left * gaussian(1, mu, mpmath.log(q * e / left)) if left > 0 else mpf(0)


def many_sampled_gaussians(k, sigma, rate, direction, near):
    """ln δ(ε) for ε near `near`: Fourier inversion of transforms that are summed on a fine real grid.

    Nothing is certified here, but grid, window and nodes are far beyond what the digits asked of it need: for
    a hundred uses and more 64-bit mantissas and twelve digits; fewer reach higher frequencies, and have a
    finer grid, 53 bits and nine digits.
    """
    real, per_unit = (np.longdouble, 24) if k >= 100 else (np.float64, 320)
    v = np.arange(-16, 32, 1 / per_unit, dtype=real)
    weight = np.log1p(real(rate) * np.expm1((v / real(sigma)) - 1 / (2 * real(sigma) ** 2)))
    plain = -v * v / 2 - np.log(2 * real(_PI)) / 2 - np.log(real(per_unit))
    loss, law = (weight, plain + weight) if direction == "remove" else (-weight, plain)

    def log_moment(theta):
        exponents = law + theta * loss
        return exponents.max() + np.log(np.exp(exponents - exponents.max()).sum())

    tilts = np.geomspace(0.05, 1e5, 800)
    theta = real(min(tilts, key=lambda tilt: float(k * log_moment(real(tilt)) - real(tilt) * near)))
    height = log_moment(theta)
    masses, values = np.exp(law + theta * loss - height), []
    spread = np.sqrt(k * ((masses * loss**2).sum() - (masses * loss).sum() ** 2))
    window = 100 / theta + 25 * spread
    for start in range(0, 200_000, 512):
        t = 2 * real(_PI) * np.arange(start, start + 512, dtype=real) / window
        values.append((np.exp(1j * np.outer(t, loss)) @ masses) ** k)
        if np.abs(values[-1]).max() / (1 + (t[0] / theta) ** 2) < 1e-18:
            break
    t = 2 * real(_PI) * np.arange(512 * len(values), dtype=real) / window
    z = theta + 1j * t
    weights = np.concatenate(values) / (z * (z + 1)) / window
    weights[1:] *= 2

    def log_delta(epsilon):
        total = (weights * np.exp(-1j * t * real(epsilon))).real.sum()
        return k * height - theta * real(epsilon) + np.log(total)

    return log_delta


def two_sampled_gaussians(sigma, rate, direction, epsilon):
    """Two uses: one use's curve at what the first loss leaves, averaged over it by a plain sum."""
    mu, q, step = 1 / mpf(sigma), mpf(rate), mpf(1) / 8
    total = mpf(0)
    for i in range(-130, 160):
        weight = 1 + q * mpmath.expm1(mu * i * step - mu**2 / 2)
        mass, loss = (weight, mpmath.log(weight)) if direction == "remove" else (1, -mpmath.log(weight))
        left = mpf(epsilon) - loss
        below = left <= mpmath.log(1 - q) if direction == "remove" else False
        rest = -mpmath.expm1(left) if below else sampled_gaussian(sigma, rate, direction, left)
        total += mpmath.npdf(i * step) * step * mass * rest
    return total


def few_sampled_gaussians_added(k, rate, epsilon, *, points):
    """δ of k >= 2 uses at sigma 1, by adding, in loss space: no transform at all.

    Below the largest loss T the law of y = T − L has a smooth density f that vanishes with all its
    derivatives at 0, and so does one use's own curve D(x) = δ₁(T − x). So δ = (f * ... * f * D)(kT − ε), with
    k − 1 of f, is found by the trapezoid rule on one grid: its error falls faster than any power of its step.
    """
    before, ctx.prec = ctx.prec, 300
    try:
        q = arb(rate.numerator) / rate.denominator
        top, root = -(1 - q).log(), arb(2).sqrt()
        gap = k * top - arb(epsilon)
        step = gap / points

        def density(y):  # w = (1 − q)e^y at v
            part = (1 - q) * y.expm1()
            v = (part / q).log() + arb(0.5)
            return (-v * v / 2).exp() / (2 * arb.pi()).sqrt() * (1 - q) * y.exp() / part

        def one(x):  # c·δ₀(ln(q·e^ε/c)), c = 1 − (1 − q)e^ε = 1 − e^(−x)
            left = -(-x).expm1()
            inner = (q * (top - x).exp() / left).log()
            tails = [((inner + shift) / root).erfc() / 2 for shift in (arb(-0.5), arb(0.5))]
            return left * (tails[0] - inner.exp() * tails[1])

        grid = [step * j for j in range(1, points)]
        law, found = (arb_poly([0, *(f(y) for y in grid)]) for f in (lambda y: density(y) * step, one))
        for bit in reversed(f"{k - 1:b}"):
            found = _cut(found * law, points) if bit == "1" else found
            law = _cut(law * law, points)
        return mpf(found[points].str(40, radius=False))
    finally:
        ctx.prec = before


def _cut(polynomial, degree):
    return arb_poly(polynomial.coeffs()[: degree + 1])


_PI = np.longdouble("3.14159265358979323846264338327950288")
