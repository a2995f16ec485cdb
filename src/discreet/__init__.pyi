# The public names of discreet: this list is the contract, and the only one. discreet/__init__.py reads it.
from discreet import auditing as auditing, losses as losses, pictures as pictures
from discreet.auditing import AuditReport as AuditReport, audit as audit
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
    Unauthenticated as Unauthenticated,
    UnsupportedQuery as UnsupportedQuery,
)
from discreet.losses import (
    GDP as GDP,
    ZCDP as ZCDP,
    ApproxDP as ApproxDP,
    PrivacyLoss as PrivacyLoss,
    PureDP as PureDP,
    RenyiDP as RenyiDP,
)
from discreet.mechanisms import Gaussian as Gaussian, Laplace as Laplace
from discreet.numerics import Estimate as Estimate, Interval as Interval
from discreet.queries import column as column
from discreet.tables import each_row as each_row

__version__: str
__all__: tuple[str, ...]
