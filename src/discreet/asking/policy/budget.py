"""The budget an owner declares, as exact numbers under the names of its notion."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from discreet.errors import InvalidParameter
from discreet.kernel.losses import Notion
from discreet.kernel.losses.notion import find_notion
from discreet.kernel.numerics import exact, exact_delta, exact_epsilon, exact_positive, exact_whole

Budget: TypeAlias = tuple[tuple[str, Fraction], ...]

READERS = {"epsilon": exact_epsilon, "delta": exact_delta}  # other numbers of a notion are positive


def read_budget(value: object) -> Budget:
    """Return a budget from a mapping, or from a notion.

    >>> read_budget({"epsilon": 1, "delta": 1e-6})
    (('delta', Fraction(1, 1000000)), ('epsilon', Fraction(1, 1)))
    """
    given = (
        dict(value) if isinstance(value, Mapping) else value.numbers() if isinstance(value, Notion) else {}
    )
    find_notion(given)
    return tuple(
        (name, READERS.get(name, exact_positive)(given[name], name=f"budget {name}"))
        for name in sorted(given)
    )


SERVER_SETTINGS = {"deadline_s", "approve_above", "max_cells", "daily", "default_price", "postgres"}
MAX_CELLS, MOST_CELLS = 1_000_000, 10**9
DEADLINE_S, SHORTEST_DEADLINE_S, LONGEST_DEADLINE_S = 2.0, 0.05, 3600.0


@dataclass(frozen=True, kw_only=True)
class Serving:
    """The `[server]` table of a policy.

    `deadline_s` is the time for each pass over the data: an answer leaves after as many of them as its plan
    has passes, never earlier. What is asked at once has at most `max_cells` numbers in its answers: groups x
    columns x grouping sets. A question whose price is above `approve_above` in any number waits for an
    owner. A token may spend at most `daily` in a day. `postgres` is the port of the PostgreSQL protocol,
    where a question without a price has the `default_price`, if there is one.
    """

    deadline_s: float = DEADLINE_S
    max_cells: int = MAX_CELLS
    approve_above: Budget | None = None
    daily: Budget | None = None
    default_price: Budget | None = None
    postgres: int | None = None


def read_serving(settings: Mapping[str, Any]) -> Serving:
    """Return the settings that a policy file states.

    >>> read_serving({"deadline_s": 0.5}).deadline_s
    0.5
    """
    for name in settings:
        if name not in SERVER_SETTINGS:
            raise InvalidParameter(
                f"[server] must have only the settings {', '.join(sorted(SERVER_SETTINGS))}, got {name!r}."
            )
    deadline = float(exact(settings.get("deadline_s", DEADLINE_S), name="deadline_s"))
    if not SHORTEST_DEADLINE_S <= deadline <= LONGEST_DEADLINE_S:
        raise InvalidParameter(
            f"deadline_s must be between {SHORTEST_DEADLINE_S} and {LONGEST_DEADLINE_S:.0f} seconds, "
            f"got {deadline}.",
            parameter="deadline_s",
        )
    cells = exact_whole(settings.get("max_cells", MAX_CELLS), name="max_cells", least=1)
    if cells > MOST_CELLS:
        raise InvalidParameter(
            f"max_cells must be at most {MOST_CELLS:,}, got {cells}.", parameter="max_cells"
        )
    named = ("approve_above", "daily", "default_price")
    budgets = {name: read_budget(settings[name]) for name in named if name in settings}
    if any(name == "mu" for name, _ in budgets.get("default_price", ())):
        raise InvalidParameter("default_price must be in epsilon or rho.", parameter="default_price")
    port = None
    if "postgres" in settings:
        port = exact_whole(settings["postgres"], name="postgres", least=0)
    return Serving(deadline_s=deadline, max_cells=cells, postgres=port, **budgets)
