"""Dry runs: a question tried on invented people before anything is spent.

`rehearse(plan, ...)` invents people in the policy's domain, runs the plan on them with its real noise, and
shows for each released value the effect of bounding and noise. It takes a plan and never an engine, so it
cannot read data.
"""

from discreet.asking.dry_run.invention import Belief, complete, invent, keys_led_to, link_rows
from discreet.asking.dry_run.rehearsal import DryRun, rehearse, rehearse_often, try_out
from discreet.asking.dry_run.sketch import columns_to_draw, draw_dry_runs, say_effects

__all__ = [
    "Belief",
    "DryRun",
    "columns_to_draw",
    "complete",
    "draw_dry_runs",
    "invent",
    "keys_led_to",
    "link_rows",
    "rehearse",
    "rehearse_often",
    "say_effects",
    "try_out",
]
