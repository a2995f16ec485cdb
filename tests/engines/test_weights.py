"""Plans with a limit: every engine gives what the naive reference gives, and that what is written."""

from dataclasses import replace

import pytest

from discreet.asking.engines import MemoryEngine
from discreet.asking.planning import Excess, Limit
from discreet.asking.planning.widths import check_widths
from engines.people import crowd
from engines.registry import MAKERS
from engines.test_agreement import plans_of, seen
from queries.bank import BANK
from queries.test_read import ACCEPTED

LADDER = (1, 2, 3, 4, 6, 8, 11, 16, 1000, 2**30, 2**61, 2**80)
EXCESSES = (
    *(Excess(rung, rung) for rung in LADDER),
    *(Excess(rung, 1, bits=0) for rung in (0, *LADDER)),
    *(Excess(rung, 3 * rung) for rung in LADDER),
)


@pytest.fixture(scope="module", params=list(MAKERS))
def opened(request):
    """Opens one of the engines on a policy and rows."""
    return lambda policy, rows: MAKERS[request.param](request, policy, rows)


def weighed(plan, limits=(1, 3, 50, 2**40)):
    """A plan with each of the limits, and with the excesses of its norms."""
    if plan.tally is not None:
        return []
    return [*(replace(plan, limit=Limit.of(most)) for most in limits), replace(plan, excess=EXCESSES)]


def agree(opened, rows, plans):
    reference = MemoryEngine(BANK, rows)
    with opened(BANK, rows) as engine:
        for plan in plans:
            check_widths(plan)
            assert seen(engine.run(plan)) == seen(reference.run(plan)), plan


def golden(salt, texts=ACCEPTED, **options):
    return [each for text in texts for plan in plans_of(text, salt) for each in weighed(plan, **options)]


def test_golden_questions_agree_on_a_crowd(opened):
    agree(opened, crowd(1), golden(1)[::7])  # of every sort: 7 and the number of sorts have no common factor
