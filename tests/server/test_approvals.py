from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import product

import pytest

from discreet.apps.server.approvals import needs_approval
from discreet.asking.policy import read_budget
from discreet.kernel.losses import GDP, ZCDP, ApproxDP
from server.running import promptly, write_policy

COUNT = "SELECT COUNT(*) AS n FROM town"


@pytest.fixture
def town(tmp_path):
    with promptly(write_policy(tmp_path, server="approve_above = { epsilon = 0.5 }")) as served:
        yield served


def decide(town, approval, decision):
    path = f"/api/datasets/town/approvals/{approval}"
    return town.send("POST", path, who="olga", body={"decision": decision})


def test_a_price_up_to_the_limit_needs_nobody(town):
    assert town.ask(COUNT, epsilon=0.5).status == 200


def test_a_limit_in_epsilon_alone_grants_no_delta(town):
    """Private keys spend delta, whether it is named or not; and so does whoever names one that is used."""
    private = "SELECT shop, COUNT(*) AS n FROM town GROUP BY shop"
    assert town.ask(private, epsilon=0.1).status == 202
    assert town.ask(private, epsilon=0.1, delta=1e-12).status == 202
    watch = {"threshold": 1, "epsilon": 0.1, "delta": 1e-9, "count": 2}
    assert town.send("POST", "/api/datasets/town/watch", body=watch).status == 202
    assert town.spent().epsilon == 0


def test_a_limit_that_names_delta_grants_that_much(tmp_path):
    limit = "approve_above = { epsilon = 0.5, delta = 1e-8 }"
    private = "SELECT shop, COUNT(*) AS n FROM town GROUP BY shop"
    with promptly(write_policy(tmp_path, server=limit)) as town:
        assert town.ask(private, epsilon=0.1, delta=1e-8).status == 200
        assert town.ask(private, epsilon=0.1, delta=2e-8).status == 202
        assert town.ask(private, epsilon=0.6, delta=1e-8).status == 202


def test_every_number_of_every_price_is_looked_at():
    """Generated: prices of every measure against limits of every shape, one step below, at and above."""
    shapes = ({"epsilon": 1}, {"epsilon": 1, "delta": 1e-6}, {"rho": 1}, {"rho": 1, "delta": 1e-6}, {"mu": 1})
    prices = {
        "epsilon": ApproxDP,
        "rho": ZCDP,
        "mu": lambda m, _: GDP(m),
    }
    for shape in shapes:
        limit = dict(read_budget(shape))
        for measure, make in prices.items():
            for amount, delta in product((Fraction(1, 2), Fraction(1), Fraction(2)), (0, 1e-7, 1e-6, 1e-5)):
                price = make(amount, delta if measure != "mu" else 0)
                used = {measure: amount, "delta": Fraction(str(delta)) if measure != "mu" else 0}
                above = any(number > limit.get(name, 0) for name, number in used.items())
                assert needs_approval(read_budget(shape), price) is above, (shape, price)


def test_a_price_above_it_waits_is_approved_and_asked_once(town):
    waiting = town.ask(COUNT, epsilon=0.6)
    assert waiting.status == 202
    assert town.spent().epsilon == 0
    assert town.ask(COUNT, epsilon=0.6).json == waiting.json
    (listed,) = town.send("GET", "/api/datasets/town/approvals", who="olga").json["approvals"]
    assert (listed["person"], listed["state"], listed["price"]["epsilon"]) == ("ann", "waiting", "3/5")
    assert decide(town, waiting.json["approval"], "approved").json["state"] == "approved"
    answer = town.ask(COUNT, epsilon=0.6)
    assert answer.json["charged"] is True
    assert town.ask(COUNT, epsilon=0.6).json["charged"] is False
    assert town.ask(f"{COUNT} WHERE debt > 1", epsilon=0.6).status == 202


def test_what_is_denied_stays_denied_and_may_be_asked_for_anew(town):
    first = town.ask(COUNT, epsilon=0.6).json["approval"]
    assert decide(town, first, "denied").json["state"] == "denied"
    assert decide(town, first, "approved").json["state"] == "denied"
    again = town.ask(COUNT, epsilon=0.6)
    assert again.status == 202
    assert again.json["approval"] != first


def test_an_approval_is_for_one_person_one_question_one_price(town):
    approval = town.ask(COUNT, epsilon=0.6).json["approval"]
    decide(town, approval, "approved")
    assert town.ask(COUNT, epsilon=0.7).status == 202
    assert town.ask(COUNT, epsilon=0.6, who="bob").status == 202
    assert town.send("GET", "/api/datasets/town/approvals", who="bob").json["approvals"][0]["person"] == "bob"


