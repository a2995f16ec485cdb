"""The page of watches: open one, ask, see what it said, stop it; nobody sees another's."""

import html
import re

import pytest

from discreet.kernel.mechanisms import Sparse
from server.pages.visiting import Visitor
from server.running import promptly, write_policy

PLACE = "/datasets/town/watches"
COUNT = "SELECT COUNT(*) FROM town"


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    policy = write_policy(tmp_path_factory.mktemp("town"), server="approve_above = { epsilon = 20 }")
    with promptly(policy) as served:
        yield served


@pytest.fixture
def visitor(town):
    with Visitor(town) as someone:
        yield someone.signed_in("ann")


def begin(visitor, **terms):
    form = {"threshold": "100", "epsilon": "2", "count": "1", **terms}
    reply = visitor.send_form(PLACE, seen_at=PLACE, **form)
    assert reply.status_code == 303, reply.text
    return re.findall(r'action="([^"]+)/test"', visitor.get(PLACE).text)[0]


def shown(visitor):
    return html.unescape(visitor.get(PLACE).text)


def test_a_watch_is_opened_asked_until_it_is_finished_and_removed(visitor, town):
    before = town.spent().epsilon
    assert "if the server stops, the watch ends, stays charged" in shown(visitor)  # said before it is paid
    watch = begin(visitor, threshold="101")
    assert "if the server stops, the watch ends, and stays charged" in shown(visitor)
    assert town.spent().epsilon - before == 2
    for sql in (f"{COUNT} WHERE person < 0", COUNT):
        assert visitor.send_form(f"{watch}/test", seen_at=PLACE, sql=sql).status_code == 303
    page = shown(visitor)
    assert "Above 101?" in page
    assert page.count(">below</span>") == page.count(">above</span>") == 1
    assert ">finished</span>" in page
    assert f"{watch}/test" not in page
    assert visitor.send_form(f"{watch}/stop", seen_at=PLACE).status_code == 303
    assert "Above 101?" not in shown(visitor)
    assert town.spent().epsilon - before == 2


def test_a_form_that_is_sent_twice_opens_one_watch(visitor, town):
    before = town.spent().epsilon
    form = {"csrf": visitor.csrf(PLACE), "key": "once", "threshold": "7", "epsilon": "1", "count": "1"}
    assert [visitor.post(PLACE, data=form).status_code for _ in range(2)] == [303, 303]
    assert town.spent().epsilon - before == 1


@pytest.mark.parametrize(
    "wrong",
    [{"threshold": "many"}, {"threshold": ""}, {"epsilon": "-1"}, {"epsilon": "0"}, {"count": "0"},
     {"threshold": '1,"delta":0.1'}, {"epsilon": "٣"}, {"epsilon": "nan"}, {"epsilon": "1e999999999"}],
)  # fmt: skip
def test_numbers_that_cannot_be_are_refused_with_a_reason_and_unpaid(visitor, town, wrong):
    before = town.spent()
    form = {"threshold": "100", "epsilon": "2", "count": "1", **wrong}
    reply = visitor.send_form(PLACE, seen_at=PLACE, **form)
    assert reply.status_code == 400
    assert 'role="alert"' in reply.text
    assert town.spent() == before


def test_a_question_that_is_refused_stays_to_be_mended_and_the_watch_goes_on(visitor):
    watch = begin(visitor)
    sql = "SELECT city, COUNT(*) FROM town GROUP BY city"
    reply = visitor.send_form(f"{watch}/test", seen_at=PLACE, sql=sql)
    assert reply.status_code == 422
    assert sql in html.unescape(reply.text)
    assert visitor.send_form(f"{watch}/test", seen_at=PLACE, sql=COUNT).status_code == 303


def test_a_price_above_the_owners_limit_waits(visitor, town):
    before = town.spent()
    reply = visitor.send_form(PLACE, seen_at=PLACE, threshold="1", epsilon="21", count="1")
    assert reply.status_code == 202
    assert "needs an owner’s approval" in html.unescape(reply.text)
    assert town.spent() == before


def test_another_sees_and_reaches_nothing_of_it(visitor, town):
    watch = begin(visitor, threshold="4242")
    with Visitor(town) as other:
        other.signed_in("bob")
        assert "4242" not in shown(other)
        for path in (f"{watch}/test", f"{watch}/stop"):
            assert other.send_form(path, seen_at=PLACE, sql=COUNT).status_code == 404
    for path in (PLACE, f"{watch}/test", f"{watch}/stop"):
        assert visitor.post(path, data={"csrf": "guessed", "sql": COUNT}).status_code == 403
    assert "Above 4242?" in shown(visitor)


def test_how_sure_a_watch_is_can_be_seen_before_it_is_paid_for(visitor, town):
    before = town.spent()
    terms = {"threshold": "100", "epsilon": "2", "count": "1", "do": "look"}
    reply = visitor.send_form(PLACE, seen_at=PLACE, questions="50", **terms)
    assert reply.status_code == 200
    said = re.search(r"counts of people that are ([0-9.]+) or more away", html.unescape(reply.text))
    stream = Sparse(threshold=0, epsilon=2, count=1, sensitivity=1, split="optimal")
    assert float(said[1]) >= stream.margin(queries=50)
    assert float(said[1]) < 1.01 * stream.margin(queries=50)
    assert town.spent() == before
    assert "Above 100?" not in html.unescape(visitor.get(PLACE).text)
    for wrong in ("0", "-1", "many", "9999999"):
        reply = visitor.send_form(PLACE, seen_at=PLACE, questions=wrong, **terms)
        assert reply.status_code == 400
