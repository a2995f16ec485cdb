"""Training runs beside the accountants that people train with, in seconds of the processor.

Ours is a proved interval. A rival's row is at its coarsest setting within 0.1 % of our upper end; what is not
within it is named with its answer.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias

from bench.accounting import DELTA, TURNS, WITHIN, ask, forget
from bench.harness import Report, Rivals, Row, processor_seconds
from discreet.kernel.accounting import calibrate
from discreet.kernel.losses import ApproxDP, PrivacyLoss, gaussian

TRAINERS = ("dp-accounting", "prv-accountant", "opacus", "tensorflow-privacy")
# What each rival is tried with, coarsest first: grids, errors of epsilon; 0.0 where it has no setting.
INTERVALS = [m * 10.0**-n for n in range(1, 6) for m in (5, 2, 1)]
ERRORS = [9.9e-4, 5e-4]  # of epsilon, as shares
RELATIVE = {"microsoft", "opacus"}  # whose settings are shares of our epsilon
RUNS = {
    "google": INTERVALS,
    "microsoft": ERRORS,
    "opacus": ERRORS,
    "opacus_renyi": [0.0],
    "tensorflow": [0.0],
}
GROUPS = {"google_group": INTERVALS, "tensorflow": [0.0]}
FIXED = {"google_fixed": [0.0]}
CALIBRATED = {"google_calibrated": [1e-3, 1e-4], "opacus_calibrated": [1e-3, 1e-4]}
NAMED = {
    "google": ("dp-accounting", ""),
    "google_group": ("dp-accounting", ""),
    "google_fixed": ("dp-accounting", ", Rényi"),
    "google_calibrated": ("dp-accounting", ""),
    "microsoft": ("prv-accountant", ""),
    "opacus": ("opacus", ", PRV"),
    "opacus_renyi": ("opacus", ", Rényi"),
    "opacus_calibrated": ("opacus", ", PRV"),
    "tensorflow": ("tensorflow-privacy", ""),
}
POINTS = [(0.7, 1e-3, 100), (0.7, 1e-3, 10**4), (1, 0.01, 1000), (2, 0.01, 10**4)]
Settings: TypeAlias = Mapping[str, Sequence[float]]


def run(rivals: Rivals) -> Report:
    """Runs, groups, batches of one size and calibration."""
    report = Report("Training runs: seconds of the processor; ours is a proved interval, theirs are not")
    with Rivals("bench-training", packages=TRAINERS) as trainers:
        for row in measure(trainers):
            report.add(row)
    return report


def measure(trainers: Rivals) -> Iterator[Row]:
    """Each row as soon as it is known."""
    versions: Any = trainers.packages()
    for sigma, rate, steps in POINTS:
        plan = partial(lambda s, q, n: n * gaussian(sigma=s).sampled(q), sigma, rate, steps)
        run = {"sigma": sigma, "rate": rate, "steps": steps, "delta": DELTA}
        yield from _beside(trainers, f"{steps} sampled Gaussian({sigma}, {rate})", plan, run, RUNS)
    step = gaussian(sigma=1).sampled(Fraction(64, 10_000))
    group = {"sigma": 1, "rate": 0.0064, "steps": 782, "delta": DELTA, "people": 3}
    yield from _beside(
        trainers, "groups of 3, 782 sampled Gaussians", lambda: (782 * step).for_group(3), group, GROUPS
    )
    batch = gaussian(sigma=2, sensitivity=2, relation="replace").drawn(batch=64, of=10_000)
    fixed = {"sigma": 1, "of": 10_000, "batch": 64, "steps": 1000, "delta": DELTA}  # sigma by the sensitivity
    yield from _beside(trainers, "batches of 64 of 10^4, 1000 steps", lambda: 1000 * batch, fixed, FIXED)

    def noise() -> float:
        forget()
        return float(calibrate(lambda x: 1000 * gaussian(sigma=x).sampled(0.01), ApproxDP(1, 1e-5)))

    found = noise()
    mine = processor_seconds(noise)
    wanted = {"rate": 0.01, "steps": 1000, "delta": 1e-5, "epsilon": 1}
    rivals = _measured(trainers, wanted, CALIBRATED, found)
    yield from _rows(f"noise of 1000 steps for (1, 1e-5): {found:.6f}", mine, rivals, versions)


def _beside(
    trainers: Rivals, title: str, plan: Callable[[], PrivacyLoss], run: dict[str, Any], rivals: Settings
) -> list[Row]:
    ends = ask(plan, DELTA)
    mine = processor_seconds(partial(ask, plan, DELTA), rounds=TURNS)
    measured = _measured(trainers, run, rivals, ends.upper)
    return _rows(f"{title}: {ends.lower:.8g} to {ends.upper:.8g}", mine, measured, trainers.packages())


def _measured(
    trainers: Rivals, run: dict[str, Any], rivals: Settings, truth: float
) -> list[tuple[str, float | str, float | None]]:
    """For each rival its answer, and its time where that is within 0.1 %; the fastest is timed again."""
    measured = []
    for rival, settings in rivals.items():
        tried = [setting * truth if rival in RELATIVE else setting for setting in settings]
        case = {"rival": rival, "run": run, "settings": tried, "truth": truth, "within": WITHIN}
        setting, answer, spent = trainers.draw("training:coarsest", **case)
        if spent is not None and spent <= min((known for _, _, known in measured if known), default=spent):
            again = {"run": run, "setting": setting, "processor": True, "rehearsals": 0}
            spent = min(spent, *(trainers.time(f"training:{rival}", **again) for _ in range(TURNS)))
        measured.append((rival, answer, spent))
    return measured


def _rows(
    title: str, mine: float, measured: list[tuple[str, float | str, float | None]], versions: Any
) -> list[Row]:
    """A row beside the fastest that is near enough, where the others' answers stand too; or one alone."""
    near = [(spent, rival) for rival, _, spent in measured if spent is not None]
    others = ", ".join(
        f"{_name(rival, versions)} {answer if isinstance(answer, str) else format(answer, '.5g')}"
        for rival, answer, spent in measured
        if spent is None or (spent, rival) != min(near)
    )
    if not near:
        return [Row(title, mine, f"not within 0.1 %: {others}", limit=2.0)]
    spent, rival = min(near)
    rest = f"; others: {others}" if others else ""
    return [Row(title, mine, f"{_name(rival, versions)}{rest}", spent, limit=1.0)]


def _name(rival: str, versions: Any) -> str:
    package, how = NAMED[rival]
    return f"{package} {versions[package]}{how}"
