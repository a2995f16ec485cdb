"""Secure bits and exact samplers. Every sampler takes its source first; nothing can be seeded."""

from discreet.kernel.randomness.noise import discrete_gaussian, discrete_laplace, geometric, rounded_gaussian
from discreet.kernel.randomness.selection import choice, permute_and_flip, weighted_choice
from discreet.kernel.randomness.source import (
    Source,
    bernoulli,
    bernoulli_exp,
    bernoulli_real,
    fresh_source,
    uniform_below,
)

__all__ = [
    "Source",
    "bernoulli",
    "bernoulli_exp",
    "bernoulli_real",
    "choice",
    "discrete_gaussian",
    "discrete_laplace",
    "fresh_source",
    "geometric",
    "permute_and_flip",
    "rounded_gaussian",
    "uniform_below",
    "weighted_choice",
]
