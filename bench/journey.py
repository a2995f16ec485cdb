"""How far a reader travels: the source files and folders that three common calls cross.

Every module is imported, and a call of the same kind is made first, so that what counts is the work itself,
not class bodies or tables made once. A file counts if one of its functions is called; a change of folder is a
call into another folder than that of the call before.
"""

import contextlib
import importlib
import io
import itertools
import pkgutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import discreet
import discreet as dp
from bench.harness import Report, Rivals, Row

PACKAGE = Path(discreet.__file__).parent
SQL = "SELECT city, COUNT(*) AS n FROM people GROUP BY city"
ASK_FILES, ASK_CHANGES, RELEASE_FILES, EPSILON_FILES = 60, 110, 9, 14


class Journey(NamedTuple):
    """The files whose functions were called, in order, each once for every change of file."""

    calls: tuple[Path, ...]

    @property
    def files(self) -> int:
        return len(set(self.calls))

    @property
    def folders(self) -> int:
        """Count how often a call goes to another folder than the one before."""
        homes = [path.parent for path in self.calls]
        return sum(first != second for first, second in itertools.pairwise(homes))


def run(_: Rivals) -> Report:
    """Trace the three journeys."""
    report = Report("Journey: files and folders that a call crosses")
    with tempfile.TemporaryDirectory() as folder:
        ask = trace(asking(Path(folder)))
    release = trace(lambda: dp.Laplace(epsilon=1, sensitivity=1).release(5))
    scales = iter((9, 10))  # another each time: answers are remembered
    epsilon = trace(lambda: (100 * dp.losses.laplace(scale=next(scales))).epsilon(delta=1e-6))
    for what, crossed, limit in (
        ("discreet ask on a CSV: files", ask.files, ASK_FILES),
        ("discreet ask on a CSV: changes of folder", ask.folders, ASK_CHANGES),
        ("Laplace.release: files", release.files, RELEASE_FILES),
        ("(100 * laplace).epsilon: files", epsilon.files, EPSILON_FILES),
    ):
        report.add(Row(what, crossed, limit=limit, unit="count"))
    return report


def asking(folder: Path) -> Callable[[], None]:
    """Return the call behind `discreet ask people.csv ...`, each time with a ledger of its own."""
    from discreet.apps.cli import main

    turns = iter(range(10))

    def ask() -> None:
        home = folder / str(next(turns))
        home.mkdir()
        table = home / "people.csv"
        table.write_text("person,city\n" + "".join(f"{n},{'Bonn' if n % 3 else 'Ulm'}\n" for n in range(300)))
        arguments = ["ask", str(table), SQL, "--unit", "person", "--epsilon", "1", "--delta", "1e-6"]
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
            main(arguments)

    return ask


def trace(work: Callable[[], object]) -> Journey:
    """Run it twice, and follow the calls of the second run."""
    import_all()
    work()
    seen: list[Path] = []

    def follow(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            path = Path(frame.f_code.co_filename)
            if PACKAGE in path.parents:
                seen.append(path)

    sys.setprofile(follow)
    try:
        work()
    finally:
        sys.setprofile(None)
    return Journey(tuple(seen))


def import_all() -> None:
    """Import every module of discreet."""
    for name in modules():
        with contextlib.suppress(ImportError):  # an extra that is not installed
            importlib.import_module(name)


def modules() -> Iterator[str]:
    """Return the names of all modules but the one that runs the command."""
    for found in pkgutil.walk_packages([str(PACKAGE)], "discreet."):
        if not found.name.endswith("__main__"):
            yield found.name
