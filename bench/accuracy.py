"""How far answers err on skewed data, beside the rivals at equal price and bounding.

Incomes of 10,000 people are lognormal, clamped to declared bounds far above most of them; categories of
2,000 people follow Zipf's law. Every person has one row, so bounding changes nothing, and noise is all that
errs.

    python -m bench accuracy
"""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from bench.harness import Report, Rivals, Row
from bench.questions import RIVALS, Rival
from bench.releases import released
from bench.spark import SETTINGS, TUMULT, places
from discreet import Curator

INCOMES, HIGH = 10_000, 200_000
LABELS = [f"c{number:02d}" for number in range(50)]
ZIPF_PEOPLE = 2_000
OURS, THEIRS = 2_000, 400  # answers of each: a mean error is then right within 7 %
TOLERANCE = 1.2
PRICE, MODE_PRICE = 0.5, 0.01  # at 0.02 one mode in ninety errs, and the mean of 2,000 errors says little
SMALL = {**SETTINGS, "spark.sql.shuffle.partitions": "8"}  # nothing is timed here
ON_SPARK = Rival(TUMULT, "bench-tumult", "tumult", ("tmlt.analytics", "pyspark"))
CANDIDATES = [number * HIGH // 1000 for number in range(1001)]  # OpenDP's median chooses among these


def make_incomes(path: Path) -> np.ndarray:
    """The same incomes each time: the quantiles of a lognormal law, in whole numbers."""
    duckdb.execute(
        f"""COPY (SELECT i::BIGINT AS person,
                         least({HIGH}, exp(10.3 + 0.9 * sqrt(-2 * ln((i + 0.5) / {INCOMES}))
                                           * cos(2 * pi() * (i * 0.6180339887 % 1))))::BIGINT AS amount
                  FROM range({INCOMES}) AS t(i)) TO '{path}'"""
    )
    return np.sort(duckdb.execute(f"SELECT amount FROM '{path}'").fetchnumpy()["amount"])


def make_categories(path: Path) -> np.ndarray:
    """How many people are in each category; label k has about 1/k of the first."""
    weights = 1 / np.arange(1, len(LABELS) + 1)
    counts = np.floor(ZIPF_PEOPLE * weights / weights.sum()).astype(int)
    rows = [(person, LABELS[label]) for person, label in enumerate(np.repeat(range(len(LABELS)), counts))]
    values = ", ".join(f"({person}, '{label}')" for person, label in rows)
    duckdb.execute(f"COPY (SELECT * FROM (VALUES {values}) AS t(person, grp)) TO '{path}'")
    return counts


def open_curator(path: Path) -> Curator:
    """The declared bounds and labels of both tables."""
    table = {"bounds": {"amount": (0, HIGH)}} if path.stem == "incomes" else {"keys": {"grp": LABELS}}
    return Curator.open(path, name="t", unit="person", budget={"epsilon": 1000}, **table)  # type: ignore[arg-type]


def ours(path: Path, aggregate: str, price: float) -> list[Any]:
    """Our answers to one aggregate."""
    with open_curator(path) as curator:
        rows = released(curator, f"SELECT {aggregate} AS x FROM t", OURS, epsilon=price)
    return [row[0]["x"] for row in rows]


def on_incomes(path: Path) -> list[Row]:
    """AVG and VARIANCE by their distance from the truth, MEDIAN by its ranks."""
    values = make_incomes(path)
    truths = {"average": float(values.mean()), "variance": float(values.var(ddof=1))}
    ranks = np.searchsorted

    def distance(name: str) -> Callable[[Sequence[float]], float]:
        return lambda answers: float(np.abs(np.array(answers, dtype=float) - truths[name]).mean())

    def in_ranks(answers: Sequence[float]) -> float:
        low, high = (ranks(values, answers, side=side) for side in ("left", "right"))
        half = values.size / 2
        return float(np.maximum(0, np.maximum(low - half, half - high)).mean())

    measures = {
        "average": ("AVG(amount)", distance("average"), ("tables_opendp", "tables_pipelinedp", "tumult")),
        "variance": ("VARIANCE(amount)", distance("variance"), ("tables_pipelinedp", "tumult")),
        "median": ("MEDIAN(amount)", in_ranks, ("tables_opendp", "tables_pipelinedp", "tumult")),
    }
    found = []
    mine = {name: error(ours(path, text, PRICE)) for name, (text, error, _) in measures.items()}
    for rival in (*RIVALS, ON_SPARK):
        for name, (_, error, modules) in measures.items():
            if rival.module not in modules:
                continue
            with rival.worker() as worker:
                drawn = worker.draw(
                    f"{rival.module}:repeated", times=THEIRS, **_request(rival.module, name, path)
                )
            unit = "ranks" if name == "median" else "value"
            what = f"{name} of lognormal incomes, epsilon {PRICE}: mean error in {unit}"
            found.append(Row(what, mine[name], rival.name, error(drawn), TOLERANCE, unit=unit))
    return found


def _request(module: str, name: str, path: Path) -> dict[str, object]:
    request: dict[str, object] = {"work": name, "path": str(path), "epsilon": PRICE}
    if module == "tumult":
        return request | {"high": HIGH, "settings": SMALL | places(path.parent)}
    request["max_rows"] = 1
    if module == "tables_opendp" and name == "median":
        return request | {"candidates": CANDIDATES}
    return request | {"high": HIGH}


def on_categories(path: Path, rivals: Rivals) -> list[Row]:
    """MODE by how many people fewer the chosen label has than the most frequent one."""
    counts = make_categories(path)
    mine = [LABELS.index(label) for label in ours(path, "MODE(grp)", MODE_PRICE)]
    opendp = rivals.draw(
        "mechanisms:repeated",
        work="opendp_noisy_max",
        times=OURS,
        scores=counts.tolist(),
        epsilon=MODE_PRICE,
        monotone=True,
    )
    drawn = {"OpenDP noisy max": opendp}
    for rival in (*RIVALS, ON_SPARK):
        if rival.module not in ("tables_pipelinedp", "tumult"):
            continue
        settings = {"settings": SMALL | places(path.parent)} if rival is ON_SPARK else {}
        with rival.worker() as worker:
            drawn[f"{rival.name}, largest count"] = worker.draw(
                f"{rival.module}:repeated",
                work="mode",
                times=THEIRS,
                path=str(path),
                epsilon=MODE_PRICE,
                keys=LABELS,
                **settings,
            )
    lost = counts.max() - counts
    what = f"mode of Zipf categories, epsilon {MODE_PRICE}: people fewer than the most frequent"
    return [
        Row(what, float(lost[mine].mean()), name, float(lost[theirs].mean()), TOLERANCE, unit="people")
        for name, theirs in drawn.items()
    ]


def run(rivals: Rivals) -> Report:
    """Both tables."""
    report = Report("Accuracy on skewed data, at equal price and bounding")
    with tempfile.TemporaryDirectory() as folder:
        report.add(*on_incomes(Path(folder) / "incomes.parquet"))
        report.add(*on_categories(Path(folder) / "categories.parquet", rivals))
    return report
