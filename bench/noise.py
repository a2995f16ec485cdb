"""Noise and choices: discreet, exact and secure, against numpy, OpenDP and diffprivlib."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

import discreet as dp
from bench.harness import ROUNDS, Report, Rivals, Row, seconds
from discreet.kernel.randomness import choice, discrete_laplace, fresh_source, rounded_gaussian

SCALES = (1, 10, 1000, 10**6)
MANY, SOME, FEW = 10**6, 20_000, 1000
LAWS = ("laplace", "gaussian")
NUMPY = {"laplace": "laplace", "gaussian": "normal"}
NUMPY_LIMIT = {"laplace": 1.3, "gaussian": 4.0}
OPENDP_LIMIT = 1 / 200
SCALAR_LIMIT = 1 / 6
CHOICE_LIMIT = 2.0


def run(rivals: Rivals) -> Report:
    report = Report("Noise: time per number, least of several rounds, single thread")
    for law in LAWS:
        for scale in SCALES:
            report.add(*vectors(rivals, law, scale))
            report.add(*scalars(rivals, law, scale))
    for law in LAWS:
        report.add(*(floats(rivals, law, scale) for scale in (10, 1000)))
        report.add(*(first(law, scale) for scale in (*SCALES, 10**4, 2**40)))
    report.add(candidates("whole"), candidates("float"))
    return report


def _mechanism(law: str, scale: int, sensitivity: float = 1) -> dp.Laplace | dp.Gaussian:
    if law == "laplace":
        return dp.Laplace(scale=scale, sensitivity=sensitivity)
    return dp.Gaussian(sigma=scale, sensitivity=sensitivity)


def _numpy(law: str, scale: int) -> Callable[[], object]:
    generator = np.random.default_rng()
    draw = getattr(generator, NUMPY[law])
    return lambda: draw(0, scale, MANY)


def _in_turns(*works: Callable[[], float]) -> list[float]:
    """The least time of each, all measured in the same rounds."""
    rounds = [[work() for work in works] for _ in range(ROUNDS)]
    return [min(column) for column in zip(*rounds, strict=True)]


def vectors(rivals: Rivals, law: str, scale: int) -> list[Row]:
    release, zeros = _mechanism(law, scale).release, np.zeros(MANY, dtype=np.int64)
    numpy = _numpy(law, scale)
    case = {"law": law, "scale": scale, "size": SOME}
    ours, theirs, opendp = _in_turns(
        lambda: seconds(lambda: release(zeros)),
        lambda: seconds(numpy),
        lambda: rivals.time("noise:opendp_vector", **case),
    )
    what = f"{law}, scale {scale:,}: 10^6 whole numbers"
    return [
        Row(what, ours / MANY, f"numpy {NUMPY[law]}", theirs / MANY, NUMPY_LIMIT[law]),
        Row(what, ours / MANY, "OpenDP vector", opendp / SOME, OPENDP_LIMIT),
    ]


def scalars(rivals: Rivals, law: str, scale: int) -> list[Row]:
    release = _mechanism(law, scale).release
    case = {"law": law, "scale": scale, "size": FEW}
    ours, opendp, diffprivlib = _in_turns(
        lambda: seconds(lambda: [release(51) for _ in range(FEW)]),
        lambda: rivals.time("noise:opendp_scalar", **case),
        lambda: rivals.time("noise:diffprivlib_scalar", **case),
    )
    what = f"{law}, scale {scale:,}: one whole number"
    return [
        Row(what, ours / FEW, "OpenDP scalar", opendp / FEW, SCALAR_LIMIT),
        Row(what, ours / FEW, "diffprivlib", diffprivlib / FEW),
    ]


def floats(rivals: Rivals, law: str, scale: int) -> Row:
    release, zeros = _mechanism(law, scale, sensitivity=0.5).release, np.zeros(MANY)
    case = {"law": law, "scale": scale, "size": SOME}
    ours, theirs = _in_turns(
        lambda: seconds(lambda: release(zeros)), lambda: rivals.time("noise:opendp_floats", **case)
    )
    what = f"{law}, scale {scale:,}: 10^6 floats on a step of scale/2^20"
    return Row(what, ours / MANY, "OpenDP float vector", theirs / SOME)


def first(law: str, scale: int) -> Row:
    """The first draw at scales that were never used: tables are built."""
    draw = discrete_laplace if law == "laplace" else rounded_gaussian
    times = [
        seconds(lambda new=Fraction(scale) + Fraction(k, 10**9 + 7): draw(fresh_source(), new))
        for k in range(1, 10)
    ]
    limit = 0.010 if scale <= 10**4 else 0.030
    return Row(f"{law}, scale {scale:,}: first draw at a new scale", min(times), limit=limit)


def candidates(kind: str) -> Row:
    generator = np.random.default_rng()
    scores = generator.integers(0, 1000, MANY) if kind == "whole" else generator.normal(0, 10, MANY)

    def naive() -> int:
        cumulative = np.cumsum(np.exp((scores - scores.max()) * 0.1))
        return int(np.searchsorted(cumulative, generator.random() * cumulative[-1]))

    ours, theirs = _in_turns(
        lambda: seconds(lambda: choice(fresh_source(), scores, Fraction(1, 10))), lambda: seconds(naive)
    )
    return Row(
        f"choice among 10^6 candidates, {kind} scores",
        ours,
        "numpy exp, cumsum, searchsorted",
        theirs,
        CHOICE_LIMIT,
    )
