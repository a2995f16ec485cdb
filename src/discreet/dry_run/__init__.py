"""A question tried on invented people before anything is spent.

`rehearse(plan, ...)` invents people in the policy's domain, runs the plan on them with its own noise, and
shows beside each released value what bounding and noise did to it. It is given a plan and never an engine, so
there is no data that it could read.
"""

from discreet.dry_run.invention import Belief, complete, invent, keys_led_to, link_rows
from discreet.dry_run.rehearsal import DryRun, rehearse, try_out

__all__ = ["Belief", "DryRun", "complete", "invent", "keys_led_to", "link_rows", "rehearse", "try_out"]
