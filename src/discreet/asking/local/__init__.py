"""Local privacy: everyone randomises their own record, and nobody has to be trusted with the truth.

A protocol object is public. Its client half, `randomize`, runs where the data are; its collector half,
`estimate`, sees nothing but reports, which are plain JSON values.
"""

import json
from collections.abc import Sequence
from typing import Any

from discreet.asking.local.choice import Choice
from discreet.asking.local.client import Client
from discreet.asking.local.domain import Domain
from discreet.asking.local.page import write_page
from discreet.asking.local.projective import ProjectiveChoice, choose_protocol
from discreet.asking.local.questions import Questions
from discreet.asking.local.shares import Shares
from discreet.asking.local.wave_number import Distribution, WaveNumber
from discreet.asking.local.window_number import LaplaceNumber, WindowNumber
from discreet.errors import InvalidParameter
from discreet.kernel.numerics import Real, exact_epsilon

__all__ = [
    "Choice",
    "Client",
    "Distribution",
    "LaplaceNumber",
    "ProjectiveChoice",
    "Questions",
    "Shares",
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


def from_json(
    protocol: str | dict[str, Any],
) -> Choice | ProjectiveChoice | WaveNumber | WindowNumber | LaplaceNumber:
    """The protocol that `to_json` wrote: both halves can be run from it, apart.

    >>> from_json(choice(values=["a", "b"], epsilon=1).to_json()) == choice(values=["a", "b"], epsilon=1)
    True
    """
    if isinstance(protocol, str):
        try:
            protocol = json.loads(protocol)
        except json.JSONDecodeError:
            raise InvalidParameter("a protocol must be JSON.", parameter="protocol") from None
    fields: dict[str, Any] = protocol if isinstance(protocol, dict) else {}
    if fields.get("version") != 1:
        raise InvalidParameter("a protocol must be an object of version 1.", parameter="version")
    for known in (Choice, ProjectiveChoice, WaveNumber, WindowNumber, LaplaceNumber):
        if fields.get("protocol") == known.protocol:
            return known.from_json(fields)
    raise InvalidParameter(
        "a protocol must name its kind: choice, projective, window, wave or laplace.", parameter="protocol"
    )
