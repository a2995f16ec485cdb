"""Prints the gallery as a table for docs/guide/gallery.md: python -m tests.gallery."""

import time

from tests.gallery.broken import GALLERY
from tests.gallery.mutants import MUTANTS

import discreet as dp

print("| mechanism | fault | claimed ε | ε proved | outputs | ms |")
print("|---|---|--:|--:|--:|--:|")
for entry in [*GALLERY, *MUTANTS]:
    started = time.process_time()
    report = dp.audit(entry.target, claim=entry.claim, neighbours=entry.neighbours)
    spent = 1000 * (time.process_time() - started)
    claimed = f"{report.claimed:g}" + (f" (δ = {report.delta:g})" if report.delta else "")
    proved = f"{claimed} | {report.lower_bound:.2f} | {report.samples} | {spent:.0f}"
    print(f"| `{entry.name}` | {entry.fault} | {proved} |")
