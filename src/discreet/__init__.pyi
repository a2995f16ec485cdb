# The public names of discreet: this list is the contract, and the only one. discreet/__init__.py reads it.
from discreet.apps import auditing as auditing, pictures as pictures
from discreet.apps.auditing import (
    AuditReport as AuditReport,
    QuestionReport as QuestionReport,
    ReplayReport as ReplayReport,
    audit as audit,
    audit_question as audit_question,
    replay as replay,
)
from discreet.asking import local as local
from discreet.asking.answers import Answer as Answer, Receipt as Receipt
from discreet.asking.client import connect as connect
from discreet.asking.curator import Curator as Curator
from discreet.asking.planning import Plan as Plan
from discreet.asking.policy import FrameWarning as FrameWarning, each_row as each_row
from discreet.asking.queries import column as column
from discreet.errors import (
    BudgetExceeded as BudgetExceeded,
    DiscreetError as DiscreetError,
    EngineFailure as EngineFailure,
    EntropyFailure as EntropyFailure,
    Finished as Finished,
    InternalError as InternalError,
    InvalidParameter as InvalidParameter,
    LedgerConflict as LedgerConflict,
    PolicyViolation as PolicyViolation,
    Rationed as Rationed,
    Unauthenticated as Unauthenticated,
    UnsupportedQuery as UnsupportedQuery,
)
from discreet.kernel import accounting as accounting, losses as losses
from discreet.kernel.accounting import Training as Training, training as training
from discreet.kernel.losses import (
    GDP as GDP,
    ZCDP as ZCDP,
    ApproxDP as ApproxDP,
    PrivacyLoss as PrivacyLoss,
    PureDP as PureDP,
    RenyiDP as RenyiDP,
    Risk as Risk,
    approx_max_divergence as approx_max_divergence,
    compose_advanced as compose_advanced,
    compose_basic as compose_basic,
    compose_optimal as compose_optimal,
    max_divergence as max_divergence,
    risk as risk,
)
from discreet.kernel.mechanisms import (
    AboveThreshold as AboveThreshold,
    CountedKeys as CountedKeys,
    DiscreteGaussian as DiscreteGaussian,
    Exponential as Exponential,
    Gaussian as Gaussian,
    KeySelection as KeySelection,
    Ladder as Ladder,
    Laplace as Laplace,
    Mechanism as Mechanism,
    NoisyMax as NoisyMax,
    NumericSparse as NumericSparse,
    PermuteAndFlip as PermuteAndFlip,
    Quantile as Quantile,
    RandomizedResponse as RandomizedResponse,
    Sparse as Sparse,
    Staircase as Staircase,
    TopK as TopK,
)
from discreet.kernel.mechanisms.mechanism import DimensionWarning as DimensionWarning
from discreet.kernel.mechanisms.statistics import (
    DeltaWarning as DeltaWarning,
    bounded_sum as bounded_sum,
    count as count,
    histogram as histogram,
    mean as mean,
    median as median,
    proportion as proportion,
    quantile as quantile,
    variance as variance,
)
from discreet.kernel.numerics import Estimate as Estimate, Interval as Interval

__version__: str
__all__: tuple[str, ...]

def load_ipython_extension(shell: object) -> None: ...
