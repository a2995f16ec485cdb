"""The list of faults is kept with the code, and the run that plants them tells the two kinds apart."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from mutation.faults import EXEMPT, Fault, complaints, kernel_files, read_faults

ROOT = Path(__file__).parents[2]
LEAST = 80
# One that every test of it must see, and one that none can.
CONTROLS = ("a delta of one is a price", "a comparison is written the other way round")


def plant(*names):
    command = [sys.executable, "-m", "tests.mutation", *names]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_list_is_long_and_fits_the_code():
    faults = read_faults()
    assert sum(bool(fault.harm) for fault in faults) >= LEAST
    assert list(complaints(faults)) == []


def test_what_is_wrong_with_a_list_is_said():
    faults = read_faults()
    first = faults[0]
    file = next(kernel_files())
    assert f"no fault is planted in {file}" in complaints([each for each in faults if each.file != file])
    wrong = {
        "twice": (*faults, first),
        "stands 0 times": (*faults, replace(first, name="x", old="no such text")),
        "no test": (*faults, replace(first, name="x", tests=("tests/none.py::test_none",))),
        "harm or same": (*faults, replace(first, name="x", harm="", same="")),
    }
    for words, several in wrong.items():
        assert any(words in complaint for complaint in complaints(several)), words
    assert not set(EXEMPT) & set(kernel_files())


def test_planting_never_touches_a_text_that_stands_twice(tmp_path):
    path = tmp_path / "src" / "discreet" / "x.py"
    path.parent.mkdir(parents=True)
    path.write_text("a = 1\nb = 1\n")
    with pytest.raises(AssertionError, match="exactly once"):
        Fault("x", "x.py", "= 1", "= 2", (), harm="none").plant(tmp_path)


@pytest.mark.slow
def test_a_harmful_fault_is_caught_and_a_change_that_does_not_matter_survives():
    done = plant(*CONTROLS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "  caught" in done.stdout
    assert "  survived" in done.stdout
    assert "2 faults, 0 not as expected" in done.stdout


@pytest.mark.soak
def test_no_harmful_fault_survives():
    done = plant()
    print(done.stdout)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
