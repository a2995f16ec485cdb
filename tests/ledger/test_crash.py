"""A crash at every write and fsync of the SQLite in use, and a disk that fails at every one of them."""

import errno
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from discreet.kernel.ledger import Ledger
from discreet.kernel.ledger.entry import UNAVAILABLE
from discreet.kernel.losses import PureDP
from ledger.crash.disk import Disk, read_trace

HERE = Path(__file__).parent / "crash"
QUESTIONS = 4


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    """The interposed C library; `make test` installs a compiler where it is missing."""
    if shutil.which("gcc") is None:
        assert not os.environ.get("CI"), "the crash test needs a C compiler"
        pytest.skip("no C compiler: run make system")
    library = tmp_path_factory.mktemp("shim") / "interpose.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", library, HERE / "interpose.c"], check=True)
    return library


@pytest.fixture
def fast_folder():
    """In memory where there is such a place: the images are only read."""
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=place) as folder:
        yield Path(folder)


def run(shim, folder, *arguments, **environment):
    folder.mkdir(exist_ok=True)
    subprocess.run(
        [sys.executable, HERE / "workload.py", folder, str(QUESTIONS), *map(str, arguments)],
        env={**os.environ, "LD_PRELOAD": str(shim), "TRACE_FOLDER": str(folder), **environment},
        check=True,
    )
    return (folder / "acks").read_text().splitlines()


def trace(shim, tmp_path, *arguments):
    run(shim, tmp_path / "traced", *arguments, TRACE_FILE=str(tmp_path / "trace"))
    return read_trace(tmp_path / "trace")


def losses(image, acks, folder):
    """What a ledger found on such a disk has lost of what was acknowledged; it must open and verify."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, content in image.items():
        if "/" not in name:
            (folder / name).write_bytes(content)
    with Ledger.open(folder / "bank.ledger", dataset="bank", budget=PureDP(1)) as ledger:
        ledger.verify()
        rows = {row.id: row for row in ledger._store.read(lambda transaction: list(transaction.charges()))}
        assert len(rows) * PureDP(0.01).epsilon == ledger.spent.epsilon
        lost = []
        for ack in acks:
            word, charge, *answer = ack.split(" ", 2)
            row = rows.get(int(charge))
            if row is None or (word == "sent" and row.answer != answer[0].encode()):
                lost.append(ack)
        return lost


@pytest.mark.slow
def test_nothing_acknowledged_is_lost_by_a_crash_at_any_write_or_sync(shim, tmp_path, fast_folder):
    disk, choose, points = Disk(), random.Random(0), 0
    changes = trace(shim, tmp_path)
    for change in changes:
        disk.apply(change)
        for kind, image in disk.images(choose):
            assert losses(image, disk.acks, fast_folder / "image") == [], (points, kind)
        points += 1
    assert points > 100
    assert len(disk.acks) == 2 * QUESTIONS


@pytest.mark.slow
def test_the_check_sees_a_ledger_that_does_not_sync(shim, tmp_path, fast_folder):
    disk, choose = Disk(), random.Random(0)
    for change in trace(shim, tmp_path, 0):  # synchronous = OFF
        disk.apply(change)
    image = dict(disk.images(choose))["lost"]
    assert losses(image, disk.acks, fast_folder / "image") == disk.acks != []


def fail_everywhere(shim, tmp_path, fast_folder, error, stride):
    whole = len([change for change in trace(shim, tmp_path) if change.name != "acks"])
    for fail_at in range(1, whole + 1, stride):
        folder = fast_folder / str(fail_at)
        acks = run(shim, folder, FAIL_AT=str(fail_at), FAIL_ERRNO=str(error))
        assert {ack for ack in acks if ack.startswith("refused")} <= {f"refused {UNAVAILABLE}"}
        assert any(ack.startswith("refused") for ack in acks)
        kept = [ack for ack in acks if not ack.startswith("refused")]
        image = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
        assert losses(image, kept, fast_folder / "image") == []


@pytest.mark.slow
@pytest.mark.parametrize(("error", "stride"), [(errno.ENOSPC, 29), (errno.EIO, 31)])
def test_a_disk_that_fails_gives_one_constant_error_and_loses_nothing(
    shim, tmp_path, fast_folder, error, stride
):
    fail_everywhere(shim, tmp_path, fast_folder, error, stride)


@pytest.mark.soak
@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EROFS])
def test_a_disk_that_fails_at_any_change_loses_nothing(shim, tmp_path, fast_folder, error):
    fail_everywhere(shim, tmp_path, fast_folder, error, 1)
