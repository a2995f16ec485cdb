"""Selection, quantiles and answers at equal epsilon: discreet against OpenDP and diffprivlib."""

import math
from collections.abc import Callable

import numpy as np

import discreet as dp
from bench.harness import ROUNDS, Report, Rivals, Row, seconds
from discreet.kernel.randomness import discrete_laplace, fresh_source

MANY, CANDIDATES = 10**6, 10**5
SELECTION_LIMIT, VECTOR_LIMIT, SCALAR_LIMIT = 1 / 10, 1.3, 1 / 6
# Of mean errors. Chance moves a ratio by about 2 % (one standard error).
TOLERANCE = 1.10
PRICE = 1.0
QUANTILE_PRICE = 0.1  # at epsilon 1 one median in seventy errs at all, and a ratio of means tells nothing


def run(rivals: Rivals) -> Report:
    report = Report("Mechanisms: time, and mean error at equal epsilon")
    report.add(*scalar_time(rivals))
    report.add(vector_time())
    report.add(*selection_time(rivals))
    report.add(*count_error(rivals))
    for size in (1, 10, 100, 1000):
        report.add(*vector_error(rivals, size))
    report.add(*selection_error(rivals))
    report.add(*quantile_error(rivals))
    return report


def _in_turns(*works: Callable[[], float]) -> list[float]:
    rounds = [[work() for work in works] for _ in range(ROUNDS)]
    return [min(column) for column in zip(*rounds, strict=True)]


def scalar_time(rivals: Rivals) -> list[Row]:
    release, few = dp.Laplace(epsilon=1, sensitivity=1).release, 1000
    ours, theirs = _in_turns(
        lambda: seconds(lambda: [release(51) for _ in range(few)]),
        lambda: rivals.time("noise:opendp_scalar", law="laplace", scale=1, size=few),
    )
    return [Row("Laplace: one whole number", ours / few, "OpenDP", theirs / few, SCALAR_LIMIT)]


def vector_time() -> Row:
    release, zeros = dp.Laplace(epsilon=0.1, sensitivity=1).release, np.zeros(MANY, dtype=np.int64)
    scale = dp.Laplace(epsilon=0.1, sensitivity=1).scale
    ours, bare = _in_turns(
        lambda: seconds(lambda: release(zeros), rounds=5),
        lambda: seconds(lambda: discrete_laplace(fresh_source(), scale, MANY), rounds=5),
    )
    return Row("Laplace: 10^6 whole numbers", ours / MANY, "our own bare sampler", bare / MANY, VECTOR_LIMIT)


def made_up_scores(size: int) -> list[int]:
    """The counts that the rivals make up for themselves."""
    return [(i * 7919) % 1000 for i in range(size)]


def selection_time(rivals: Rivals) -> list[Row]:
    scores, labels = np.array(made_up_scores(CANDIDATES)), range(CANDIDATES)
    ours = {
        "exponential mechanism": dp.Exponential(epsilon=PRICE, sensitivity=1),
        "permute-and-flip": dp.PermuteAndFlip(epsilon=PRICE, sensitivity=1),
        "noisy max, Laplace": dp.NoisyMax(epsilon=PRICE, sensitivity=1),
    }
    theirs = {
        "exponential mechanism": "mechanisms:opendp_gumbel",
        "permute-and-flip": "mechanisms:opendp_noisy_max",
        "noisy max, Laplace": "mechanisms:opendp_noisy_max",
    }
    rows = []
    for name, mechanism in ours.items():
        mine, rival = _in_turns(
            lambda m=mechanism: seconds(lambda: m.choose(labels, scores)),
            lambda case=theirs[name]: rivals.time(case, scores=CANDIDATES, epsilon=PRICE),
        )
        rows.append(Row(f"{name}: 10^5 candidates", mine, "OpenDP noisy max", rival, SELECTION_LIMIT))
    return rows


def _error(what: str, ours: float, rival: str, theirs: float) -> Row:
    return Row(what, ours, rival, theirs, TOLERANCE, unit="")


