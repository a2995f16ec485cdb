import copy
import ctypes
import os
import pickle
import subprocess
import sys
import threading
from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from discreet.kernel.randomness import fresh_source, rounded_gaussian
from discreet.kernel.randomness.source import SecureSource

WORDS = 16


def read(source):
    return [*source.words(WORDS).tolist(), source.word(), *source.words(3).tolist()]


def in_child(fork, source):
    """What a forked child reads from the source."""
    receive, send = os.pipe()
    child = fork()
    if child == 0:  # pragma: no cover - another process
        os.write(send, " ".join(map(str, read(source))).encode())
        os._exit(0)
    os.close(send)
    with os.fdopen(receive) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return list(map(int, text.split()))


def all_distinct(*streams):
    words = [word for stream in streams for word in stream]
    return len(set(words)) == len(words) == (WORDS + 4) * len(streams)


@pytest.mark.parametrize("fork", [os.fork, ctypes.PyDLL(None).fork], ids=["python", "behind python's back"])
@pytest.mark.parametrize("used", [False, True])
def test_a_fork_draws_another_stream(fork, used):
    source = fresh_source()
    before = read(source) if used else read(fresh_source())
    children = [in_child(fork, source) for _ in range(2)]
    assert all_distinct(before, *children, read(source))


def test_a_stream_shared_across_a_fork_would_be_seen(monkeypatch):
    monkeypatch.setattr(SecureSource, "_stream", lambda self: self._streams.setdefault((0, 0, 0), _Shared()))
    source = fresh_source()
    read(source)
    assert not all_distinct(in_child(os.fork, source), in_child(os.fork, source))


class _Shared:
    """A planted fault: a generator that every child inherits in its parent's state."""

    def __init__(self):
        self.next = 0

    def words(self, count):
        self.next += count
        return np.arange(self.next - count, self.next, dtype=np.uint64)

    def word(self):
        return int(self.words(1)[0])


def test_each_thread_draws_another_stream():
    source, streams = fresh_source(), []
    threads = [threading.Thread(target=lambda: streams.append(read(source))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all_distinct(read(source), *streams)


def test_threads_that_run_at_once_have_no_stream_in_common():
    """What two threads read from one stream is the same only if they meet: so the streams are compared."""
    source, streams, meeting = fresh_source(), [], threading.Barrier(4, timeout=60)

    def take():
        meeting.wait()
        streams.append(source._stream())
        meeting.wait()  # an identity may be given out again once its thread has ended

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(stream) for stream in [*streams, source._stream()]}) == 5


@pytest.mark.slow
def test_spawned_processes_draw_distinct_streams():
    script = "from discreet.kernel.randomness import fresh_source as f; s = f(); print(*s.words(20).tolist())"
    runs = [
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert all_distinct(*(list(map(int, run.stdout.split())) for run in runs))


def test_every_answer_has_a_source_of_its_own():
    assert all_distinct(*(read(fresh_source()) for _ in range(20)))


@pytest.mark.parametrize("steal", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_source_cannot_be_copied_or_stored(steal):
    with pytest.raises(TypeError):
        steal(fresh_source())


def test_a_source_shows_nothing_of_its_state():
    source = fresh_source()
    read(source)
    assert repr(source) == str(source) == "SecureSource()"
    assert not hasattr(source, "__dict__")
    for stream in source._streams.values():
        assert repr(stream) == "_Stream()"
        for secret in (stream, stream._cipher):
            with pytest.raises(TypeError):
                pickle.dumps(secret)


@pytest.mark.parametrize("failure", [OSError, NotImplementedError])
def test_without_entropy_nothing_is_drawn(monkeypatch, failure):
    def fail(count):
        raise failure("no entropy")

    monkeypatch.setattr(os, "urandom", fail)
    for draw in (lambda: fresh_source().words(3), lambda: fresh_source().words(99), fresh_source().word):
        with pytest.raises(dp.EntropyFailure):
            draw()
    for value in (1, [1, 2], np.zeros(100, dtype=np.int64)):
        with pytest.raises(dp.EntropyFailure):
            dp.Laplace(scale=10, sensitivity=1).release(value)


def test_words_are_balanced():
    # 10^6 words: each bit is a fair coin within 7 standard deviations; 64 bits, false alarm below 2e-10.
    words = fresh_source().words(10**6)
    for bit in range(64):
        ones = int((words >> np.uint64(bit) & np.uint64(1)).sum())
        assert abs(ones - 500_000) < 3500


@pytest.mark.parametrize("count", [0, 1, 8, 9, 8191, 8192, 8193, 100_001])
def test_any_number_of_words_is_delivered(count):
    words = fresh_source().words(count)
    assert words.shape == (count,)
    assert np.unique(words).size == count


def test_tables_are_shared_between_threads():
    values = []
    threads = [
        threading.Thread(
            target=lambda: values.append(rounded_gaussian(fresh_source(), Fraction(12345), 1000))
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({tuple(draws) for draws in values}) == 4
