"""discreet account: what a plan of releases costs, in every notion."""

import json as json_module
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.apps.cli.shared import Flag
from discreet.errors import DiscreetError, InvalidParameter
from discreet.kernel.numerics import Interval

MOST_DRAWN = 2000  # releases
NUMBERS = ("examples", "batch", "epochs", "steps", "sigma", "epsilon", "per_person")


def account(
    loss: str | None = None,
    *,
    training: str | None = None,
    delta: float = 1e-6,
    epsilon: float | None = None,
    json: Flag = False,
    plot: Path | None = None,
) -> None:
    """Compose a plan of releases: its exact cost between two proved bounds, compared with the usual theorems.

    Example: discreet account "100 * laplace(scale=10) + 10000 * sampled(gaussian(sigma=1), rate=0.01)"

    Example: discreet account --training "examples=60000, batch=256, epochs=60, sigma=1.1" --delta 1e-5

    Parameters
    ----------
    loss
        The plan: laplace(scale=, sensitivity=1), gaussian(sigma=, sensitivity=1), discrete_laplace(...),
        discrete_gaussian(...), randomized_response(epsilon=, values=2), bounded_range(epsilon=),
        channel([[...], [...]]), pure(epsilon=), approximate(epsilon=, delta=), zcdp(rho=), gdp(mu=),
        renyi(order=, epsilon=), sampled(loss, rate=), group(loss, size=), parallel(loss, loss, ...) for
        disjoint people; with + and whole numbers *. A relation other than add/remove is written at the end:
        "(replace)" or "(local)".
    training
        A training run with DP-SGD in place of a plan: examples=, batch=, epochs= or steps=, sigma= or
        epsilon= (then the least noise is found), sampling=poisson, fixed or shuffled, per_person=.
    delta
        The failure probability at which epsilon is asked for.
    epsilon
        Also ask for delta at this epsilon.
    json
        Print JSON.
    plot
        Draw epsilon against the number of releases, into this file.
    """
    from discreet.kernel.losses.expression import read_loss

    if (loss is None) == (training is None):
        raise InvalidParameter("exactly one of a plan and --training must be given.", parameter="loss")
    run = None if training is None else _read_training(training, delta)
    plan = run.loss if run is not None else read_loss(str(loss))
    answer = _answer(plan, delta, epsilon)
    if run is not None:
        answer = {"training": run.describe(), "sigma": float(run.sigma), "steps": run.steps, **answer}
    if plot is not None:
        _draw(plan, delta, plot)
    if json:
        print(json_module.dumps({key: _plain(value) for key, value in answer.items()}))
    else:
        _show(answer)


def _read_training(text: str, delta: float) -> Any:
    """Return the run that "examples=..., batch=..., ..." describes."""
    from discreet.kernel.accounting import training
    from discreet.kernel.numerics import exact

    named: dict[str, Any] = {}
    for part in text.split(","):
        name, sign, value = (piece.strip() for piece in part.partition("="))
        if not sign or name not in {*NUMBERS, "sampling"}:
            known = ", ".join([*NUMBERS, "sampling"])
            raise InvalidParameter(f"a training run must be written as name=value, of {known}.")
        try:
            number = value if name == "sampling" else exact(Fraction(value), name=name)
        except (ValueError, ZeroDivisionError):
            raise InvalidParameter(f"{name} must be a number.", parameter=name) from None
        whole = isinstance(number, Fraction) and number.denominator == 1
        named[name] = int(number) if whole else number
    try:
        return training(**named, delta=delta)
    except TypeError:
        raise InvalidParameter("a training run must have examples= and batch=.") from None


def _draw(plan: Any, delta: float, path: Path) -> None:
    from discreet.apps.pictures import composition

    releases = [single for single, count in _singles(plan) for _ in range(min(count, MOST_DRAWN + 1))]
    if len(releases) > MOST_DRAWN:
        raise InvalidParameter(
            f"a plan must have at most {MOST_DRAWN} releases to be drawn.", parameter="plot"
        )
    composition(releases, delta=delta).save(path)


