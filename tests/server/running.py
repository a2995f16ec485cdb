"""A real server in this process, on a free port, over a small table of known people."""

import asyncio
import contextlib
import http.client
import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import MethodType
from typing import Any

import uvicorn

from discreet.apps.postgres import PostgresServer
from discreet.apps.server import Service, make_app
from discreet.apps.server.deadlines import FixedTimeExecutor
from discreet.apps.server.journal import Journal
from discreet.apps.server.limits import Limits

UNHURRIED = Limits(token_per_s=1e6, address_per_s=1e6)  # for tests that send as fast as they can
PATIENCE_S = 600.0  # with an engine, on a machine that others use
CITIES = ("Ottawa", "Toronto")
POLICY = """
[dataset]
id = "town"
budget = {{ epsilon = {epsilon}, delta = 1e-6 }}
{dataset}
[server]
deadline_s = {deadline_s}
{server}
[tables.town]
source = "town.csv"
unit = "person"
max_groups = 2
[tables.town.columns]
person = {{ type = "integer" }}
debt = {{ type = "number", bounds = [0, 1000] }}
city = {{ type = "text", keys = ["Ottawa", "Toronto"] }}
shop = {{ type = "text" }}
"""


def write_policy(
    folder: Path,
    *,
    people: int = 400,
    without: int | None = None,
    epsilon: float = 100,
    deadline_s: float = 1,
    dataset: str = "",
    server: str = "",
) -> Path:
    """A policy and its data: people 0, 1, ..., perhaps without one of them."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [f"{i},{(i * 37) % 1000},{CITIES[i % 2]},shop{i % 3}" for i in range(people) if i != without]
    (folder / "town.csv").write_text("\n".join(["person,debt,city,shop", *rows]) + "\n")
    policy = folder / "town.toml"
    policy.write_text(POLICY.format(epsilon=epsilon, deadline_s=deadline_s, dataset=dataset, server=server))
    return policy


@dataclass
class Reply:
    """What came back."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        return self.json["error"]["code"]


class Running:
    """A served service, with tokens of an owner and of two analysts."""

    def __init__(
        self, service: Service, port: int, folder: Path | None, *, postgres: PostgresServer | None = None
    ) -> None:
        self.service, self.port, self.url, self.folder = service, port, f"http://127.0.0.1:{port}", folder
        self.postgres = postgres
        self.tokens = {
            name: service.people.add(name, "owner" if name == "olga" else "analyst")
            for name in ("olga", "ann", "bob")
            if service.people.find(name) is None  # a folder may know them from before
        }

    def send(
        self, method: str, path: str, *, who: str | None = "ann", body: Any = None, **headers: str
    ) -> Reply:
        """One request; a body that is no bytes is written as JSON."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if who is not None:
            sent["authorization"] = f"Bearer {self.tokens.get(who, who)}"
        try:
            content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
            connection.request(method, path, body=content, headers=sent)
            response = connection.getresponse()
            return Reply(response.status, response.getheaders(), response.read())
        finally:
            connection.close()

    def ask(
        self, sql: Any, *, who: str = "ann", path: str = "ask", key: str | None = None, **terms: Any
    ) -> Reply:
        headers = {"idempotency_key": key} if key else {}
        return self.send("POST", f"/api/datasets/town/{path}", who=who, body={"sql": sql, **terms}, **headers)

    def spent(self) -> Any:
        return self.service.datasets["town"]._curator.ledger.spent


@contextlib.contextmanager
def running(
    policy: Path | None,
    *,
    limits: Limits | None = None,
    journal: Path | None = None,
    tls: Any = None,
    folder: Path | None = None,
) -> Iterator[Running]:
    """Serve a policy, or a folder where owners open data sets, while the block runs."""
    policies, log = [policy] if policy else [], Journal(journal) if journal else None
    service = Service.open(policies, limits=limits, journal=log, folder=folder)
    listening, second = (socket.create_server(("127.0.0.1", 0)) for _ in range(2))
    postgres = PostgresServer(service, second, tls=tls)
    app = make_app(service, also=postgres)
    config = uvicorn.Config(app, log_config=None, access_log=False, server_header=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listening])), daemon=True)
    thread.start()
    try:
        kept = policy.parent if policy else folder
        yield Running(service, listening.getsockname()[1], kept, postgres=postgres)
    finally:
        server.should_exit = True
        thread.join(30)
        listening.close()


@contextlib.contextmanager
def promptly(
    policy: Path, *, limits: Limits = UNHURRIED, journal: Path | None = None, tls: Any = None
) -> Iterator[Running]:
    """The same for tests that are not about time: what touched data leaves when it is ready.

    They are as fast as the machine is, and on a slow one nothing is ever late.
    """
    with running(policy, limits=limits, journal=journal, tls=tls) as served, prompt(served):
        for dataset in served.service.datasets.values():
            dataset._curator.resources.timeout_s = PATIENCE_S
            dataset.open()
        yield served


@contextlib.contextmanager
def prompt(served: Running) -> Iterator[None]:
    """A executor that waits for its work and not for the clock, while the block runs."""
    executor = served.service.executor
    executor._when_due = MethodType(when_ready, executor)  # type: ignore[method-assign]
    yield
    del executor._when_due


async def when_ready(_: FixedTimeExecutor, running: Any, __: float) -> Any:
    return await asyncio.wrap_future(running)
