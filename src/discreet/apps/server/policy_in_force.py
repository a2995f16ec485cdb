"""A policy opened for questions. When an owner changes it, another is put in force.

Tested by: tests/server/pages/test_policy_changes.py
"""

from functools import lru_cache, partial

from discreet.apps.server.limits import Limits
from discreet.apps.server.request_bodies import AskRequest, BookRequest
from discreet.apps.server.worker_pool import WorkerPool
from discreet.asking.curator import Curator
from discreet.asking.planning import BookPlan, Plan

CACHED_BOOKS = 4  # one of 4,096 sets of columns takes 140 MB
CACHED_PLANS = 512  # a plan depends on policy and request alone, so equal requests share it
LONGEST_PASS = 0.9  # of its deadline: then the engine stops a pass, before its process is killed


class PolicyInForce:
    """A policy opened for questions: its curator, the plans made by it, and the workers that read data."""

    def __init__(self, curator: Curator, limits: Limits) -> None:
        self.curator, resources = curator, curator.resources
        self.plan = lru_cache(CACHED_PLANS)(partial(make_plans, curator))
        self.plan_book = lru_cache(CACHED_BOOKS)(partial(make_book, curator))
        resources.timeout_s = LONGEST_PASS * curator.policy.serving.deadline_s
        resources.opening()  # raises if other processes could not open the data
        self.pool = WorkerPool(resources.opening, **_size(curator.policy.engine, limits))

    def open(self) -> None:
        """Open engine, first worker and ledger now; last the ledger, which remembers the opening."""
        self.curator.resources.engine()
        self.pool.open()
        self.curator.resources.open()

    def close(self) -> None:
        """Stop the workers, and close files and connections."""
        self.pool.close()
        self.curator.close()


def make_plans(curator: Curator, ask: AskRequest) -> tuple[Plan, ...]:
    """Return the plans of a request, which depend on the policy and the request alone."""
    return curator.explain(ask.questions, **ask.terms)


def make_book(curator: Curator, request: BookRequest) -> BookPlan:
    """Return the plan of a book, which depends on the policy and the request alone."""
    return curator.explain_book(request.tables, **request.terms)


def _size(engine: object, limits: Limits) -> dict[str, int]:
    """Return the size of the pool: one worker and no spare where each would start a Spark driver."""
    driver = isinstance(engine, str) and engine.startswith(("spark", "local["))
    return {"most": 1, "spares": 0} if driver else {"most": limits.runners, "spares": 1}
