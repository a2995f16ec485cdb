"""Local privacy: everyone randomises their own record, and nobody has to be trusted with the truth.

A protocol object is public. Its client half, `randomize`, runs where the data are; its collector half,
`estimate`, sees nothing but reports, which are plain JSON values.
"""

from collections.abc import Sequence
from typing import Any

from discreet.asking.local.choice import Choice
from discreet.asking.local.client import Client, write_page
from discreet.asking.local.domain import Domain
from discreet.asking.local.projective import ProjectiveChoice, choose_protocol
from discreet.asking.local.questions import Answers, Questions, from_json
from discreet.asking.local.report import Mean
from discreet.asking.local.shares import Shares
from discreet.asking.local.shuffler import Shuffler
from discreet.asking.local.wave_number import Distribution, WaveNumber
from discreet.asking.local.window_number import LaplaceNumber, WindowNumber
from discreet.errors import InvalidParameter
from discreet.kernel.numerics import Real, exact_epsilon

__all__ = [
    "Answers",
    "Choice",
    "Client",
    "Distribution",
    "LaplaceNumber",
    "Mean",
    "ProjectiveChoice",
    "Questions",
    "Shares",
    "Shuffler",
    "WaveNumber",
    "WindowNumber",
    "choice",
    "distribution",
    "from_json",
    "number",
    "write_page",
]


def choice(
    *,
    values: Sequence[Any] | None = None,
    domain: Real | None = None,
    epsilon: Real,
    seed: str | None = None,
) -> Choice | ProjectiveChoice:
    """Return the protocol with the least error for one of several values, then the shortest report.

    The values are listed, or the whole numbers below `domain`, or with a public `seed` any text, which is
    hashed to one of `domain` places.

    >>> choice(values=["tea", "coffee"], epsilon=1).size
    1
    >>> choice(domain=10**6, epsilon=1).field
    4
    """
    known = Domain.of(values=values, domain=domain, seed=seed)
    return choose_protocol(known, exact_epsilon(epsilon))


def number(
    *, bounds: tuple[Real, Real], epsilon: Real, noise: str = "window"
) -> "WindowNumber | LaplaceNumber":
    """A protocol for a bounded number: "window" has the least error, "laplace" is the textbook's.

    >>> number(bounds=(0, 15), epsilon=0.5).levels  # for small epsilon one bit is best
    1
    """
    if noise == "window":
        return WindowNumber(bounds=bounds, epsilon=epsilon)
    if noise == "laplace":
        return LaplaceNumber(bounds=bounds, epsilon=epsilon)
    raise InvalidParameter(f'noise must be "window" or "laplace", got {str(noise)[:60]}.', parameter="noise")


def distribution(*, bounds: tuple[Real, Real], epsilon: Real, bins: Real = 32) -> WaveNumber:
    """Return a protocol for the distribution of a bounded number, in equal bins, with its quantiles.

    >>> distribution(bounds=(0, 15), epsilon=1, bins=16).places
    23
    """
    return WaveNumber(bounds=bounds, epsilon=epsilon, bins=bins)


def __dir__() -> list[str]:
    return list(__all__)
