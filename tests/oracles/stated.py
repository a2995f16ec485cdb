"""The scales at which exactness is shown, and the parameters of the sampler of each law."""

from fractions import Fraction

VANISHING = Fraction(1, 2**40)
WIDE = Fraction(2**70)
SCALES = [
    Fraction(1, 3),
    Fraction(1),
    Fraction(7, 5),
    Fraction(1000),
    10**6 + Fraction(1, 7),
    VANISHING,
    WIDE,
]
GEOMETRIC = ("linear", 1, "whole")
LAPLACE = ("linear", 2, "whole")
DISCRETE_GAUSSIAN = ("quadratic", 2, "whole")
ROUNDED_GAUSSIAN = ("quadratic", 2, "continuous")
LAWS = [GEOMETRIC, LAPLACE, DISCRETE_GAUSSIAN, ROUNDED_GAUSSIAN]
NAMES = ["geometric", "laplace", "discrete gaussian", "rounded gaussian"]
