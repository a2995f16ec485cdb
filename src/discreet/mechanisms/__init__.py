"""One mechanism per file. The law, step included, is fixed when the object is made."""

from discreet.mechanisms.above_threshold import AboveThreshold
from discreet.mechanisms.counted_keys import CountedKeys
from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.key_selection import KeySelection
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.numeric_sparse import NumericSparse
from discreet.mechanisms.permute_and_flip import PermuteAndFlip
from discreet.mechanisms.quantile import Quantile
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.mechanisms.sparse import Sparse
from discreet.mechanisms.staircase import Staircase
from discreet.mechanisms.top_k import TopK

# A mechanism = one file, one line here, one test file. The shared checks run over all of them.
ALL = (
    AboveThreshold,
    CountedKeys,
    DiscreteGaussian,
    Exponential,
    Gaussian,
    KeySelection,
    Laplace,
    NoisyMax,
    NumericSparse,
    PermuteAndFlip,
    Quantile,
    RandomizedResponse,
    Sparse,
    Staircase,
    TopK,
)

__all__ = [
    "ALL",
    "AboveThreshold",
    "CountedKeys",
    "DiscreteGaussian",
    "Exponential",
    "Gaussian",
    "KeySelection",
    "Laplace",
    "NoisyMax",
    "NumericSparse",
    "PermuteAndFlip",
    "Quantile",
    "RandomizedResponse",
    "Sparse",
    "Staircase",
    "TopK",
]
