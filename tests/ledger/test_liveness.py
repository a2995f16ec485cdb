"""Liveness is a fact: a lock that ends with its process."""

import multiprocessing
import os
import signal

from discreet.kernel.ledger.sqlite import OwnerLock, is_alive, sweep


def hold(folder, names):
    names.put(OwnerLock(folder).name)
    signal.pause()


def start_owner(folder):
    context = multiprocessing.get_context("fork")
    names = context.SimpleQueue()
    process = context.Process(target=hold, args=(folder, names))
    process.start()
    return process, names.get()


def test_an_owner_lives_until_it_is_killed(tmp_path):
    process, name = start_owner(tmp_path)
    assert is_alive(tmp_path, name)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert not is_alive(tmp_path, name)


def test_a_stopped_owner_is_not_dead(tmp_path):
    process, name = start_owner(tmp_path)
    os.kill(process.pid, signal.SIGSTOP)
    assert is_alive(tmp_path, name)
    os.kill(process.pid, signal.SIGKILL)
    process.join()


def test_an_unknown_owner_is_dead_and_a_name_cannot_lead_elsewhere(tmp_path):
    (tmp_path / "locks").mkdir()
    (tmp_path / "precious").touch()
    assert not is_alive(tmp_path / "locks", "../precious")
    assert (tmp_path / "precious").exists()


def test_sweeping_leaves_the_living(tmp_path):
    owner = OwnerLock(tmp_path)
    (tmp_path / "owner-gone").touch()
    sweep(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [owner.name]
    owner.release()
    assert list(tmp_path.iterdir()) == []
