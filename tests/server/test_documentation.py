"""The documentation is served under /docs, by a policy without exceptions, built by another process once."""

import re

import pytest
from fastapi.testclient import TestClient

from discreet.apps.server import documentation
from discreet.apps.server.lab import make_lab

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def client():
    with TestClient(make_lab()) as client:
        yield client


def test_the_site_is_served_from_its_start(client):
    assert client.get("/docs").url.path == "/docs/index.html"
    assert client.get("/theory").url.path == "/docs/theory/index.html"
    found = client.get("/docs/theory/losses.html")
    assert found.status_code == 200
    assert found.headers["content-type"] == "text/html; charset=utf-8"
    assert "unsafe" not in found.headers["content-security-policy"]
    for kind, place in re.findall(r'<(link|script)[^>]*?(?:href|src)="\.\./([^"]+)"', found.text):
        assert client.get(f"/docs/{place}").status_code == 200, kind


@pytest.mark.parametrize("path", ["none.html", "..%2fpyproject.toml", "../secret", "theory/", "%00"])
def test_what_is_not_on_it_is_not_found(client, path):
    assert client.get(f"/docs/{path}").status_code == 404


def test_it_is_built_once_and_a_builder_that_fails_is_one_constant_error(monkeypatch):
    runs = []

    async def failing():
        runs.append(1)
        raise documentation.broken()

    monkeypatch.setattr(documentation, "run_builder", failing)
    with TestClient(make_lab()) as client:
        reply = client.get("/docs/index.html")
    assert reply.status_code == 500
    assert reply.json()["error"]["code"] == "internal"
    assert len(runs) == 1
