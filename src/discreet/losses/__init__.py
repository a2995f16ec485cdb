"""Privacy losses that compose, certified on both sides."""

from discreet.losses.additive import gaussian, laplace
from discreet.losses.approximate import ApproxDP, approximate
from discreet.losses.bounded_range import bounded_range
from discreet.losses.channel import channel, randomized_response
from discreet.losses.composing import compose_advanced, compose_basic, compose_optimal
from discreet.losses.distribution import LossDistribution
from discreet.losses.divergence import approx_max_divergence, max_divergence
from discreet.losses.drawn import Drawn
from discreet.losses.expression import read_loss
from discreet.losses.family import REGISTRY, Family
from discreet.losses.gdp import GDP
from discreet.losses.lattice import discrete_gaussian, discrete_laplace
from discreet.losses.loss import PrivacyLoss
from discreet.losses.nonadaptive import exponential_nonadaptive
from discreet.losses.parallel import parallel
from discreet.losses.pure import PureDP, pure
from discreet.losses.relation import RELATIONS, Relation, check_relation
from discreet.losses.renyi import RenyiDP
from discreet.losses.sampled import Sampled
from discreet.losses.shuffle import shuffled, shuffled_closed_form
from discreet.losses.zcdp import ZCDP, zcdp

__all__ = [
    "GDP",
    "REGISTRY",
    "RELATIONS",
    "ZCDP",
    "ApproxDP",
    "Drawn",
    "Family",
    "LossDistribution",
    "PrivacyLoss",
    "PureDP",
    "Relation",
    "RenyiDP",
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
    "max_divergence",
    "parallel",
    "pure",
    "randomized_response",
    "read_loss",
    "shuffled",
    "shuffled_closed_form",
    "zcdp",
]
