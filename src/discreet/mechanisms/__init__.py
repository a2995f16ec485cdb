"""One mechanism per file. The law, step included, is fixed when the object is made."""

from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace

__all__ = ["Gaussian", "Laplace"]
