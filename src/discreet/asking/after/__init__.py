"""After the noise: whatever SQL can do with a table, computed from an answer's released rows alone.

split(query, policy) -> Split       the question inside, and what is around it
prepare(around, columns) -> After   checked against an empty answer, before anything is charged
After.apply(columns, table, confidence) -> Selected
"""

from discreet.asking.after.level import Columns
from discreet.asking.after.noise import MARKED, Cell, Table, interval_of
from discreet.asking.after.run import FAILED, After, Failed, Selected, as_cell, prepare
from discreet.asking.after.split import Split, split

__all__ = [
    "FAILED",
    "MARKED",
    "After",
    "Cell",
    "Columns",
    "Failed",
    "Selected",
    "Split",
    "Table",
    "as_cell",
    "interval_of",
    "prepare",
    "split",
]
