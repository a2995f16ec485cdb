"""Epsilon of four compositions: discreet's certified interval against dp-accounting and prv-accountant."""

from collections.abc import Callable

from bench.harness import Report, Rivals, Row, seconds
from discreet.losses import PrivacyLoss, gaussian, laplace, questions

DELTA, TURNS = 1e-6, 3
CASES: dict[str, tuple[str, Callable[[], PrivacyLoss]]] = {
    "laplace": ("Laplace(10) x 10^4", lambda: 10_000 * laplace(scale=10)),
    "gaussian": ("Gaussian(20) x 10^4", lambda: 10_000 * gaussian(sigma=20)),
    "sampled": ("sampled Gaussian(1, 0.01) x 10^4", lambda: 10_000 * gaussian(sigma=1).sampled(0.01)),
    "distinct": (
        "100 distinct Laplaces",
        lambda: sum((laplace(scale=b) for b in range(10, 110)), PrivacyLoss()),
    ),
}
# The coarsest grid of dp-accounting that is within 0.1 %. prv-accountant's default error is within 0.1 %
# of none of the four, so it is timed at that alone.
COARSEST = {"laplace": 1e-2, "gaussian": 1e-1, "sampled": 1e-3, "distinct": 1e-3}
DEFAULT_GRID, DEFAULT_ERROR = 1e-4, 0.1


def run(rivals: Rivals) -> Report:
    report = Report(
        "Accounting: seconds for epsilon at delta 1e-6; ours is a proved interval, theirs are not"
    )
    for case, (title, plan) in CASES.items():

        def ours(plan: Callable[[], PrivacyLoss] = plan) -> object:
            questions.epsilon_interval.cache_clear()
            return plan().epsilon_interval(delta=DELTA)

        settings = {
            "dp-accounting, coarsest within 0.1 %": ("accounting:google", {"interval": COARSEST[case]}),
            "dp-accounting, default": ("accounting:google", {"interval": DEFAULT_GRID}),
            "prv-accountant, default": ("accounting:microsoft", {"error": DEFAULT_ERROR}),
        }
        for rival, (function, setting) in settings.items():
            turns = [
                (seconds(ours), rivals.time(function, what=case, delta=DELTA, **setting))
                for _ in range(TURNS)
            ]
            mine, theirs = (min(column) for column in zip(*turns, strict=True))
            report.rows.append(Row(title, mine, rival, theirs, limit=1.0))
    tiny = seconds(lambda: (10_000 * laplace(scale=10)).epsilon_interval(delta=1e-20))
    report.rows.append(Row("Laplace(10) x 10^4 at delta 1e-20 (they answer infinity)", tiny, limit=1.0))
    return report
