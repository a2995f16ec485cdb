"""Who is let in: one constant answer to every token that does not open the auth."""

import http.client

import pytest

from server.running import Reply, promptly, write_policy

PATHS = [
    ("GET", "/api/datasets"),
    ("GET", "/api/datasets/town"),
    ("POST", "/api/datasets/town/ask"),
    ("POST", "/api/datasets/town/explain"),
    ("POST", "/api/datasets/town/watch"),
    ("POST", "/api/datasets/town/watch/x/test"),
    ("GET", "/api/datasets/town/history"),
    ("GET", "/api/datasets/town/budget"),
    ("GET", "/api/datasets/town/receipts/1"),
    ("GET", "/api/datasets/town/approvals"),
    ("GET", "/api/datasets/town/verify"),
    ("GET", "/api/datasets/nowhere"),
    ("GET", "/api/people"),
    ("GET", "/api/me"),
    ("GET", "/metrics"),
]


@pytest.fixture(scope="module")
def houses(tmp_path_factory):
    with (
        promptly(write_policy(tmp_path_factory.mktemp("one"))) as one,
        promptly(write_policy(tmp_path_factory.mktemp("other"))) as other,
    ):
        yield one, other


def refused_tokens(one, other):
    revoked = one.service.people.add("gone", "analyst") if one.service.people.find("gone") is None else None
    one.service.people.revoke("gone")
    expired = one.service.people.new_token("ann", days=1)
    one.service.people._records.change(
        "UPDATE tokens SET expires = '2020-01-01T00:00:00Z' WHERE digest = (SELECT digest FROM tokens"
        " WHERE person = 'ann' ORDER BY expires LIMIT 1)"
    )
    return {
        "none": None,
        "empty": "",
        "made up": "dp_" + "A" * 43,
        "foreign": other.tokens["ann"],
        "revoked": revoked or "dp_" + "B" * 43,
        "expired": expired,
        "long": "x" * 5000,
    }


def test_every_token_that_is_not_valid_gets_one_constant_answer_everywhere(houses):
    one, other = houses
    tokens = refused_tokens(one, other)
    replies = {
        (path, kind): one.send(method, path, who=token, body={} if method == "POST" else None)
        for method, path in PATHS
        for kind, token in tokens.items()
    }
    assert {reply.status for reply in replies.values()} == {401}
    assert len({reply.body for reply in replies.values()}) == 1
    assert len({tuple(names_of(reply)) for reply in replies.values()}) == 1


def names_of(reply: Reply):
    return [(name, value) for name, value in reply.headers if name != "date"]


@pytest.mark.parametrize("scheme", ["Basic", "Token", "bearer-x", ""])
def test_only_the_bearer_scheme_counts(houses, scheme):
    one, _ = houses
    connection = http.client.HTTPConnection("127.0.0.1", one.port)
    connection.request("GET", "/api/me", headers={"authorization": f"{scheme} {one.tokens['ann']}".strip()})
    assert connection.getresponse().status == 401
    connection.close()


def test_no_header_cookie_or_query_stands_for_a_token(houses):
    one, _ = houses
    token = one.tokens["olga"]
    headers = {"x_user": "olga", "user_name": "olga", "cookie": f"token={token}; session={token}"}
    assert one.send("GET", f"/api/me?token={token}&access_token={token}", who=None, **headers).status == 401


def test_what_is_not_there_and_what_is_anothers_look_the_same(houses):
    one, _ = houses
    watch = one.send("POST", "/api/datasets/town/watch", who="ann", body={"threshold": 1, "epsilon": 0.1})
    mine = f"/api/datasets/town/watch/{watch.json['watch']}/test"
    never = "/api/datasets/town/watch/AAAAAAAAAAAAAAAAAAAAAA/test"
    body = {"sql": "SELECT COUNT(*) FROM town"}
    theirs, nobodys = (one.send("POST", path, who="bob", body=body) for path in (mine, never))
    assert theirs.status == nobodys.status == 404
    assert theirs.body == nobodys.body
    assert one.send("POST", mine, who="ann", body=body).status == 200
