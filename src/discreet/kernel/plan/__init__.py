"""Plans as tuples of stages, and the runner that holds what was charged for them."""

from discreet.kernel.plan.contract import Draw, Group, Later, Move, Output, Released, Stage, changes, move
from discreet.kernel.plan.runner import Permit, Promise, Ran, run_charged, run_invented, unfold

__all__ = [
    "Draw",
    "Group",
    "Later",
    "Move",
    "Output",
    "Permit",
    "Promise",
    "Ran",
    "Released",
    "Stage",
    "changes",
    "move",
    "run_charged",
    "run_invented",
    "unfold",
]
