"""Group commit: one trip to the disk for all who wait, one fate for each."""

import threading
import time

import pytest

from discreet.errors import LedgerConflict
from discreet.kernel.ledger.sessions import CommitQueue


def submit_together(queue, works):
    """Submit from one thread each, while the first is being committed."""
    results = [None] * len(works)

    def submit(place, work):
        try:
            results[place] = queue.submit(work)
        except BaseException as error:  # noqa: BLE001  what each thread sees is the question
            results[place] = error

    threads = [threading.Thread(target=submit, args=item) for item in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_those_who_wait_share_a_commit():
    batches = []

    def commit(batch):
        batches.append(len(batch))
        time.sleep(0.05)
        for job in batch:
            job.finish(result=2 * job.work)

    assert submit_together(CommitQueue(commit), list(range(20))) == [2 * work for work in range(20)]
    assert sum(batches) == 20
    assert len(batches) < 10


def test_a_batch_is_bounded():
    batches = []

    def commit(batch):
        batches.append(len(batch))
        time.sleep(0.05)  # the others come to wait meanwhile
        for job in batch:
            job.finish(result=job.work)

    queue = CommitQueue(commit, largest=3)
    submit_together(queue, list(range(20)))
    assert max(batches) <= 3


@pytest.mark.parametrize("error", [LedgerConflict("full", part=1), KeyboardInterrupt(), ValueError("a bug")])
def test_a_failed_commit_fails_for_all_and_each_gets_an_error_of_its_own(error):
    def commit(batch):
        time.sleep(0.05)
        raise error

    seen = submit_together(CommitQueue(commit), list(range(20)))
    followers = [one for one in seen if one is not error]
    assert len(followers) > 10
    assert len({id(one) for one in followers}) == len(followers)
    assert all(isinstance(one, LedgerConflict) for one in followers)


def test_one_that_fails_alone_leaves_the_others():
    def commit(batch):
        for job in batch:
            job.finish(**({"error": LedgerConflict("no")} if job.work == 3 else {"result": job.work}))

    seen = submit_together(CommitQueue(commit), list(range(5)))
    assert [one for one in seen if isinstance(one, int)] == [0, 1, 2, 4]
