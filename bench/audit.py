"""Audits of rivals as published, and StatDP's own examples.

    python bench/audit.py                      rivals in their own environment, made on first use
    python bench/audit.py --statdp FOLDER      also StatDP itself, from a checkout (it is on no package index)

Writes bench/results/audit.json and prints a table.
"""

import argparse
import functools
import io
import json
import subprocess
import sys
import time
import venv
from pathlib import Path

import numpy as np
from statdp_examples import EXAMPLES

import discreet as dp
from discreet.auditing.neighbours import vectors

HERE = Path(__file__).parent
ENVIRONMENT = HERE.parent / ".venv-audited"
PINS = [
    "diffprivlib==0.6.6",
    "scikit-learn<1.6",  # with later ones diffprivlib 0.6.6 cannot be imported
    "pure-ldp==1.2.0",
    "statsmodels",  # imported by pure-ldp, not declared
    "xxhash<3.5",  # later ones refuse the text that pure-ldp hashes
    "opendp==0.16.0",
]
STATDP_NEEDS = ["numba", "tqdm", "coloredlogs", "sympy"]
CLAIMED = 0.7  # the privacy level at which StatDP's examples are judged


def rivals_python():
    """The interpreter of the rivals' environment; the environment is made if it is not there."""
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        venv.create(ENVIRONMENT, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PINS, *STATDP_NEEDS], check=True)
    return python


class Rival:
    """A process in the rivals' environment that draws outputs on request."""

    def __init__(self):
        command = [rivals_python(), HERE / "audit_rivals.py"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def draw(self, target, data, n):
        """n outputs of a published mechanism."""
        request = json.dumps({"target": target, "data": data, "n": n}) + "\n"
        self.process.stdin.write(request.encode())
        self.process.stdin.flush()
        size = int(self.process.stdout.readline())
        return np.load(io.BytesIO(self.process.stdout.read(size)))

    def target(self, name):
        """The mechanism as f(data, n)."""
        return functools.partial(self.draw, name)


def audit_rivals():
    """What the auditor finds in three published libraries."""
    rival = Rival()
    epsilon, delta = rival.draw("opendp_threshold_claim", 0, 0).tolist()
    cases = [
        ("diffprivlib 0.6.6, Laplace", "diffprivlib_laplace", 1, (0.0, 1.0)),
        ("pure-LDP 1.2.0, RAPPOR client", "pure_ldp_rappor", 1, (0, 1)),
        ("OpenDP 0.16.0, laplace_threshold", "opendp_threshold", dp.ApproxDP(epsilon, delta), (0, 1)),
    ]
    for title, name, claim, neighbours in cases:
        report = dp.audit(rival.target(name), claim=claim, neighbours=neighbours, seconds=300)
        yield {"case": title, **summary(report)}
    rival.process.stdin.close()
    rival.process.wait()


def summary(report):
    """The report in a row."""
    return {
        "verdict": report.verdict,
        "claimed": report.claimed,
        "delta": report.delta,
        "lower_bound": report.lower_bound,
        "samples": report.samples,
        "seconds": round(report.seconds, 3),
        "witness": report.witness,
    }


def audit_examples():
    """StatDP's examples, each at the privacy level that it claims."""
    pairs = [pair for dimension in (5, 10) for pair in vectors(dimension=dimension)]
    for name, (function, correct, all_differ) in EXAMPLES.items():
        neighbours = pairs if all_differ else [pair for pair in pairs if pair[0][1:] == pair[1][1:]]
        target = functools.partial(function, epsilon=CLAIMED)
        report = dp.audit(target, claim=CLAIMED, neighbours=neighbours)
        agrees = report.violated is not correct
        yield {"case": f"StatDP example {name}", "agrees": agrees, **summary(report)}


STATDP_RUN = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
from statdp import ALL_DIFFER, ONE_DIFFER, detect_counterexample
from statdp import algorithms
name, claimed = sys.argv[2], float(sys.argv[3])
extra = {"N": 1, "T": 0.5} if name == "SVT" else {"N": 1, "T": 1} if name.startswith("iSVT") else {}
differ = ONE_DIFFER if name.startswith("histogram") else ALL_DIFFER
started = time.perf_counter()
found = detect_counterexample(getattr(algorithms, name), (claimed,), {"epsilon": claimed, **extra},
                              sensitivity=differ, quiet=True)
print(json.dumps({"p_value": found[0][1], "seconds": time.perf_counter() - started}))
"""


def run_statdp(folder, name):
    """StatDP's own verdict (p < 0.05: violated) and time, with its default numbers of runs."""
    command = [rivals_python(), "-c", STATDP_RUN, folder, name, str(CLAIMED)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(run.stdout.splitlines()[-1])


def main():
    """Run everything, print it, keep it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--statdp", metavar="FOLDER", help="a checkout of StatDP")
    parser.add_argument("--only", metavar="TEXT", default="", help="only cases whose name contains this")
    options = parser.parse_args()
    rows = []
    started = time.perf_counter()
    for row in [*audit_rivals(), *audit_examples()]:
        if options.only not in row["case"]:
            continue
        if options.statdp and row["case"].startswith("StatDP example"):
            theirs = run_statdp(options.statdp, row["case"].split()[-1])
            row |= {"statdp": theirs, "times_faster": round(theirs["seconds"] / row["seconds"], 1)}
        rows.append(row)
        print(f"{row['case']:34} {row['verdict']:12} epsilon >= {row['lower_bound']:.3f}", end=" ")
        print(f"(claimed {row['claimed']:.3g}) {row['samples']} outputs, {row['seconds']:.2f} s", end="")
        print(f", StatDP {row['statdp']['seconds']:.0f} s" if "statdp" in row else "")
    print(f"{time.perf_counter() - started:.0f} s in all")
    results = HERE / "results"
    results.mkdir(exist_ok=True)
    (results / "audit.json").write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