def test_of_two_asks_at_once_one_passes(town):
    decide(town, town.ask(COUNT, epsilon=0.6).json["approval"], "approved")
    with ThreadPoolExecutor(8) as askers:
        replies = list(askers.map(lambda _: town.ask(COUNT, epsilon=0.6), range(8)))
    assert sum(reply.status == 200 and reply.json["charged"] for reply in replies) == 1
    assert town.spent().epsilon == pytest.approx(0.6)


def test_an_approval_that_met_a_spent_budget_is_given_back(tmp_path):
    with promptly(write_policy(tmp_path, epsilon=1, server="approve_above = { epsilon = 0.5 }")) as town:
        decide(town, town.ask(COUNT, epsilon=0.8).json["approval"], "approved")
        town.ask(f"{COUNT} WHERE debt > 1", epsilon=0.5)
        assert town.ask(COUNT, epsilon=0.8).code == "budget_exceeded"
        (kept,) = town.send("GET", "/api/datasets/town/approvals").json["approvals"]
        assert kept["state"] == "approved"


def state_of(town):
    return town.send("GET", "/api/datasets/town/approvals").json["approvals"][0]["state"]


def test_a_repeated_request_does_not_give_back_what_its_first_try_used(town, monkeypatch):
    """The first try is charged; the same request again meets a busy server: its approval stays used."""
    decide(town, town.ask(COUNT, epsilon=0.6).json["approval"], "approved")
    with (
        monkeypatch.context() as failing
    ):  # charged and not stored, so that the repetition reaches the ledger
        failing.setattr("discreet.apps.server.deadlines.answer", _fail)
        assert town.ask(COUNT, epsilon=0.6, key="k").status == 503
    with monkeypatch.context() as full:
        full.setattr("discreet.apps.server.deadlines.FixedTimeExecutor._take", lambda *_: None)
        assert town.ask(COUNT, epsilon=0.6, key="k").status == 429
    assert state_of(town) == "used"
    assert town.ask(COUNT, epsilon=0.6, key="other").status == 202  # it is not asked twice for one approval
    assert town.spent().epsilon == pytest.approx(0.6)


def _fail(*_):
    raise RuntimeError


def test_an_approval_is_used_once_though_its_first_try_gives_it_back_while_a_repetition_runs(town):
    """Two tries under one key: the first is refused and gives its approval back, the second is charged."""
    body = {"threshold": 10, "epsilon": 1}
    decide(town, town.send("POST", "/api/datasets/town/watch", body=body).json["approval"], "approved")
    approvals = town.service.dataset("town")._approvals
    given_back = []
    use = approvals.use

    def used_by_an_earlier_try(*what, request):
        first = use(*what, request=request)
        second = use(*what, request=request)
        approvals.reopen(first)
        given_back.append(second)
        return second

    approvals.use = used_by_an_earlier_try
    assert town.send("POST", "/api/datasets/town/watch", body=body, idempotency_key="k").status == 201
    del approvals.use
    assert given_back
    assert state_of(town) == "used"
    assert town.send("POST", "/api/datasets/town/watch", body=body).status == 202


def test_rho_against_a_limit_in_epsilon_waits_and_owners_need_nobody(town):
    assert town.ask(COUNT, rho=0.001).status == 202
    assert town.ask(COUNT, epsilon=0.6, who="olga").status == 200


def test_a_watch_above_the_price_waits_too(town):
    body = {"threshold": 10, "epsilon": 1}
    waiting = town.send("POST", "/api/datasets/town/watch", body=body)
    assert waiting.status == 202
    decide(town, waiting.json["approval"], "approved")
    assert town.send("POST", "/api/datasets/town/watch", body=body).status == 201
    assert town.spent().epsilon == 1


def test_nobody_may_leave_an_owner_questions_without_end(town, monkeypatch):
    monkeypatch.setattr("discreet.apps.server.approvals.MOST_WAITING", 2)
    replies = [town.ask(f"{COUNT} WHERE debt > {each}", epsilon=0.6) for each in range(3)]
    assert [reply.status for reply in replies] == [202, 202, 429]
    assert town.ask(f"{COUNT} WHERE debt > 0", epsilon=0.6).json == replies[0].json
    assert town.ask(COUNT, epsilon=0.6, who="bob").status == 202
