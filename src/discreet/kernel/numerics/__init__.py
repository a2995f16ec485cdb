"""Numbers that cannot lie: exact rationals, directed rounding, certified enclosures, one monotone search."""

from discreet.kernel.numerics.binomial import (
    clopper_pearson,
    mean_limits,
    normal_quantile,
    success_lower,
    success_upper,
    wilson,
)
from discreet.kernel.numerics.enclosure import (
    Arb,
    ball,
    certified_floor,
    certified_sign,
    power,
    working_precision,
)
from discreet.kernel.numerics.interval import Estimate, Interval
from discreet.kernel.numerics.rational import (
    Real,
    exact,
    exact_confidence,
    exact_delta,
    exact_epsilon,
    exact_positive,
    exact_probability,
    exact_quantile,
    exact_whole,
)
from discreet.kernel.numerics.rounding import (
    exponent_of_two,
    largest_power_of_two,
    round_down,
    round_up,
    state_down,
    state_up,
    stated,
)
from discreet.kernel.numerics.search import least_passing, least_whole
from discreet.kernel.numerics.show import readable, readable_up, short_down, short_up, show_exact

__all__ = [
    "Arb",
    "Estimate",
    "Interval",
    "Real",
    "ball",
    "certified_floor",
    "certified_sign",
    "clopper_pearson",
    "exact",
    "exact_confidence",
    "exact_delta",
    "exact_epsilon",
    "exact_positive",
    "exact_probability",
    "exact_quantile",
    "exact_whole",
    "exponent_of_two",
    "largest_power_of_two",
    "least_passing",
    "least_whole",
    "mean_limits",
    "normal_quantile",
    "power",
    "readable",
    "readable_up",
    "round_down",
    "round_up",
    "short_down",
    "short_up",
    "show_exact",
    "state_down",
    "state_up",
    "stated",
    "success_lower",
    "success_upper",
    "wilson",
    "working_precision",
]
