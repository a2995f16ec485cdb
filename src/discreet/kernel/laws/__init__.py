"""Distributions, each stated once: masses and tails, how it is drawn, its variance, loss and sentence."""

from discreet.kernel.laws.gaussian_law import (
    DiscreteGaussianLaw as DiscreteGaussianLaw,
    GaussianLaw as GaussianLaw,
)
from discreet.kernel.laws.laplace_law import (
    LaplaceLaw as LaplaceLaw,
    TruncatedLaplaceLaw as TruncatedLaplaceLaw,
)
from discreet.kernel.laws.lattice_law import (
    FiniteLaw as FiniteLaw,
    LatticeLaw as LatticeLaw,
    join_laws as join_laws,
    plain as plain,
    show as show,
)
from discreet.kernel.laws.report_law import (
    ResponseLaw as ResponseLaw,
    compute_subsets as compute_subsets,
    compute_windows as compute_windows,
)
from discreet.kernel.laws.selection_law import (
    KeepingLaw as KeepingLaw,
    add_values as add_values,
    compute_noisy_max as compute_noisy_max,
    compute_peeling as compute_peeling,
    compute_permute_and_flip as compute_permute_and_flip,
    compute_softmax as compute_softmax,
    compute_transcripts as compute_transcripts,
)
from discreet.kernel.laws.staircase_law import StaircaseLaw as StaircaseLaw, choose_width as choose_width