def _answer(plan: Any, delta: float, epsilon: float | None) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "loss": repr(plan),
        "relation": plan.relation,
        "delta": delta,
        "epsilon": plan.epsilon_interval(delta=delta),
        "pure_epsilon": plan.epsilon(delta=0),
        "rho": plan.rho,
        "mu": plan.mu,
        "renyi": {str(order): plan.renyi(order) for order in (2, 4, 8, 16, 32)},
        "basic": _basic(plan, delta),
        "advanced": _advanced(plan, delta),
    }
    if epsilon is not None:
        answer |= {"at_epsilon": epsilon, "delta_there": plan.delta_interval(epsilon=epsilon)}
    return answer


def _singles(plan: Any) -> list[tuple[Any, int]]:
    from discreet.kernel.losses import PrivacyLoss

    return [(PrivacyLoss.of(term.family, plan.relation), term.count) for term in plan.terms]


def _basic(plan: Any, delta: float) -> float:
    """Return the sum of ε, each part at an equal share of δ."""
    from discreet.kernel.numerics import exact_delta, round_up

    uses = sum(term.count for term in plan.terms)
    total = sum(
        (
            Fraction(one) * count if math.isfinite(one) else math.inf
            for one, count in (
                (single.epsilon(delta=exact_delta(delta) / max(uses, 1)), count)
                for single, count in _singles(plan)
            )
        ),
        Fraction(0),
    )
    return round_up(total) if isinstance(total, Fraction) else math.inf


def _advanced(plan: Any, delta: float) -> float:
    """Return advanced composition of the largest part, for all of them: half of δ as slack, half shared."""
    from discreet.kernel.losses import compose_advanced
    from discreet.kernel.numerics import exact_delta

    uses = sum(term.count for term in plan.terms)
    limit = exact_delta(delta)
    if not uses or not limit:
        return math.inf
    share = limit / (2 * uses)
    worst = max(single.epsilon(delta=share) for single, _ in _singles(plan))
    try:
        composed = compose_advanced(epsilon=worst, delta=share, times=uses, slack=limit / 2)
    except DiscreetError:
        return math.inf  # out of the range of any sensible price
    return float(composed.epsilon)


def _plain(value: Any) -> Any:
    if isinstance(value, Interval):
        return {"lower": _plain(value.lower), "upper": _plain(value.upper)}
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return "infinity" if value == math.inf else value


def _number(value: float) -> str:
    return "none" if value == math.inf else f"{value:.9g}"


def _show(answer: dict[str, Any]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    if "training" in answer:
        console.print(answer["training"])
    console.print(f"[bold]{answer['loss']}[/bold]  under {answer['relation']}")
    table = Table("notion", "cost", "what it says", box=SIMPLE_HEAD)
    interval = answer["epsilon"]
    table.add_row(
        f"epsilon at delta {answer['delta']:g}",
        f"[bold]{_number(interval.upper)}[/bold]",
        f"exact composition; the true value is in [{interval.lower:.12g}, {interval.upper:.12g}]",
    )
    table.add_row("  by basic composition", _number(answer["basic"]), "sums, delta shared equally")
    table.add_row(
        "  by advanced composition", _number(answer["advanced"]), "the worst part for all, half of delta"
    )
    if "at_epsilon" in answer:
        there = answer["delta_there"]
        table.add_row(f"delta at epsilon {answer['at_epsilon']:g}", f"{there.upper:.9g}", f"in {there}")
    table.add_row("epsilon, pure", _number(answer["pure_epsilon"]), "the largest loss of all")
    table.add_row("rho, zCDP", _number(answer["rho"]), "Rényi divergence of order a is at most a rho")
    table.add_row("mu, Gaussian DP", _number(answer["mu"]), "a Gaussian of this mu tells as much or more")
    for order, value in answer["renyi"].items():
        table.add_row(f"Rényi, order {order}", _number(value), "")
    console.print(table)
