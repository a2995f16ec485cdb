"""The pages over a real socket: who gets in, what protects forms, who sees what."""

import asyncio
import re
import time
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from discreet.apps.server import make_app
from discreet.apps.server.journal import HEADERS
from discreet.kernel.ledger import Request
from discreet.kernel.losses import PureDP
from server.pages.visiting import COUNT, Visitor
from server.running import promptly, running, write_policy

PARTS = ("", "/ask", "/watches", "/history")
PLACES = ("/datasets", *(f"/datasets/town{part}" for part in PARTS), "/owner")
DEADLINE_S = 0.5
HOSTILE = 'SELECT COUNT(*) AS "<script>alert(1)</script>" FROM town'


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    folder = tmp_path_factory.mktemp("town")
    policy = write_policy(folder, server="approve_above = { epsilon = 20 }")
    with promptly(policy, journal=folder / "journal.jsonl") as served:
        yield served


@pytest.fixture
def visitor(town):
    with Visitor(town) as someone:
        yield someone


@pytest.fixture
def other(town):
    with Visitor(town) as someone:
        yield someone


# --- who gets in -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", PLACES)
def test_without_a_session_every_page_leads_to_the_entrance_and_back(town, visitor, place):
    reply = visitor.get(place, params={"sql": "SELECT 'é' // 1"})
    entrance = reply.headers["location"]
    assert (reply.status_code, entrance.split("?")[0]) == (303, "/login")
    assert "back where you were" in visitor.get(entrance).text
    back = parse_qs(urlsplit(entrance).query)["next"][0]
    reply = visitor.send_form("/login", seen_at=entrance, token=town.tokens["olga"], next=back)
    assert (reply.status_code, reply.headers["location"]) == (303, back)
    assert urlsplit(back).path == place
    assert parse_qs(urlsplit(back).query) == {"sql": ["SELECT 'é' // 1"]}


@pytest.mark.parametrize(
    "place",
    [
        "",
        "//evil.example",
        "/\\evil.example",
        "https://evil.example",
        "evil",
        "/\t/evil",
        '/"><script>',
        "/é",
    ],
)
def test_the_way_back_leads_nowhere_else(town, visitor, place):
    assert place == "" or place not in visitor.get("/login", params={"next": place}).text
    reply = visitor.send_form("/login", seen_at="/login", token=town.tokens["ann"], next=place)
    assert (reply.status_code, reply.headers["location"]) == (303, "/datasets")


def test_a_bearer_token_opens_no_page_and_a_cookie_nothing_of_rest(town, visitor):
    token = {"authorization": f"Bearer {town.tokens['ann']}"}
    assert visitor.get("/datasets", headers=token).status_code == 303
    visitor.signed_in("ann")
    assert visitor.get("/api/datasets").status_code == 401


def test_every_wrong_token_is_refused_in_the_same_words(town, visitor):
    town.service.people.add("gone", "analyst")
    revoked = town.service.people.new_token("gone")
    town.service.people.revoke("gone")
    replies = [visitor.sign_in(token) for token in (revoked, "dp_" + "x" * 43, "", "nonsense", "ü" * 2000)]
    assert {reply.status_code for reply in replies} == {401}
    assert len({re.sub(r'value="[^"]+"', "", reply.text) for reply in replies}) == 1
    assert all("discreet" not in reply.cookies for reply in replies)


def test_the_cookie_is_for_this_site_and_for_no_script(visitor, town):
    reply = visitor.sign_in(town.tokens["ann"])
    cookie = next(c for c in reply.headers.get_list("set-cookie") if c.startswith("discreet="))
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert town.tokens["ann"] not in cookie


def test_over_https_cookies_are_sent_over_https_alone(town):
    async def entrance(scheme):
        transport = httpx.ASGITransport(app=make_app(town.service))
        async with httpx.AsyncClient(transport=transport, base_url=f"{scheme}://town") as client:
            return (await client.get("/login")).headers

    over_tls, plain = asyncio.run(entrance("https")), asyncio.run(entrance("http"))
    assert "Secure" in over_tls["set-cookie"]
    assert "strict-transport-security" in over_tls
    assert "Secure" not in plain["set-cookie"]
    assert "strict-transport-security" not in plain


