"""The queue before SQLite: alone means alone, and nobody is passed over."""

import multiprocessing
import os
import signal
import threading
import time

import pytest

from discreet.kernel.ledger.sqlite.connection import FairLock


def test_alone_excludes_all_and_together_only_the_lonely(tmp_path):
    one, two, three = (FairLock(tmp_path, patience=0.05) for _ in range(3))
    with one.together(), two.together(), pytest.raises(BlockingIOError), three.alone():
        pass
    with one.alone(), pytest.raises(BlockingIOError), two.together():
        pass
    with three.alone():
        pass


def test_the_turn_of_a_process_that_died_without_ringing_is_found_by_looking(tmp_path):
    context = multiprocessing.get_context("fork")
    process = context.Process(target=hold_and_die, args=(tmp_path,))
    process.start()
    process.join()
    with FairLock(tmp_path, patience=0.05).alone():
        pass


def hold_and_die(folder):
    with FairLock(folder, patience=1).alone():
        os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_a_bell_that_rings_for_nobody_stops_no_one(tmp_path):
    turns = FairLock(tmp_path, patience=0.05)
    for _ in range(70_000):  # more than a pipe holds
        with turns.alone():
            pass


@pytest.mark.slow
def test_who_waits_comes_before_who_comes_again(tmp_path):
    busy, waiting = FairLock(tmp_path, patience=30), FairLock(tmp_path, patience=30)
    stop, turns = threading.Event(), 0

    def hog():
        nonlocal turns
        while not stop.is_set():
            with busy.alone():
                turns += 1
                time.sleep(0.001)

    thread = threading.Thread(target=hog)
    thread.start()
    while turns < 5:
        time.sleep(0.001)
    before = turns
    with waiting.alone():
        passed_over = turns - before
    stop.set()
    thread.join()
    assert passed_over <= 50  # a hog that is not held back takes thousands
