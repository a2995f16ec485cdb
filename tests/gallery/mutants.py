"""Faults that no way of looking was written for: a check on the auditor, not on the mechanisms."""

import numpy as np
from tests.gallery.broken import GALLERY, broken
from tests.gallery.noise import laplace, rng

_before = len(GALLERY)


@broken(
    fault="the sign of a product of two cells, each of them fair", claim=1, neighbours=(0, 1), true=np.inf
)
def sign_of_a_product(x, n):
    cells = rng.integers(1, 2**20, (n, 2)) * rng.choice([-1, 1], (n, 2))
    cells[:, 1] = np.abs(cells[:, 1]) * np.sign(cells[:, 0]) * (1 - 2 * x)
    return cells


@broken(fault="a weighted sum of three cells has no noise", claim=1, neighbours=(0, 1), true=np.inf)
def weighted_sum_without_noise(x, n):
    noise = laplace(50, (n, 2))
    return np.column_stack((noise[:, 0] + x, noise[:, 1], -(2 * noise[:, 0] + 5 * noise[:, 1])))


@broken(fault="a trailing blank in one text in ten", claim=1, neighbours=("no", "yes"), true=np.inf)
def trailing_blank(x, n):
    blank = rng.random(n) < 0.1
    return [
        f"{value}{' ' if b and x == 'yes' else ''}" for value, b in zip(laplace(3, n), blank, strict=True)
    ]


@broken(fault="the third decimal is the data", claim=1, neighbours=(1, 2), true=np.inf)
def third_decimal(x, n):
    return np.round(laplace(20, n) / 100 + x / 1000, 3)


@broken(fault="the residue modulo 3 depends on the data", claim=1, neighbours=(0, 1), true=np.inf)
def residue_modulo_three(x, n):
    return 3 * laplace(200, n) + x


@broken(fault="the spread of the noise depends on the data", claim=0.5, neighbours=(1, 4))
def spread_by_the_data(x, n):
    return laplace(10 * x, n)


@broken(fault="one output in 500 is longer", claim=1, neighbours=([0], [0, 0]))
def sometimes_longer(data, n):
    longer = rng.random(n) < 0.002 * (len(data) - 1)
    return [[int(v)] * (2 if more else 1) for v, more in zip(laplace(2, n), longer, strict=True)]


@broken(fault="minus zero on one side", claim=1, neighbours=(0, 1), true=np.inf)
def minus_zero(x, n):
    noise = laplace(2, n).astype(float)
    return np.where(noise == 0, -0.0 if x else 0.0, noise)


@broken(
    fault="an int instead of a float when the answer is the truth", claim=1, neighbours=(2, 3), true=np.inf
)
def type_tells_the_truth(x, n):
    return [int(v) if v == x else float(v) for v in x + laplace(2, n)]


@broken(fault="the error message counts the rows", claim=1, neighbours=([1], [1, 1]), true=np.inf)
def message_counts_rows(data, n):
    raise ValueError(f"expected 3 rows, found {len(data)}")


@broken(fault="the first two cells agree more often than the noise allows", claim=1, neighbours=(0, 1))
def cells_agree(x, n):
    cells = rng.integers(0, 1000, (n, 5))
    agree = rng.random(n) < (0.5 if x else 0.02)
    cells[agree, 1] = cells[agree, 0]
    return cells


@broken(fault="a neighbourhood of 1/2 is left out", claim=1, neighbours=(0, 1), true=np.inf)
def hole_in_the_support(x, n):
    values = rng.integers(0, 2**20, n)
    hole = np.abs(values - 2**19) < 2**15
    return np.where(hole & (x == 0), 0, values)


MUTANTS = GALLERY[_before:]
del GALLERY[_before:]