def test_a_new_sign_in_ends_the_old_session(visitor, town):
    visitor.signed_in("ann")
    old = visitor.cookies["discreet"]
    visitor.signed_in("ann")
    visitor.cookies.clear()
    assert visitor.get("/datasets", headers={"cookie": f"discreet={old}"}).status_code == 303


def test_signing_out_and_revoking_end_a_session_at_once(visitor, other, town):
    visitor.signed_in("bob")
    kept = visitor.cookies["discreet"]
    assert visitor.send_form("/logout", seen_at="/datasets").status_code == 303
    assert visitor.get("/datasets", headers={"cookie": f"discreet={kept}"}).status_code == 303
    token = town.service.people.add("eve", "analyst")
    assert other.sign_in(token).status_code == 303
    assert other.get("/datasets").status_code == 200
    town.service.people.revoke("eve")
    assert other.get("/datasets").status_code == 303


# --- forms -------------------------------------------------------------------------------------------------

FORMS = (
    "/logout",
    "/datasets/town/verify",
    "/owner/people",
    "/owner/people/ann/revoke",
    "/owner/people/ann/token",
    "/owner/datasets/town/shares",
    "/owner/datasets/town/failures",
    "/owner/datasets/town/approvals/x",
)


@pytest.mark.parametrize("path", FORMS)
def test_a_form_without_the_visitors_own_word_is_refused(visitor, other, path):
    visitor.signed_in("olga")
    foreign = other.signed_in("olga").csrf("/datasets")
    for word in ("", "wrong", foreign, "é"):
        reply = visitor.post(path, data={"csrf": word, "name": "mallory", "role": "owner", "days": "9"})
        assert reply.status_code == 403
    assert visitor.get("/datasets").status_code == 200
    assert visitor.served.service.people.find("mallory") is None


def test_a_form_with_fields_without_end_is_refused(visitor):
    visitor.signed_in("ann")
    assert visitor.post("/logout", data={f"f{number}": "x" for number in range(30)}).status_code == 400
    assert visitor.get("/datasets").status_code == 200


def test_the_entrance_takes_only_what_its_own_form_sends(visitor, town):
    visitor.get("/login")
    reply = visitor.post("/login", data={"csrf": "guessed", "token": town.tokens["ann"]})
    assert reply.status_code == 403
    visitor.cookies.clear()
    assert visitor.post("/login", data={"csrf": "", "token": town.tokens["ann"]}).status_code == 403


@pytest.mark.parametrize("path", ["ask", "explain"])
def test_asking_needs_the_visitors_own_word_and_is_not_charged_without(visitor, other, town, path):
    foreign = other.signed_in("ann").csrf("/datasets/town/ask")
    visitor.signed_in("ann")
    before = town.spent()
    for headers in ({}, {"x-csrf": foreign}):
        body = {"sql": COUNT, "epsilon": 0.25}
        assert visitor.post(f"/datasets/town/{path}", json=body, headers=headers).status_code == 403
    assert town.spent() == before


# --- asking ------------------------------------------------------------------------------------------------


def test_explaining_says_price_error_and_room_and_charges_nothing(visitor, town):
    before = town.spent()
    found = visitor.signed_in("ann").ask(path="explain", epsilon=0.25).json()
    assert found["price"] == found["cost"] == {"ε": "0.25"}
    assert found["errors"][0]["name"] == "n"
    assert found["errors"][0]["text"].startswith("±")
    assert "guesses right after this answer in at most 5" in found["odds"][0]
    assert found["odds"][1].startswith("After all that is spent so far: ")
    assert found["gauge"]["fits"] > 0
    assert town.spent() == before


def test_half_a_question_is_refused_with_its_place(visitor):
    found = visitor.signed_in("ann").ask("SELECT now() FROM town", path="explain").json()
    assert found["refused"]["place"] == [7, 10]


