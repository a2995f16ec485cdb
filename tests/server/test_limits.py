import http.client
import socket
import time

from discreet.apps.server.limits import Limits, Rate
from server.running import running, write_policy


def test_a_rate_is_by_name_and_forgets_the_names_it_saw_longest_ago():
    now = [0.0]
    rate = Rate(1, most_names=2, clock=lambda: now[0])
    assert [rate.allows("a") for _ in range(3)] == [True, True, False]
    assert rate.allows("b")
    assert rate.allows("c")
    assert rate.allows("a")


def test_a_rate_may_let_several_come_at_once():
    now = [0.0]
    rate = Rate(0.5, holds=3, clock=lambda: now[0])
    assert [rate.allows("a") for _ in range(4)] == [True, True, True, False]
    now[0] = 2.0
    assert [rate.allows("a") for _ in range(2)] == [True, False]


def test_a_body_beyond_the_limit_is_413_and_not_read_to_its_end(tmp_path):
    with running(write_policy(tmp_path), limits=Limits(body_bytes=1000)) as town:
        reply = town.send("POST", "/api/datasets/town/ask", body=b"x" * 1001)
        assert (reply.status, reply.code) == (413, "too_large")
        assert town.send("POST", "/api/datasets/town/ask", body=b"x" * 1000).status == 400


def test_a_body_that_does_not_come_is_refused(tmp_path):
    with running(write_policy(tmp_path), limits=Limits(body_s=0.2)) as town:
        head = (
            f"POST /api/datasets/town/ask HTTP/1.1\r\nhost: x\r\ncontent-length: 50\r\n"
            f"authorization: Bearer {town.tokens['ann']}\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", town.port)) as connection:
            connection.sendall(head.encode())
            response = http.client.HTTPResponse(connection)
            response.begin()
            assert response.status == 400


def test_too_many_requests_of_a_token_or_an_address_are_429(tmp_path):
    with running(write_policy(tmp_path), limits=Limits(token_per_s=2)) as town:
        statuses = [town.send("GET", "/api/me").status for _ in range(10)]
        assert statuses[:4] == [200] * 4
        assert 429 in statuses
        assert town.send("GET", "/api/me", who="bob").status == 200
        time.sleep(0.6)
        assert town.send("GET", "/api/me").status == 200
    with running(write_policy(tmp_path / "b"), limits=Limits(address_per_s=2)) as town:
        assert 429 in [town.send("GET", "/api/me", who=None).status for _ in range(10)]


def test_a_stopping_server_finishes_what_is_under_way(tmp_path):
    import threading

    replies = []
    with running(write_policy(tmp_path, deadline_s=1.0)) as town:
        town.service.open_all()
        asking = threading.Thread(
            target=lambda: replies.append(town.ask("SELECT COUNT(*) AS n FROM town", epsilon=1))
        )
        asking.start()
        time.sleep(0.4)
    asking.join()
    assert replies[0].status == 200
