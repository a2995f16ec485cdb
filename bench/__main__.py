"""Run the named comparisons, or all of them."""

import importlib
import sys

from bench.harness import RESULTS, Rivals

BENCHES = (
    "accounting",
    "accuracy",
    "audit",
    "book",
    "cover",
    "journey",
    "ledger",
    "local",
    "mechanisms",
    "noise",
    "postgres",
    "questions",
    "scale",
    "spark",
    "tpch",
    "training",
    "useful",
    "useful_speed",
)  # one file bench/<name>.py each, with a function run(rivals) -> Report


def main() -> int:
    names = sys.argv[1:] or list(BENCHES)
    unknown = set(names) - set(BENCHES)
    if unknown:
        print(f"unknown: {', '.join(sorted(unknown))}; there are: {', '.join(BENCHES)}")
        return 2
    missed = 0
    with Rivals() as rivals:
        for name in names:
            report = importlib.import_module(f"bench.{name}").run(rivals)
            print(report.write(RESULTS / name, rivals.versions()))
            missed += len(report.missed)
    print(f"{missed} limits missed" if missed else "every limit is kept")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