def test_an_answer_is_charged_once_and_is_free_the_second_time(visitor, town):
    visitor.signed_in("ann")
    before = town.spent().epsilon
    body = {"sql": "SELECT COUNT(*) AS once FROM town", "epsilon": 0.5}
    first, again = (visitor.ask(**body).json() for _ in range(2))
    assert (first["charged"], again["charged"]) == (True, False)
    assert first["table"] == again["table"]
    assert "±" in first["table"]["rows"][0][0]["margin"]
    assert any("rows beyond are not in these numbers" in note for note in first["table"]["says"])
    assert float(town.spent().epsilon - before) == 0.5
    assert visitor.ask(path="explain", **body).json()["free"] is True


def test_an_answer_leaves_when_due(tmp_path):
    with running(write_policy(tmp_path, deadline_s=DEADLINE_S)) as town, Visitor(town) as visitor:
        headers = {"x-csrf": visitor.signed_in("ann").csrf("/datasets/town/ask")}
        started = time.monotonic()
        visitor.post("/datasets/town/ask", json={"sql": COUNT, "epsilon": 0.5}, headers=headers)
        assert time.monotonic() - started >= DEADLINE_S


def test_a_price_above_the_owners_limit_waits_for_a_word_and_then_is_answered(visitor, other):
    question = {"sql": "SELECT COUNT(*) AS dear FROM town", "epsilon": 21}
    waiting = visitor.signed_in("ann").ask(**question)
    assert waiting.status_code == 202
    other.signed_in("olga")
    assert "1 question waits for your decision" in other.get("/owner").text
    assert "AS dear" in other.get("/datasets/town/waiting").text
    path = f"/owner/datasets/town/approvals/{waiting.json()['waiting']['id']}"
    assert other.send_form(path, seen_at="/owner", decision="approved").status_code == 303
    assert visitor.ask(**question).status_code == 200


def test_a_receipt_is_kept_for_whoever_asked(visitor, other):
    charge = visitor.signed_in("ann").ask("SELECT COUNT(*) AS mine FROM town").json()["charge"]
    reply = visitor.get(f"/datasets/town/receipts/{charge}")
    assert "attachment" in reply.headers["content-disposition"]
    assert reply.json()["receipts"][0]["charge"] == charge
    assert other.signed_in("bob").get(f"/datasets/town/receipts/{charge}").status_code == 404


def test_a_list_of_questions_is_for_programs(visitor):
    assert visitor.signed_in("ann").ask([COUNT, COUNT]).status_code == 400


# --- who sees what -----------------------------------------------------------------------------------------


def test_an_analyst_sees_their_own_questions_and_an_owner_all_of_them(visitor, other, town):
    visitor.signed_in("ann").ask("SELECT COUNT(*) AS of_ann FROM town")
    assert "of_ann" in visitor.get("/datasets/town/history").text
    assert "of_ann" not in other.signed_in("bob").get("/datasets/town/history").text
    with Visitor(town) as owner:
        assert "of_ann" in owner.signed_in("olga").get("/datasets/town/history").text


def test_an_address_that_leads_nowhere_is_a_page_for_browsers_and_json_for_programs(visitor):
    browser = visitor.get("/nowhere", headers={"accept": "text/html,*/*"})
    assert (browser.status_code, "<h1>Not found</h1>" in browser.text) == (404, True)
    for path, accept in (("/nowhere", "*/*"), ("/api/nowhere", "text/html")):
        program = visitor.get(path, headers={"accept": accept})
        assert (program.status_code, program.json()["error"]["code"]) == (404, "not_found")


def test_what_is_the_owners_is_refused_to_analysts(visitor):
    visitor.signed_in("ann")
    assert visitor.get("/owner").status_code == 403
    for path in FORMS[1:]:
        assert visitor.send_form(path, seen_at="/datasets", name="mallory", role="owner").status_code == 403


def test_an_owner_makes_an_analyst_whose_token_is_shown_once_and_works(visitor, other):
    visitor.signed_in("olga")
    made = visitor.send_form("/owner/people", seen_at="/owner", name="dana", role="analyst", days="7")
    token = re.search(r"dp_[\w-]{43}", made.text)[0]
    assert token not in visitor.get("/owner").text
    assert other.sign_in(token).status_code == 303
    assert visitor.send_form("/owner/people/dana/revoke", seen_at="/owner").status_code == 303
    assert other.get("/datasets").status_code == 303


