"""Audits: published mechanisms that do not keep their claims, and the examples of StatDP against StatDP.

StatDP is on no package index. To compare with it, set STATDP to a checkout and STATDP_PYTHON to an
interpreter with its requirements (numpy, numba, tqdm, coloredlogs, sympy).

Both judge the same claims on pairs of their own, and end with the same number of outputs of each neighbour:
DETECTING, StatDP's default. StatDP refutes where its p-value is below 0.05, discreet at confidence 1 - 1e-6.
Seconds of processor are compared: set OPENBLAS_NUM_THREADS=1, or idle threads that wait are counted as work.
"""

import functools
import json
import os
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

import discreet as dp
from bench.harness import RESULTS, Rivals, show_time
from bench.statdp_examples import EXAMPLES
from discreet.apps.auditing.neighbours import vectors

CLAIMED = 0.7  # the privacy level at which StatDP's examples are judged
OUTPUTS = 50_000
DETECTING = 500_000  # outputs of each neighbour in StatDP's own last test, and in ours
SIGNIFICANT = 0.05


@dataclass
class Audit:
    """One audit: what was found, whether that is what it should find, and StatDP's time for the same."""

    what: str
    verdict: str
    expected: str
    lower_bound: float
    claimed: float
    delta: float
    samples: int
    seconds: float
    witness: str
    processor: float | None = None  # seconds of processor that we took
    statdp: float | None = None  # and that StatDP took
    p_value: float | None = None  # that StatDP found

    @property
    def kept(self) -> bool:
        return self.verdict == self.expected

    @property
    def agrees(self) -> bool | None:
        """Whether StatDP came to the same verdict."""
        return None if self.p_value is None else (self.p_value < SIGNIFICANT) == (self.verdict == "violated")


@dataclass
class Audits:
    """A table of audits."""

    rows: list[Audit] = field(default_factory=list)

    @property
    def missed(self) -> list[Audit]:
        return [row for row in self.rows if not row.kept]

    @property
    def times_faster(self) -> float | None:
        """StatDP's processor time over ours, all examples together."""
        compared = [row for row in self.rows if row.statdp is not None]
        ours = sum(row.processor or 0.0 for row in compared)
        return sum(row.statdp or 0.0 for row in compared) / ours if compared else None

    def write(self, path: Path, context: dict[str, object]) -> str:
        """Write <path>.md and <path>.json; the table is returned."""
        RESULTS.mkdir(exist_ok=True)
        rows = [asdict(row) | {"kept": row.kept, "agrees": row.agrees} for row in self.rows]
        text = json.dumps({"context": context, "times_faster": self.times_faster, "rows": rows}, indent=1)
        path.with_suffix(".json").write_text(text + "\n", encoding="utf-8")
        table = self.table(context)
        path.with_suffix(".md").write_text(table, encoding="utf-8")
        return table

    def table(self, context: dict[str, object]) -> str:
        lines = ["# Audits of published mechanisms", "", f"`{json.dumps(context)}`", ""]
        lines += ["| target | verdict | ε proved | claimed | outputs | time | processor | StatDP's | ratio |"]
        lines += ["|---|---|--:|---|--:|--:|--:|--:|--:|"]
        for row in self.rows:
            claim = f"{row.claimed:.3g}" + (f" at δ = {row.delta:.3g}" if row.delta else "")
            ours = "" if row.processor is None else show_time(row.processor)
            theirs, ratio = "", ""
            if row.statdp is not None and row.processor is not None:
                agrees = "same verdict" if row.agrees else "**other verdict**"
                theirs, ratio = f"{show_time(row.statdp)}, {agrees}", f"{row.statdp / row.processor:.0f}"
            mark = "" if row.kept else " **missed**"
            lines.append(
                f"| {row.what} | {row.verdict}{mark} | {row.lower_bound:.3f} | {claim} | {row.samples} "
                f"| {show_time(row.seconds)} | {ours} | {theirs} | {ratio} |"
            )
        if self.times_faster is not None:
            lines += ["", f"All examples together: {self.times_faster:.0f} times as fast as StatDP."]
        return "\n".join(lines) + "\n"


def run(rivals: Rivals) -> Audits:
    return Audits([*published(rivals), *examples()])


def published(rivals: Rivals) -> list[Audit]:
    """Three published mechanisms; all three must be refuted."""
    epsilon, delta = rivals.draw("audit:opendp_threshold_claim", data=0, n=0)
    cases = [
        ("diffprivlib, Laplace", "diffprivlib_laplace", 1, (0.0, 1.0)),
        ("pure-LDP, RAPPOR client", "pure_ldp_rappor", 1, (0, 1)),
        ("OpenDP, laplace_threshold", "opendp_threshold", dp.ApproxDP(epsilon, delta), (0, 1)),
    ]
    found = []
    for what, case, claim, neighbours in cases:

        def target(data: object, n: int, case: str = case) -> object:
            return np.array(rivals.draw(f"audit:{case}", data=data, n=n))

        report = dp.audit(target, claim=claim, neighbours=neighbours, samples=OUTPUTS)
        found.append(_row(what, report, expected="violated"))
    return found


def examples() -> list[Audit]:
    """StatDP's examples, each at the privacy level it claims; the verdicts must be those of its paper."""
    pairs = [pair for dimension in (5, 10) for pair in vectors(dimension=dimension)]
    found = []
    for name, (function, correct, all_differ) in EXAMPLES.items():
        neighbours = pairs if all_differ else [pair for pair in pairs if pair[0][1:] == pair[1][1:]]
        target, started = functools.partial(function, epsilon=CLAIMED), time.process_time()
        report = dp.audit(target, claim=CLAIMED, neighbours=neighbours, samples=DETECTING)
        used = time.process_time() - started
        row = _row(f"StatDP example {name}", report, expected="not refuted" if correct else "violated")
        row.processor, (row.statdp, row.p_value) = used, _ask_statdp(name)
        found.append(row)
    return found


def _row(what: str, report: dp.AuditReport, *, expected: str) -> Audit:
    return Audit(
        what,
        report.verdict,
        expected,
        report.lower_bound,
        report.claimed,
        report.delta,
        report.samples,
        report.seconds,
        report.witness,
    )


STATDP_RUN = """
import json, resource, sys
sys.path.insert(0, sys.argv[1])
from statdp import ALL_DIFFER, ONE_DIFFER, algorithms, detect_counterexample
if __name__ == "__main__":
    name, claimed = sys.argv[2], float(sys.argv[3])
    extra = {"N": 1, "T": 0.5} if name == "SVT" else {"N": 1, "T": 1} if name.startswith("iSVT") else {}
    differ = ONE_DIFFER if name.startswith("histogram") else ALL_DIFFER
    arguments = {"epsilon": claimed, **extra}
    found = detect_counterexample(
        getattr(algorithms, name), (claimed,), arguments, sensitivity=differ, quiet=True
    )
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(json.dumps([sum(each.ru_utime + each.ru_stime for each in used), float(found[0][1])]))
"""


def _ask_statdp(name: str) -> tuple[float | None, float | None]:
    """Seconds of processor that StatDP takes for its own example by default, and its p-value."""
    folder = os.environ.get("STATDP")
    if not folder:
        return None, None
    python = os.environ.get("STATDP_PYTHON", sys.executable)
    command = [python, "-c", STATDP_RUN, folder, name, str(CLAIMED)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, p_value = json.loads(run.stdout.splitlines()[-1])
    return seconds, p_value
