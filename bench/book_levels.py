"""A book by five levels with 100,000 leaves: its time, and the error of each level beside two other ways.

Bottom up: the leaves alone are measured, at the whole price, and added up. Top down: every level is measured
at an even share, and each family is moved to what its parent was settled at, so nothing that is measured
below says anything of what is above. Errors are those of the laws, which tests hold against draws.
"""

import csv
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

import discreet as dp
from bench.harness import Report, Row, processor_seconds
from discreet.asking.planning import BookPlan, Floats
from discreet.asking.planning.trees import Tree

LEVELS = ("nation", "state", "county", "tract", "block")
SIZES = (9, 60, 3_200, 20_000, 100_000)
ROWS, RHO = 2_000_000, Fraction(1, 2)
LIMIT = 30.0  # seconds


def add_levels(report: Report, folder: Path) -> None:
    """Time from a DuckDB file, and errors by level."""
    paths, rows = folder / "places.csv", folder / "people.duckdb"
    make_paths(paths)
    make_rows(rows)
    tables: list[Any] = [(), *LEVELS]
    opened: dict[str, Any] = {"name": "people", "unit": dp.each_row, "budget": {"rho": 100}}
    opened["hierarchies"] = {" > ".join(LEVELS): paths}

    def ask() -> None:
        with dp.Curator.open(rows, ledger=folder / "levels.ledger", **opened) as curator:
            assert len(curator.book(tables, rho=RHO).tables) == len(tables)

    took = processor_seconds(ask, rounds=1)
    what = f"{len(LEVELS)} levels, {SIZES[-1]:,} leaves, {ROWS:,} rows"
    report.add(Row(f"{what}, from paths and rows to all tables", took, limit=LIMIT))
    with dp.Curator.open(rows, ledger=folder / "levels.ledger", **opened) as curator:
        book = curator.book(tables, rho=RHO)
        add_errors(report, book.plan, "cells weighed alike", limit=None)
        alike = {each: Fraction(1, len(table)) for each, table in zip(tables, book.tables, strict=True)}
        add_errors(report, curator.explain_book(alike, rho=RHO), "levels weighed alike", limit=1.0)
    apart = sum(
        int((book.plan.noise.workload.tree.add_up(level, below.steps) != above.steps).sum())  # type: ignore[attr-defined]
        for level, (above, below) in enumerate(zip(book.tables[:-1], book.tables[1:], strict=True))
    )
    report.add(Row(f"{what}: totals that are no sums", apart, limit=0.5, unit="cells"))


def add_errors(report: Report, plan: BookPlan, weights: str, *, limit: float | None) -> None:
    """The root mean square error of each level, ours and the others'."""
    tree: Tree = plan.noise.workload.tree  # type: ignore[attr-defined]
    ours = [np.broadcast_to(plan.noise.variance(each), size) for each, size in
            zip(plan.book.tables, tree.sizes, strict=True)]  # fmt: skip
    for name, theirs in (("bottom up", bottom_up(tree)), ("top down", top_down(tree))):
        for level, mine, other in zip(("total", *LEVELS), ours, theirs, strict=True):
            report.add(Row(f"{weights}, error of a {level}", root(mine), name, root(other),
                           limit=limit if name == "top down" else None, unit="rows"))  # fmt: skip
        together = root(np.concatenate(ours)), root(np.concatenate(theirs))
        report.add(Row(f"{weights}, error of all cells", together[0], name, together[1], unit="rows"))


def root(variances: Floats) -> float:
    return math.sqrt(float(variances.mean()))


def bottom_up(tree: Tree) -> list[Floats]:
    """Variances where the leaves alone are measured, at the whole price."""
    found = [np.full(tree.sizes[-1], 1 / (2 * float(RHO)))]
    for level in range(len(tree.families) - 1, -1, -1):
        found.insert(0, np.asarray(tree.add_up(level, found[0]), dtype=float))
    return found


def top_down(tree: Tree) -> list[Floats]:
    """Variances where families are moved to their parents: a child is y + (parent - Σ y)/k, of k children."""
    noise = len(tree.sizes) / (2 * float(RHO))
    found = [np.array([noise])]
    for level, family in enumerate(tree.families):
        children = tree.spread(level, family.astype(float))
        found.append(noise * (1 - 1 / children) + tree.spread(level, found[-1]) / children**2)
    return found


def make_paths(path: Path) -> None:
    """Families of random sizes, the same each time."""
    random, leaves = np.random.default_rng(1), SIZES[-1]
    starts, columns = np.array([0]), []
    for letter, size in zip("nsctb", SIZES, strict=True):
        new = random.permutation(np.setdiff1d(np.arange(leaves), starts))[: size - starts.size]
        starts = np.sort(np.concatenate([starts, new]))
        numbers = np.searchsorted(starts, np.arange(leaves), side="right") - 1
        columns.append([f"{letter}{number}" for number in numbers])
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([LEVELS, *zip(*columns, strict=True)])


def make_rows(path: Path) -> None:
    """Rows of which few leaves have most."""
    with duckdb.connect(str(path)) as made:
        made.execute(
            f"CREATE TABLE people AS SELECT 'b' || (hash(i) % {SIZES[-1]} * (hash(i + 1) % 1000) // 1000) "
            f"AS block FROM range({ROWS}) t(i)"
        )