@pytest.mark.parametrize(
    "wrong",
    [{"name": "<b>"}, {"name": "ann"}, {"role": "king"}, {"days": "0"}, {"days": "-1"}, {"days": "²"}],
)
def test_a_person_who_cannot_be_is_refused_with_a_reason(visitor, wrong):
    fields = {"name": "new", "role": "analyst", "days": "9", **wrong}
    reply = visitor.signed_in("olga").send_form("/owner/people", seen_at="/owner", **fields)
    assert reply.status_code == 400
    assert 'role="alert"' in reply.text


def test_an_owner_reserves_a_share_and_verifies_the_chain(visitor):
    visitor.signed_in("olga")
    share = {"analyst": "bob", "epsilon": "1.5", "delta": "1e-8", "reason": "thesis"}
    assert visitor.send_form("/owner/datasets/town/shares", seen_at="/owner", **share).status_code == 303
    assert "thesis" in visitor.get("/datasets/town/history").text
    wrong = visitor.send_form("/owner/datasets/town/shares", seen_at="/owner", **{**share, "epsilon": "many"})
    assert wrong.status_code == 400
    sound = visitor.send_form("/datasets/town/verify", seen_at="/datasets/town/history")
    assert "The chain is valid." in sound.text


def test_who_fails_sees_it_counted_and_an_owner_releases_it(visitor, other, town):
    ledger = town.service.datasets["town"]._curator.ledger
    asked = Request(loss=PureDP(0.1), question="SELECT 1", analyst="bob")
    ledger.abandon(ledger.charge(asked))
    visitor.signed_in("bob")
    for place in ("/datasets", "/datasets/town"):
        assert "1 of your questions failed" in visitor.get(place).text
    other.signed_in("olga")
    assert "bob: 1" in other.get("/owner").text
    form = "/owner/datasets/town/failures"
    assert visitor.send_form(form, seen_at="/datasets/town", reason="please").status_code == 403
    assert other.send_form(form, seen_at="/owner", reason="looked").status_code == 303
    assert "of your questions failed" not in visitor.get("/datasets").text
    assert ledger.failures() == 0


# --- what leaves -------------------------------------------------------------------------------------------


def test_what_people_write_is_text_on_every_page(visitor):
    answer = visitor.signed_in("olga").ask(HOSTILE)
    assert answer.status_code == 200
    for place in ("/datasets/town/history", "/owner", "/datasets/town/ask?sql=<script>alert(2)</script>"):
        page = visitor.get(place).text
        assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in visitor.get("/datasets/town/history").text


@pytest.mark.parametrize("place", ["/", *PLACES])
def test_every_page_forbids_foreign_and_inline_code_and_is_not_stored(visitor, place):
    reply = visitor.signed_in("olga").get(place, follow_redirects=True)
    policy = reply.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert reply.headers["cache-control"] == "no-store"
    inline = r'<script(?![^>]*\bsrc=)(?![^>]*type="application/json")|<style|\sstyle=|\son\w+='
    assert not re.findall(inline, reply.text)
    assert not re.findall(r'(?:src|href|action)="(?:https?:)?//', reply.text)


def test_no_token_reaches_the_journal_and_pages_are_no_part_of_the_interface(visitor, town):
    visitor.signed_in("ann").ask()
    journal = (town.folder / "journal.jsonl").read_text()
    assert '"person": "ann"' in journal
    assert not any(token in journal for token in town.tokens.values())
    assert not any("login" in path for path in visitor.get("/openapi.json").json()["paths"])


def test_what_nobody_foresaw_is_a_page_with_every_header_and_none_of_its_words(visitor, town, monkeypatch):
    def break_down(_):
        raise RuntimeError("a secret of the data")

    visitor.signed_in("ann")
    monkeypatch.setattr(town.service.datasets["town"], "balances", break_down)
    reply = visitor.get("/datasets/town")
    assert (reply.status_code, "That failed" in reply.text) == (500, True)
    assert set(HEADERS.items()) | {("cache-control", "no-store")} <= set(reply.headers.items())
    assert "secret" not in reply.text + (town.folder / "journal.jsonl").read_text()
