"""Which protocol for one of several values: the least error, then the shortest report."""

import math
from fractions import Fraction

from discreet.asking.local.choice import Choice, best_size
from discreet.asking.local.domain import Domain
from discreet.asking.local.field import is_supported
from discreet.asking.local.projective import MOST_REPORTS, ProjectiveChoice, count_digits

ALIKE = Fraction(101, 100)  # variances within 1 % of the least count as equal
MOST_HELD = 64  # values in a report of subset selection: some hundred bytes


def choose_protocol(domain: Domain, epsilon: Fraction) -> Choice | ProjectiveChoice:
    """Return the protocol with the shortest reports among those whose variance is within 1 % of the least.

    Subset selection has the least variance, but its reports hold about k/(e^ε + 1) values; beyond 64 it is
    left out. All numbers here are public; privacy does not depend on the choice.
    """
    fields = _fields_near(domain.size, epsilon)
    found: list[Choice | ProjectiveChoice] = [
        ProjectiveChoice(domain=domain, epsilon=epsilon, field=q) for q in fields
    ]
    if best_size(domain.size, epsilon) <= MOST_HELD or not found:
        found.insert(0, Choice(domain=domain, epsilon=epsilon))
    least = min(each.variance for each in found)
    return min((each for each in found if each.variance <= ALIKE * least), key=lambda each: each.bits)


def _fields_near(values: int, epsilon: Fraction) -> list[int]:
    """The fields whose variance can be near the least: q - 1 within a factor of 2 of e^ε, and few reports.

    With m digits (e^ε + q - 1)²/((e^ε - 1)²(q - 1)) is the limit of the variance, least at q - 1 = e^ε.
    """
    if values < 4:
        return []
    e = math.exp(min(float(epsilon), 10.0))
    near = [q for q in range(2, math.ceil(2 * e) + 2) if q - 1 >= e / 2 - 1 and is_supported(q)]
    few = [q for q in near if q < values and _reports(values, q) <= MOST_REPORTS]
    few.sort(key=lambda q: abs(math.log((q - 1) / e)))
    return sorted(few[:24])


def _reports(values: int, field: int) -> int:
    return sum(field**i for i in range(1, count_digits(values, field) + 1))
