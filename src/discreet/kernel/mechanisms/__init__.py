"""One mechanism per file, and one line here. The law, step included, is fixed when the object is made.

Conformance tests, exact audits, `discreet audit NAME`, pictures and the table in docs/mechanisms.md read ALL.
"""

from typing import Any

from discreet.kernel.mechanisms.counted_keys import CountedKeys as CountedKeys
from discreet.kernel.mechanisms.discrete_gaussian import DiscreteGaussian as DiscreteGaussian
from discreet.kernel.mechanisms.exponential import Exponential as Exponential
from discreet.kernel.mechanisms.gaussian import Gaussian as Gaussian
from discreet.kernel.mechanisms.key_selection import KeySelection as KeySelection
from discreet.kernel.mechanisms.ladder import Ladder as Ladder
from discreet.kernel.mechanisms.laplace import Laplace as Laplace
from discreet.kernel.mechanisms.mechanism import (
    Additive,
    Mechanism as Mechanism,
    additive_noise as additive_noise,
)
from discreet.kernel.mechanisms.noisy_max import NoisyMax as NoisyMax
from discreet.kernel.mechanisms.permute_and_flip import PermuteAndFlip as PermuteAndFlip
from discreet.kernel.mechanisms.quantile import Quantile as Quantile
from discreet.kernel.mechanisms.randomized_response import RandomizedResponse as RandomizedResponse
from discreet.kernel.mechanisms.sparse_vector import (
    AboveThreshold as AboveThreshold,
    NumericSparse as NumericSparse,
    Sparse as Sparse,
)
from discreet.kernel.mechanisms.staircase import Staircase as Staircase
from discreet.kernel.mechanisms.top_k import TopK as TopK

# Every mechanism that is imported above, by name.
ALL: tuple[type[Any], ...] = tuple(
    kind
    for _, kind in sorted(globals().items())
    if isinstance(kind, type) and kind not in (Additive, Mechanism) and hasattr(kind, "examples")
)


def list_additive() -> tuple[type[Additive], ...]:
    """Return the mechanisms that add noise on a lattice."""
    return tuple(kind for kind in ALL if issubclass(kind, Additive))
