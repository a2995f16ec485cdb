"""What the kept ledgers were opened with and asked: read by `make.py`, which made them, and by the tests."""

from typing import Any

from discreet.kernel.losses import PureDP

DATA = "people.csv"  # 60 invented people, two accounts each
KEY = b"the key of a kept ledger"
OPENING: dict[str, Any] = {
    "unit": "person",
    "types": {"person": "integer", "age": "integer", "opened": "date", "debt": "number", "income": "number"},
    "bounds": {"debt": (0, 1000), "age": (0, 120), "opened": ("2020-01-01", "2020-01-04")},
    "keys": {"city": ["Ottawa", "Toronto"], "kind": ["card", "loan"]},
    "max_groups": 2,
    "max_rows": 2,
    "population": 60,
}
COUNT = "SELECT city, COUNT(*) AS n, COUNT(DISTINCT person) AS people FROM people GROUP BY city"
SUM = "SELECT kind, SUM(debt) AS owed FROM people WHERE age > 30 GROUP BY kind ORDER BY owed DESC"
AVERAGE = "SELECT city, AVG(debt) AS mean, COUNT(*) AS n FROM people GROUP BY city"
MEDIAN = "SELECT MEDIAN(age) AS middle, QUANTILE(debt, 0.9) AS high FROM people"
CHOICES = "SELECT kind, MODE(city) AS most, MEDIAN(age) AS middle FROM people GROUP BY kind"
SPREAD = "SELECT VARIANCE(debt) AS spread, MIN(debt) AS least, MAX(debt) AS greatest FROM people"
FOUND_KEYS = "SELECT job, COUNT(DISTINCT person) AS people FROM people GROUP BY job"
FOUND_SUMS = "SELECT job, SUM(debt) AS owed FROM people GROUP BY job HAVING SUM(debt) > 0"
ROLLUP = "SELECT city, kind, COUNT(*) AS n FROM people GROUP BY ROLLUP(city, kind)"
DATES = "SELECT opened, COUNT(*) AS n FROM people WHERE opened > DATE '2020-01-01' GROUP BY opened"
TOTAL = "SELECT SUM(income) AS income FROM people"
EACH_CITY = "SELECT city, SUM(income) AS income FROM people GROUP BY city"

EPSILON = [
    (COUNT, {"epsilon": 0.5}),
    (SUM, {"epsilon": 0.5}),
    (AVERAGE, {"epsilon": 0.5, "confidence": 0.9}),
    (MEDIAN, {"epsilon": 0.5}),
    (CHOICES, {"epsilon": 0.5}),
    (SPREAD, {"epsilon": 0.5}),
    (ROLLUP, {"epsilon": 0.5}),
    (COUNT, {"epsilon": 0.5, "split": {"n": 3}}),
    (COUNT, {"within": 40}),
    ([COUNT, SUM], {"epsilon": 0.5}),
]
FOUND = [(FOUND_KEYS, {"epsilon": 2}), (FOUND_SUMS, {"epsilon": 2}), (DATES, {"epsilon": 2, "delta": 0.001})]
SEARCHED = [(TOTAL, {"epsilon": 1, "bounds": "auto"}), (EACH_CITY, {"epsilon": 1, "bounds": "auto"})]

# What a curator was opened with, and what it was asked: one ledger each.
ASKED: dict[str, tuple[dict[str, Any], list[tuple[Any, dict[str, Any]]]]] = {
    "epsilon": ({"budget": {"epsilon": 10}}, EPSILON),
    "epsilon_replace": ({"budget": {"epsilon": 10}, "relation": "replace"}, EPSILON),
    "epsilon_delta": ({"budget": {"epsilon": 50, "delta": 0.01}}, [*FOUND, *EPSILON]),
    "searched": ({"budget": {"epsilon": 10}}, SEARCHED),
    "searched_delta": ({"budget": {"epsilon": 10, "delta": 0.01}}, SEARCHED),
    "rho": (
        {"budget": {"rho": 10}},
        [(COUNT, {"rho": 0.5}), (MEDIAN, {"rho": 0.5}), (TOTAL, {"rho": 0.5, "bounds": "auto"}), EPSILON[0]],
    ),
    "mu": ({"budget": {"mu": 10}}, [(COUNT, {"rho": 0.5}), (AVERAGE, {"rho": 0.5}), (SUM, {"rho": 0.5})]),
    "advanced": (
        {"budget": {"epsilon": 5, "delta": 0.01}, "filter": "advanced"},
        [(COUNT, {"epsilon": 0.1}), (FOUND_KEYS, {"epsilon": 0.5})],
    ),
    "per_analyst": (
        {"budget": {"epsilon": 2}, "per_analyst": {"epsilon": 1}, "per_question": {"epsilon": 1.5}},
        [(COUNT, {"epsilon": 0.5, "key": "monday"}), (COUNT, {"epsilon": 0.25})],
    ),
    "shared": ({"budget": {"epsilon": 2}, "share_answers": True}, [(COUNT, {"epsilon": 0.5})]),
    "sealed": ({"budget": {"epsilon": 2}}, [(COUNT, {"epsilon": 0.5})]),
    "watched": ({"budget": {"epsilon": 2, "delta": 0.01}}, []),
}
# What a ledger without a curator was opened with.
OPENED: dict[str, dict[str, Any]] = {
    "amended": {"budget": PureDP(3), "unit": "household", "version": "2"},  # after its amendments
    "shares": {"budget": PureDP(2), "unit": "person"},
    "ended": {"budget": PureDP(2), "unit": "person"},
}


def opening_of(name: str) -> dict[str, Any]:
    """How the curator of a kept ledger is opened."""
    return {**OPENING, "name": "people", **ASKED[name][0]}
