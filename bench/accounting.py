"""Epsilon of four compositions: discreet's certified interval against dp-accounting and prv-accountant.

And charges through an account, against a limit in seconds.
"""

from collections.abc import Callable
from functools import partial

from bench.harness import Report, Rivals, Row, seconds
from discreet.accounting import Account
from discreet.losses import ApproxDP, PrivacyLoss, PureDP, gaussian, laplace, questions, sampled
from discreet.numerics import Interval

DELTA, TINY_DELTA, TURNS = 1e-6, 1e-20, 3
CHARGES, CHARGES_LIMIT = 10**5, 10.0  # seconds
WITHIN = 1e-3  # of our interval: what the coarsest setting of a rival must reach
CASES: dict[str, tuple[str, Callable[[], PrivacyLoss]]] = {
    "laplace": ("Laplace(10) x 10^4", lambda: 10_000 * laplace(scale=10)),
    "gaussian": ("Gaussian(20) x 10^4", lambda: 10_000 * gaussian(sigma=20)),
    "sampled": ("sampled Gaussian(1, 0.01) x 10^4", lambda: 10_000 * gaussian(sigma=1).sampled(0.01)),
    "distinct": (
        "100 distinct Laplaces",
        lambda: sum((laplace(scale=b) for b in range(10, 110)), PrivacyLoss()),
    ),
}
NAMES = {"google": "dp-accounting", "microsoft": "prv-accountant"}
# The coarsest that reach WITHIN: of dp-accounting the grid, from 0.2, 0.1, 0.05, 0.02, ... down; of
# prv-accountant the error it is asked for, from 0.1 % of epsilon down in steps of a tenth.
COARSEST = {
    "google": {"laplace": 0.02, "gaussian": 0.2, "sampled": 1e-3, "distinct": 2e-3},
    "microsoft": {"laplace": 0.075, "gaussian": 0.032, "sampled": 0.0062, "distinct": 0.0011},
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
    report.rows.append(_charges("sums", Account(PureDP(CHARGES // 100))))
    report.rows.append(_charges("advanced filter", Account(ApproxDP(1000, 1e-6), filter="advanced")))
    return report


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
    questions.epsilon_interval.cache_clear()
    sampled.pairs.cache_clear()
    return plan().epsilon_interval(delta=delta)


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
