"""Epsilon of five compositions: discreet's certified interval against dp-accounting and prv-accountant.

And, against limits in seconds of the processor: a grid of training runs, dear plans, calibration, and charges
through an account.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import product

from bench.harness import Report, Rivals, Row, processor_seconds, seconds
from discreet.kernel.accounting import Account, calibrate
from discreet.kernel.losses import (
    ApproxDP,
    PrivacyLoss,
    PureDP,
    drawn,
    gaussian,
    laplace,
    questions,
    sampled,
    sampled_group,
)
from discreet.kernel.numerics import Interval

DELTA, TINY_DELTA, TURNS = 1e-6, 1e-20, 3
CHARGES, CHARGES_LIMIT = 10**5, 10.0  # seconds
WITHIN = 1e-3  # of our interval: what the coarsest setting of a rival must reach
CASES: dict[str, tuple[str, Callable[[], PrivacyLoss]]] = {
    "laplace": ("Laplace(10) x 10^4", lambda: 10_000 * laplace(scale=10)),
    "gaussian": ("Gaussian(20) x 10^4", lambda: 10_000 * gaussian(sigma=20)),
    "sampled": ("sampled Gaussian(1, 0.01) x 10^4", lambda: 10_000 * gaussian(sigma=1).sampled(0.01)),
    "rare": ("sampled Gaussian(0.7, 0.001) x 10^4", lambda: 10_000 * gaussian(sigma=0.7).sampled(0.001)),
    "distinct": (
        "100 distinct Laplaces",
        lambda: sum((laplace(scale=b) for b in range(10, 110)), PrivacyLoss()),
    ),
}
NAMES = {"google": "dp-accounting", "microsoft": "prv-accountant"}
# The coarsest that reach WITHIN: of dp-accounting the grid, from 0.2, 0.1, 0.05, 0.02, ... down; of
# prv-accountant the error it is asked for, from 0.1 % of epsilon down in steps of a tenth.
COARSEST = {
    "google": {"laplace": 0.02, "gaussian": 0.2, "sampled": 1e-3, "rare": 5e-4, "distinct": 2e-3},
    "microsoft": {"laplace": 0.075, "gaussian": 0.032, "sampled": 0.0062, "rare": 0.0013, "distinct": 0.0011},
}
DEFAULT = {"google": 1e-4, "microsoft": 0.1}
SLOW = {("microsoft", "distinct")}  # a minute at its coarsest: measured once


def run(rivals: Rivals) -> Report:
    report = Report(
        "Accounting: seconds for epsilon at delta 1e-6; ours is a proved interval, theirs are not"
    )
    for case, (title, plan) in CASES.items():
        for rival in NAMES:
            report.rows.append(_compare(rivals, rival, case, COARSEST[rival][case]))
            report.rows.append(_compare(rivals, rival, case, DEFAULT[rival]))
        report.rows.append(_at_tiny_delta(rivals, case, title, plan))
    report.rows += [*_training_grid(), *_alone()]
    report.rows.append(_charges("sums", Account(PureDP(CHARGES // 100))))
    report.rows.append(_charges("advanced filter", Account(ApproxDP(1000, 1e-6), filter="advanced")))
    return report


def _training_grid() -> list[Row]:
    """Sampled Gaussians as in training: the 95th of 100 and the slowest, and how wide the intervals are."""
    times, wide = [], 0
    for sigma, rate, steps, delta in product(
        (0.5, 0.7, 1, 1.4, 2), (1e-4, 1e-3, 1e-2, 0.05, 0.1), (100, 10**4, 10**6), (1e-5, 1e-7, 1e-9, 1e-12)
    ):
        plan = partial(lambda s, q, n: n * gaussian(sigma=s).sampled(q), sigma, rate, steps)
        found = ask(plan, delta)
        wide += found.upper - found.lower > max(WITHIN * found.upper, 1e-6)
        times.append(processor_seconds(partial(ask, plan, delta)))
    times.sort()
    title = f"training grid, {len(times)} points ({wide} wider than 0.1 % and 1e-6)"
    return [
        Row(f"{title}: the 95th of 100", times[int(0.95 * len(times))], "", limit=0.05),
        Row(f"{title}: the slowest", times[-1], "", limit=1.0),
    ]


def _alone() -> list[Row]:
    """What no rival certifies, or none says."""
    step = gaussian(sigma=1).sampled(Fraction(64, 10_000))
    batch = gaussian(sigma=2, sensitivity=2, relation="replace").drawn(batch=64, of=10_000)
    plans: dict[str, Callable[[], PrivacyLoss]] = {
        "groups of 3, 782 sampled Gaussians": lambda: (782 * step).for_group(3),
        "batches of 64 of 10^4, 1000 steps": lambda: 1000 * batch,
        "sampled Laplace(1, 0.001) x 10^5": lambda: 100_000 * laplace(scale=1).sampled(0.001),
        "976,563 sampled Gaussian(0.1, 1.024e-5)": lambda: 976_563 * gaussian(sigma=0.1).sampled(1.024e-5),
    }
    rows = [
        Row(f"{title}: {ask(plan, DELTA)}", processor_seconds(partial(ask, plan, DELTA)), "", limit=2.0)
        for title, plan in plans.items()
    ]

    def find() -> None:
        forget()
        calibrate(
            lambda x: 25 * gaussian(sigma=x, sensitivity=6).sampled(Fraction(1, 1000)), ApproxDP(1, 1e-5)
        )

    return [*rows, Row("calibrating 25 sampled Gaussians", processor_seconds(find), "", limit=2.0)]


def _charges(rule: str, account: Account) -> Row:
    loss = laplace(scale=100)

    def charge_all() -> None:
        for _ in range(CHARGES):
            account.charge(loss)

    return Row(f"10^5 charges through an account ({rule})", seconds(charge_all), "", limit=CHARGES_LIMIT)


def _compare(rivals: Rivals, rival: str, case: str, setting: float) -> Row:
    title, plan = CASES[case]
    coarsest = setting == COARSEST[rival][case]
    slow = coarsest and (rival, case) in SLOW
    given = {"what": case, "delta": DELTA, "interval" if rival == "google" else "error": setting}
    turns = [
        (seconds(partial(ask, plan, DELTA)), rivals.time(f"accounting:{rival}", **given))
        for _ in range(1 if slow else TURNS)
    ]
    mine, theirs = (min(column) for column in zip(*turns, strict=True))
    words = f"{NAMES[rival]}, {'coarsest' if coarsest else 'default'} ({setting:g})"
    if not slow:
        (answer,) = rivals.draw("accounting:answer", rival=rival, what=case, setting=setting, delta=DELTA)
        share = answer / ask(plan, DELTA).upper - 1
        assert not coarsest or abs(share) <= WITHIN, (rival, case, share)
        words += f": off by {share:+.2%}"
    return Row(title, mine, words, theirs, limit=1.0)


def ask(plan: Callable[[], PrivacyLoss], delta: float) -> Interval:
    """Our answer, with nothing remembered from before."""
    forget()
    return plan().epsilon_interval(delta=delta)


def forget() -> None:
    """Let go of all that is remembered."""
    for remembered in (
        questions.epsilon_interval,
        questions.delta_interval,
        sampled.pairs,
        sampled_group.dotted_pairs,
        drawn.pairs,
    ):
        remembered.cache_clear()


def _at_tiny_delta(rivals: Rivals, case: str, title: str, plan: Callable[[], PrivacyLoss]) -> Row:
    found = ask(plan, TINY_DELTA)
    mine = seconds(partial(ask, plan, TINY_DELTA), rounds=TURNS)
    words = []
    for rival, name in NAMES.items():
        (answer,) = rivals.draw(
            "accounting:answer", rival=rival, what=case, setting=DEFAULT[rival], delta=TINY_DELTA
        )
        words.append(f"{name}: {answer}")
    what = f"{title} at delta 1e-20: {found.upper:.9g}"
    return Row(what, mine, "; ".join(words), limit=1.0)
