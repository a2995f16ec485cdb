"""The faults that the tests must notice, kept as data in faults/*.toml, and what is wrong with that list.

[[fault]]
name = "..."                 what was done, in a few words; unique
file = "kernel/losses/pure.py"      under src/discreet
old = "..."                  a text that stands there exactly once
new = "..."                  what takes its place
tests = ["tests/..."]        which tests should notice
harm = "..."                 whom it would hurt; or same = "..." for a change that does not matter
"""

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
LISTS = Path(__file__).parent / "faults"
# What must be right for the guarantee to hold.
KERNEL = ("kernel", "asking/planning")
ALONE = ("asking/release.py", "asking/query_run.py")
EXEMPT = {
    "kernel/mechanisms/__init__.py": "the registry, which conformance goes over",
    "kernel/mechanisms/mechanism.py": "a protocol and records without logic",
}


@dataclass(frozen=True)
class Fault:
    """One small wrong edit."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    harm: str = ""
    same: str = ""

    def plant(self, root: Path) -> None:
        """Make the edit in a tree."""
        path = root / "src" / "discreet" / self.file
        text = path.read_text()
        assert text.count(self.old) == 1, f"{self.name}: the old text must stand exactly once in {self.file}"
        path.write_text(text.replace(self.old, self.new))


def read_faults(folder: Path = LISTS) -> tuple[Fault, ...]:
    """All faults of the list."""
    return tuple(
        Fault(**{**facts, "tests": tuple(facts["tests"])})
        for path in sorted(folder.glob("*.toml"))
        for facts in tomllib.loads(path.read_text())["fault"]
    )


def kernel_files(root: Path = ROOT) -> Iterator[str]:
    """Every source file of the kernel that has logic."""
    package = root / "src" / "discreet"
    for folder in KERNEL:
        for path in sorted((package / folder).rglob("*.py")):
            name = str(path.relative_to(package))
            if _has_logic(path) and name not in EXEMPT:
                yield name
    yield from ALONE


def _has_logic(path: Path) -> bool:
    """Whether a module defines anything: most `__init__.py` only name, or list, what others define."""
    return (
        path.name != "__init__.py"
        or re.search(r"^(def (?!__dir__\()|class )", path.read_text(), re.MULTILINE) is not None
    )


def complaints(faults: Iterable[Fault], root: Path = ROOT) -> Iterator[str]:
    """What is wrong with the list itself: it is kept with the code, or it tells nothing."""
    known = list(faults)
    names = [fault.name for fault in known]
    yield from (f"{name!r} is named twice" for name in sorted({n for n in names if names.count(n) > 1}))
    for fault in known:
        yield from (f"{fault.name}: {what}" for what in _wrong(fault, root))
    seen = {fault.file for fault in known if fault.harm}
    yield from (f"no fault is planted in {name}" for name in kernel_files(root) if name not in seen)
    yield from (f"{name} is exempt and not there" for name in EXEMPT if not _source(root, name).is_file())


def _wrong(fault: Fault, root: Path) -> Iterator[str]:
    source = _source(root, fault.file)
    times = source.read_text().count(fault.old) if source.is_file() else 0
    if times != 1:
        yield f"its old text must stand once in {fault.file}, and stands {times} times"
    if fault.old == fault.new or bool(fault.harm) == bool(fault.same):
        yield "it must change the text, and say either harm or same"
    for test in fault.tests or [""]:
        path, _, name = test.partition("::")
        found = root / path
        if not found.is_file() or (name and f"def {name.partition('[')[0]}(" not in found.read_text()):
            yield f"there is no test {test!r}"


def _source(root: Path, name: str) -> Path:
    return root / "src" / "discreet" / name
