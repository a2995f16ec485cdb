"""Distributions, each stated once: masses and tails, how it is drawn, its variance, loss and sentence."""

from discreet.laws.gaussian_law import DiscreteGaussianLaw, GaussianLaw
from discreet.laws.key_law import KeepingLaw
from discreet.laws.laplace_law import LaplaceLaw, TruncatedLaplaceLaw
from discreet.laws.lattice_law import FiniteLaw, LatticeLaw, join_laws, plain, show
from discreet.laws.report_law import ResponseLaw, compute_subsets, compute_windows
from discreet.laws.selection_law import (
    compute_noisy_max,
    compute_peeling,
    compute_permute_and_flip,
    compute_softmax,
)
from discreet.laws.sparse_law import add_values, compute_transcripts
from discreet.laws.staircase_law import StaircaseLaw, choose_width

__all__ = [
    "DiscreteGaussianLaw",
    "FiniteLaw",
    "GaussianLaw",
    "KeepingLaw",
    "LaplaceLaw",
    "LatticeLaw",
    "ResponseLaw",
    "StaircaseLaw",
    "TruncatedLaplaceLaw",
    "add_values",
    "choose_width",
    "compute_noisy_max",
    "compute_peeling",
    "compute_permute_and_flip",
    "compute_softmax",
    "compute_subsets",
    "compute_transcripts",
    "compute_windows",
    "join_laws",
    "plain",
    "show",
]
