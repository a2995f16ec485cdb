"""Privacy losses that compose, certified on both sides."""

from discreet.kernel.losses.additive import gaussian, laplace, staircase
from discreet.kernel.losses.approximate import ApproxDP, approximate
from discreet.kernel.losses.best_of import BestOf
from discreet.kernel.losses.bounded_range import bounded_range
from discreet.kernel.losses.channel import channel, randomized_response
from discreet.kernel.losses.composing import (
    compose_advanced,
    compose_basic,
    compose_optimal,
    exponential_nonadaptive,
)
from discreet.kernel.losses.distribution import LossDistribution, approx_max_divergence, max_divergence
from discreet.kernel.losses.drawn import Drawn
from discreet.kernel.losses.expression import read_loss
from discreet.kernel.losses.family import REGISTRY, RELATIONS, Family, Relation, check_relation
from discreet.kernel.losses.gdp import GDP
from discreet.kernel.losses.lattice import discrete_gaussian, discrete_laplace
from discreet.kernel.losses.loss import PrivacyLoss
from discreet.kernel.losses.notion import Notion, make_notion, read_notion
from discreet.kernel.losses.parallel import parallel
from discreet.kernel.losses.pure import PureDP, pure
from discreet.kernel.losses.renyi import RenyiDP
from discreet.kernel.losses.sampled import Sampled
from discreet.kernel.losses.shuffle import shuffled, shuffled_closed_form
from discreet.kernel.losses.trade_off import Risk, risk
from discreet.kernel.losses.truncated import truncated_laplace
from discreet.kernel.losses.zcdp import ZCDP, zcdp

__all__ = [
    "GDP",
    "REGISTRY",
    "RELATIONS",
    "ZCDP",
    "ApproxDP",
    "BestOf",
    "Drawn",
    "Family",
    "LossDistribution",
    "Notion",
    "PrivacyLoss",
    "PureDP",
    "Relation",
    "RenyiDP",
    "Risk",
    "Sampled",
    "approx_max_divergence",
    "approximate",
    "bounded_range",
    "channel",
    "check_relation",
    "compose_advanced",
    "compose_basic",
    "compose_optimal",
    "discrete_gaussian",
    "discrete_laplace",
    "exponential_nonadaptive",
    "gaussian",
    "laplace",
    "make_notion",
    "max_divergence",
    "parallel",
    "pure",
    "randomized_response",
    "read_loss",
    "read_notion",
    "risk",
    "shuffled",
    "shuffled_closed_form",
    "staircase",
    "truncated_laplace",
    "zcdp",
]


def __dir__() -> list[str]:
    return list(__all__)
