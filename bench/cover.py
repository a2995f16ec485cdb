"""The proof before each draw: what it costs to hold a plan against its promise."""

from fractions import Fraction
from typing import Any

from bench.harness import Report, Rivals, Row, seconds
from discreet.asking.planning import Plan, plan_asked, with_bounds
from discreet.asking.policy import Policy, from_arguments
from discreet.kernel.losses.bounds import epsilon_and_delta_at_most

CITIES = tuple(f"city {number}" for number in range(200))
COUNT = "SELECT COUNT(*) AS n FROM t"
CUBE = "SELECT city, SUM(x) AS a, AVG(x) AS b, COUNT(*) AS c, MEDIAN(x) AS m FROM t GROUP BY CUBE (city)"
FOUND = (Fraction(0), Fraction(1024))
SUMS_S, CURVE_S = 1e-3, 20e-3
ROUNDS = 20


def run(_: Rivals) -> Report:
    """Plans fixed before, and plans finished after a search."""
    report = Report("Cover: seconds to prove that what runs was charged")
    pure, both, rho = {"epsilon": 100}, {"epsilon": 100, "delta": Fraction(1, 10)}, {"rho": 100}
    declared = policy(pure, bounds={"x": (0, 100)})
    report.add(Row("a count", proof(declared, COUNT, epsilon=1), limit=SUMS_S))
    report.add(Row("four columns in two grouping sets", proof(declared, CUBE, epsilon=1), limit=SUMS_S))
    for words, budget, price, limit in (
        ("a pure price", pure, {"epsilon": 1}, SUMS_S),
        ("a price in rho", rho, {"rho": 1}, CURVE_S),
        ("epsilon and delta", both, {"epsilon": 3, "delta": Fraction(1, 10**6)}, CURVE_S),
    ):
        cost = proof(policy(budget), CUBE, bounds="auto", **price)
        report.add(Row(f"the same after a search, {words}", cost, limit=limit))
    return report


def policy(budget: dict[str, Any], **declared: Any) -> Policy:
    return from_arguments(
        id="t",
        sources={"t": None},
        unit="person",
        budget=budget,
        max_groups=30,
        max_rows=3,
        keys={"city": CITIES},
        types={"x": "integer"},
        **declared,
    )


def proof(policy: Policy, sql: str, **terms: Any) -> float:
    """The least time of several, each with bounds of its own, so that nothing is remembered."""
    costs = []
    for turn in range(ROUNDS):
        (plan,) = plan_asked(sql, policy, **terms)
        costs.append(_proof(plan, (FOUND[0], FOUND[1] + turn)))
    return min(costs)


def _proof(plan: Plan, found: tuple[Fraction, Fraction]) -> float:
    promises = plan.promises
    if plan.search is None:
        return seconds(lambda: [one.check((each,)) for one, each in zip(promises, plan.stages, strict=True)])
    finished = with_bounds(plan, (found,) * len(plan.search.stages))
    stages = [stage for each in finished.sets for stage in each.stages]
    epsilon_and_delta_at_most.cache_clear()
    return seconds(lambda: promises[-1].check(stages))
