"""A model of what a question costs on a Spark cluster, fitted to the measures in bench/results/scale.json.

    seconds(rows, cores) = start + rows · (work / cores + serial)

`start` is planning and scheduling, `work` what cores share, `serial` what they do not. The three are fitted
by least squares of relative errors, none of them negative. It is a model: beyond what was measured it assumes
that a core of a cluster is like one of the machine measured, and that the network is no bottleneck.

    python -m bench.scale_model        the model, from the measures that are there
"""

import itertools
import json
import re
from dataclasses import dataclass

import numpy as np

from bench.harness import RESULTS, Row

CLUSTERS = ((10**8, 16), (10**9, 16), (10**9, 64), (10**10, 256))  # rows, cores


@dataclass(frozen=True)
class Measure:
    """What one question took."""

    rows: int
    cores: int
    seconds: float


@dataclass(frozen=True)
class Model:
    """Seconds to start, and seconds a row: shared by the cores, and not."""

    start: float
    work: float
    serial: float
    error: float  # the largest relative error on what it was fitted to

    def seconds(self, rows: int, cores: int) -> float:
        """What the model expects."""
        return self.start + rows * (self.work / cores + self.serial)

    def report(self) -> list[Row]:
        """Its numbers, and what it expects of clusters."""
        found = [
            Row("model: seconds to start", self.start),
            Row("model: seconds a million rows, shared by cores", self.work * 10**6),
            Row("model: seconds a million rows, not shared", self.serial * 10**6),
            Row("model: largest relative error on the measures", self.error, unit="ratio"),
        ]
        for rows, cores in CLUSTERS:
            found.append(
                Row(f"model, not measured: {rows:,} rows on {cores} cores", self.seconds(rows, cores))
            )
        return found


def fitted(measures: list[Measure]) -> Model:
    """The non-negative least squares of relative errors: the best over all sets of parameters that stay.

    >>> sizes = [(rows, cores) for rows in (10**6, 10**7) for cores in (1, 2)]
    >>> model = fitted([Measure(rows, cores, 2 + rows * 3e-6 / cores) for rows, cores in sizes])
    >>> round(model.start, 6), round(model.work * 10**6, 6), round(model.serial, 9)
    (2.0, 3.0, 0.0)
    """
    times = np.array([each.seconds for each in measures])
    terms = np.array([[1.0, each.rows / each.cores, each.rows] for each in measures]) / times[:, None]
    best, least = np.zeros(3), np.inf
    for chosen in itertools.chain.from_iterable(itertools.combinations(range(3), size) for size in (1, 2, 3)):
        part, *_ = np.linalg.lstsq(terms[:, chosen], np.ones(len(times)), rcond=None)
        tried = np.zeros(3)
        tried[list(chosen)] = part
        off = float(np.sum((terms @ tried - 1) ** 2))
        if (part >= 0).all() and off < least - 1e-12:
            best, least = tried, off
    return Model(*map(float, best), error=float(np.max(np.abs(terms @ best - 1))))


def measured() -> list[Measure]:
    """Spark's times in the committed results."""
    rows = json.loads((RESULTS / "scale.json").read_text(encoding="utf-8"))["rows"]
    found = [
        (re.fullmatch(r"([\d,]+) rows: Spark, (\d+) workers?", each["what"]), each["ours"]) for each in rows
    ]
    return [Measure(int(m[1].replace(",", "")), int(m[2]), took) for m, took in found if m is not None]


if __name__ == "__main__":
    for row in fitted(measured()).report():
        print(f"{row.what}: {row.ours:.4g}")
