"""Privacy losses that compose, certified on both sides."""

from discreet.losses.additive import gaussian, laplace
from discreet.losses.approximate import ApproxDP, approximate
from discreet.losses.bounded_range import bounded_range
from discreet.losses.channel import channel, randomized_response
from discreet.losses.family import REGISTRY, Family
from discreet.losses.gdp import GDP
from discreet.losses.lattice import discrete_gaussian, discrete_laplace
from discreet.losses.loss import PrivacyLoss
from discreet.losses.pure import PureDP, pure
from discreet.losses.relation import RELATIONS, Relation, check_relation
from discreet.losses.renyi import RenyiDP
from discreet.losses.sampled import Sampled
from discreet.losses.zcdp import ZCDP, zcdp

__all__ = [
    "GDP",
    "REGISTRY",
    "RELATIONS",
    "ZCDP",
    "ApproxDP",
    "Family",
    "PrivacyLoss",
    "PureDP",
    "Relation",
    "RenyiDP",
    "Sampled",
    "approximate",
    "bounded_range",
    "channel",
    "check_relation",
    "discrete_gaussian",
    "discrete_laplace",
    "gaussian",
    "laplace",
    "pure",
    "randomized_response",
    "zcdp",
]
