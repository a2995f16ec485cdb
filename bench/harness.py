"""What all comparisons share: the rivals' environments, fair timing, and the report.

The rivals live in environments of their own: .venv-bench, made from requirements/bench.txt, and
.venv-bench-<name>, made from requirements/bench-<name>.txt, for those that do not live together. A worker
there times what it is asked to, so that ours and theirs are measured in turns, within the same seconds; the
minima are compared.
"""

import hashlib
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "bench" / "results"
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"), "1")
ROUNDS = 7


def seconds(work: Callable[[], object], *, rounds: int = 1) -> float:
    """The least time that one call took."""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def processor_seconds(work: Callable[[], object], *, rounds: int = 2) -> float:
    """The least time that one call took of the processor: what a busy machine does not change."""
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


class Rivals:
    """An environment of rivals and one worker in it, which measures the cases of bench/rivals/*.py."""

    def __init__(
        self,
        environment: str = "bench",
        *,
        packages: tuple[str, ...] = ("opendp", "diffprivlib", "pure-ldp", "numpy"),
        settings: Mapping[str, str] = ONE_THREAD,
    ) -> None:
        self._environment, self._packages, self._settings = environment, packages, settings
        self._worker: subprocess.Popen[str] | None = None

    def __enter__(self) -> "Rivals":
        return self

    def _started(self) -> "subprocess.Popen[str]":
        """Return the worker, started when first asked: some comparisons have no rival."""
        if self._worker is None:
            self._worker = subprocess.Popen(
                [_make_environment(self._environment), "-m", "bench.worker"],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=os.environ | self._settings,
            )
        return self._worker

    def __exit__(self, *_: object) -> None:
        if self._worker is not None:
            assert self._worker.stdin is not None
            self._worker.stdin.close()
            self._worker.wait()

    def _ask(self, **request: object) -> object:
        worker = self._started()
        assert worker.stdin is not None
        assert worker.stdout is not None
        print(json.dumps(request), file=worker.stdin, flush=True)
        line = worker.stdout.readline()
        if not line:
            raise RuntimeError("the rivals' worker ended")
        return json.loads(line)["answer"]

    def time(self, case: str, *, rehearsals: int = 1, processor: bool = False, **parameters: object) -> float:
        """Seconds that one call of `module:function` took there; setting up and rehearsing is not counted."""
        answer = self._ask(case=case, parameters=parameters, rehearsals=rehearsals, processor=processor)
        assert isinstance(answer, float)
        return answer

    def draw(self, case: str, **parameters: object) -> list[Any]:
        """What `module:function` returned there."""
        answer = self._ask(draw=case, parameters=parameters)
        assert isinstance(answer, list)
        return answer

    def versions(self) -> dict[str, object]:
        """What was compared, and on what."""
        return {
            "python": platform.python_version(),
            "machine": platform.machine(),
            "cores": os.cpu_count(),
            "ours": {name: version(name) for name in ("discreet", "numpy", "python-flint", "cryptography")},
            "rivals": self.packages(),
        }

    def packages(self) -> object:
        """The versions of the rivals here, if any was asked."""
        return self._ask(versions=list(self._packages)) if self._worker else {}

    def memory(self) -> float:
        """The most memory that the worker has held so far, in gigabytes."""
        answer = self._ask(memory=True)
        assert isinstance(answer, float)
        return answer


def _make_environment(name: str) -> str:
    home, requirements = ROOT / f".venv-{name}", ROOT / "requirements" / f"{name}.txt"
    python, stamp = home / "bin" / "python", home / "made-from"
    pins = hashlib.sha256(requirements.read_bytes()).hexdigest()
    if not stamp.exists() or stamp.read_text() != pins:
        print(f"== making {home.name} with the rivals", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(home)], check=True)
        install = [
            "-m",
            "pip",
            "install",
            "-qq",
            "--disable-pip-version-check",
            "--no-deps",  # the file lists all that is needed
            "--require-hashes",
            "-r",
            str(requirements),
        ]
        subprocess.run([str(python), *install], check=True)
        stamp.write_text(pins)  # last, so that a half-made environment never counts
    return str(python)


@dataclass
class Row:
    """One comparison: our seconds against theirs (or against a limit in seconds, without a rival)."""

    what: str
    ours: float
    rival: str = ""
    theirs: float | None = None
    limit: float | None = None  # of the ratio ours/theirs; of our seconds, where there is no rival
    unit: str = "seconds"

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs if self.theirs else self.ours

    @property
    def kept(self) -> bool:
        return self.limit is None or self.ratio <= self.limit


@dataclass
class Report:
    """A table of comparisons."""

    title: str
    rows: list[Row] = field(default_factory=list)

    @property
    def missed(self) -> list[Row]:
        return [row for row in self.rows if not row.kept]

    def add(self, *rows: Row) -> None:
        """Take what was measured, and say so: a long run shows how far it is."""
        self.rows += rows
        for row in rows:
            print(self.line(row), flush=True)

    def write(self, path: Path, context: dict[str, object]) -> str:
        """Write <path>.md and <path>.json; the table is returned."""
        RESULTS.mkdir(exist_ok=True)
        table = self.table(context)
        path.with_suffix(".md").write_text(table, encoding="utf-8")
        rows = [asdict(row) | {"ratio": row.ratio, "kept": row.kept} for row in self.rows]
        text = json.dumps({"title": self.title, "context": context, "rows": rows}, indent=1)
        path.with_suffix(".json").write_text(text + "\n", encoding="utf-8")
        return table

    def table(self, context: dict[str, object]) -> str:
        lines = [f"# {self.title}", "", f"`{json.dumps(context)}`", ""]
        lines += ["| what | discreet | rival | theirs | ratio | limit |", "|---|--:|---|--:|--:|--:|"]
        return "\n".join([*lines, *map(self.line, self.rows)]) + "\n"

    @staticmethod
    def line(row: Row) -> str:
        """A row of the table."""
        show = show_time if row.unit == "seconds" else "{:.4g}".format
        theirs, ratio, limit = "", "", "" if row.limit is None else show(row.limit)
        if row.theirs is not None:
            theirs, ratio = show(row.theirs), _show_ratio(row.ratio)
            limit = "" if row.limit is None else _show_ratio(row.limit)
        mark = "" if row.kept else " **missed**"
        return f"| {row.what} | {show(row.ours)} | {row.rival} | {theirs} | {ratio} | {limit}{mark} |"


def show_time(amount: float) -> str:
    """Seconds in a readable unit."""
    if amount >= 600:
        return f"{amount / 60:.3g} min" if amount < 6000 else f"{amount / 3600:.3g} h"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if amount >= size:
            return f"{amount / size:.3g} {unit}"
    return f"{amount / 1e-9:.3g} ns"


def _show_ratio(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio >= 0.1 else f"1/{1 / ratio:.0f}"
