"""Plants one fault after another in a copy of the tree, and asks the tests that should notice.

Each fault has a process of its own, forked from one that has loaded the libraries and nothing of discreet:
what is left to load is the copy. So this is never imported where discreet is.
"""

import contextlib
import importlib
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import pytest

from mutation.faults import ROOT, Fault

PATIENCE_S = 900.0
LIBRARIES = (
    "hypothesis",
    "hypothesis.strategies",
    "numpy",
    "flint",
    "sqlglot",
    "cryptography.hazmat.primitives.ciphers",
)
PYTEST = ("-x", "-q", "-m", "not soak", "--no-header", "--tb=line")
CAUGHT, SURVIVED = 1, 0  # pytest's own exit codes: a test failed, all passed

Outcome: TypeAlias = Literal["caught", "survived", "late", "broken"]
OUTCOMES: dict[int, Outcome] = {CAUGHT: "caught", SURVIVED: "survived"}


class Workshop:
    """A copy of sources and tests; the tree it was made from is never written to."""

    def __init__(self, folder: Path) -> None:
        assert "discreet" not in sys.modules
        self.folder = folder
        for name in ("src", "tests"):
            shutil.copytree(ROOT / name, folder / name)
        shutil.copy(ROOT / "pyproject.toml", folder)
        for name in LIBRARIES:
            importlib.import_module(name)

    def run(self, tests: Sequence[str]) -> tuple[Outcome, str]:
        """What these tests say of the copy as it is."""
        log = self.folder / "log"
        child = os.fork()
        if child == 0:
            self._ask(tests, log)
        status = _wait(child, PATIENCE_S)
        if status is None:
            return "late", f"no answer within {PATIENCE_S:g} s\n"
        return OUTCOMES.get(os.waitstatus_to_exitcode(status), "broken"), log.read_text()[-2000:]

    def _ask(self, tests: Sequence[str], log: Path) -> None:
        """Run the tests in this process, and end it."""
        code = 99
        try:
            os.setpgid(0, 0)  # with all that the tests start
            file = os.open(log, os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
            for stream in (1, 2):
                os.dup2(file, stream)
            os.chdir(self.folder)
            sys.path[:] = [str(self.folder / "src"), *(path for path in sys.path if str(ROOT) != path)]
            sys.dont_write_bytecode = True  # a stale one would hide the next fault
            # Other plugins only cost time.
            more = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"}
            os.environ.update({**more, "PYTHONPATH": str(self.folder / "src")})
            code = int(pytest.main([*PYTEST, *tests], plugins=[_OneExample()]))
            if "discreet" in sys.modules and not str(sys.modules["discreet"].__file__).startswith(
                str(self.folder)
            ):
                code = 98
        except BaseException:  # noqa: BLE001  a forked child must end here
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(code)

    def try_fault(self, fault: Fault) -> tuple[Outcome, str]:
        """Plant it, run its tests, and take it out again."""
        with self._planted(fault):
            return self.run(fault.tests)

    @contextlib.contextmanager
    def _planted(self, fault: Fault) -> Iterator[None]:
        path = self.folder / "src" / "discreet" / fault.file
        kept, status = path.read_bytes(), path.stat()
        fault.plant(self.folder)
        try:
            yield
        finally:
            path.write_bytes(kept)
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


class _OneExample:
    """A plugin: examples that fail need not be made small."""

    def pytest_sessionstart(self) -> None:  # after the conftest has chosen its profile
        from hypothesis import Phase, settings

        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("one example", settings.default, phases=phases)
        settings.load_profile("one example")


def _wait(child: int, patience: float) -> int | None:
    """The child's exit status; None where it took too long and was ended."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(0.05)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


@contextlib.contextmanager
def workshop() -> Iterator[Workshop]:
    """A copy that is thrown away in the end."""
    with tempfile.TemporaryDirectory(prefix="discreet-faults-") as folder:
        yield Workshop(Path(folder).resolve())


def as_expected(fault: Fault, outcome: Outcome) -> bool:
    """A harmful fault is caught; a change that does not matter survives."""
    return outcome == ("caught" if fault.harm else "survived")
