"""Plants the faults of the list and prints who survived: `python -m tests.mutation [part of a name ...]`."""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from mutation.faults import complaints, read_faults
from mutation.workshop import as_expected, workshop


def main(words: list[str]) -> int:
    """Try the faults whose file or name has one of the words; all, without words."""
    chosen = [
        fault
        for fault in read_faults()
        if not words or any(word in f"{fault.file} {fault.name}" for word in words)
    ]
    wrong = list(complaints(read_faults()))
    print(*wrong, sep="\n", end="\n" if wrong else "")
    unexpected = []
    with workshop() as shop:
        for fault in chosen:
            started = time.monotonic()
            outcome, said = shop.try_fault(fault)
            expected = as_expected(fault, outcome)
            seconds = time.monotonic() - started
            mark = " " if expected else "!"
            print(f"{mark} {outcome:<8} {seconds:5.0f} s  {fault.file}: {fault.name}", flush=True)
            if not expected:
                unexpected.append(fault)
                print(said if outcome in ("broken", "late") else "", end="", flush=True)
    print(
        f"{len(chosen)} faults, {len(unexpected)} not as expected", *(f.name for f in unexpected), sep="\n  "
    )
    return 1 if unexpected or wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