def count_error(rivals: Rivals) -> list[Row]:
    size = 20_000
    mine = np.abs(dp.Laplace(epsilon=PRICE, sensitivity=1).release(np.zeros(size, dtype=np.int64))).mean()
    rows = []
    for rival, case, more in (
        ("OpenDP Laplace", "opendp_count", {}),
        ("diffprivlib Geometric", "diffprivlib_count", {"kind": "Geometric"}),
        ("diffprivlib Laplace", "diffprivlib_count", {"kind": "Laplace"}),
    ):
        answers = rivals.draw("mechanisms:repeated", work=case, times=size, epsilon=PRICE, **more)
        rows.append(
            _error("a count, epsilon 1: mean error", float(mine), rival, float(np.abs(answers).mean()))
        )
    return rows


def vector_error(rivals: Rivals, size: int) -> list[Row]:
    rows = []
    for delta in (0.0, 1e-6):
        if delta == 0:
            ours = dp.Laplace(epsilon=PRICE, sensitivity=size, dimension=size)
        else:
            reach = 1 if size == 1 else math.sqrt(size)
            ours = dp.Gaussian(epsilon=PRICE, delta=delta, sensitivity=reach, step=1, dimension=size)
        times = max(1, 20_000 // size)
        mine = np.abs(ours.release(np.zeros(size * times, dtype=np.int64))).mean()
        answers = rivals.draw(
            "mechanisms:repeated", work="opendp_vector", times=times, epsilon=PRICE, delta=delta, size=size
        )
        what = f"{size} counts of one person, epsilon 1, delta {delta:g}: mean error"
        rows.append(_error(what, float(mine), "OpenDP", float(np.abs(answers).mean())))
    return rows


def selection_error(rivals: Rivals) -> list[Row]:
    scores, times = list(range(100)), 8000
    best = max(scores)
    mine = _mean_regret(
        lambda: dp.PermuteAndFlip(epsilon=PRICE, sensitivity=1).choose(scores, scores), best, times
    )
    rows = []
    for rival, case, more in (
        ("OpenDP noisy max", "opendp_noisy_max", {}),
        ("diffprivlib PermuteAndFlip", "diffprivlib_selection", {"kind": "PermuteAndFlip"}),
        ("diffprivlib Exponential", "diffprivlib_selection", {"kind": "Exponential"}),
    ):
        chosen = rivals.draw(
            "mechanisms:repeated", work=case, times=times, scores=scores, epsilon=PRICE, **more
        )
        theirs = float(np.mean([best - scores[int(i)] for i in chosen]))
        rows.append(_error("best of 100 candidates: mean regret", mine, rival, theirs))
    return rows


def _mean_regret(choose: Callable[[], int], best: int, times: int) -> float:
    return float(np.mean([best - choose() for _ in range(times)]))


def quantile_error(rivals: Rivals) -> list[Row]:
    generator, times, points = np.random.default_rng(3), 8000, 1001
    values = sorted(int(x) for x in generator.normal(500, 100, 1000).clip(0, 1000))
    rows = []
    for alpha in (0.5, 0.9):
        ours = dp.Quantile(
            epsilon=QUANTILE_PRICE, quantile=alpha, bounds=(0, points - 1), step=1, method="permute-and-flip"
        )
        mine = _rank_error([ours.release(values) for _ in range(times)], values, alpha)
        for rival, case in (("OpenDP", "opendp_quantile"), ("diffprivlib", "diffprivlib_quantile")):
            answers = rivals.draw(
                "mechanisms:repeated",
                work=case,
                times=times,
                values=values,
                epsilon=QUANTILE_PRICE,
                candidates=points,
                alpha=alpha,
            )
            what = f"quantile {alpha} of 1000 values, epsilon {QUANTILE_PRICE}: mean error in ranks"
            rows.append(_error(what, mine, rival, _rank_error(answers, values, alpha)))
    return rows


def _rank_error(answers: list[float], values: list[int], alpha: float) -> float:
    """How many ranks an answer is off; within a run of equal values, nothing."""
    low = np.searchsorted(values, answers, side="left")
    high = np.searchsorted(values, answers, side="right")
    wanted = alpha * len(values)
    return float(np.maximum(0, np.maximum(low - wanted, wanted - high)).mean())
