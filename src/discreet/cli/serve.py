"""discreet serve: REST and pages over data sets, for people with tokens."""

import json as json_module
import signal
import socket
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from discreet.cli.listening import check_installed, listen
from discreet.cli.people import app as people_app
from discreet.errors import InvalidParameter

if TYPE_CHECKING:
    from discreet.server import Service

app = App(help="Serve data sets to people with tokens: REST and pages, in one process.")
app.command(people_app, name="people")


@app.default
def serve(
    *policies: Path,
    demo: Annotated[bool, Parameter(negative="")] = False,
    host: str = "127.0.0.1",
    port: int = 8000,
    people: str | None = None,
    journal: Path | None = None,
    trust_proxy: str | None = None,
    at_once: int = 8,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Serve data sets, until stopped.

    Example: discreet serve bank.toml --port 8000

    Put a proxy with TLS in front of it before strangers may reach it. Several processes serve one service if
    their policies name one PostgreSQL ledger.

    Parameters
    ----------
    policies
        The policies of the data sets.
    demo
        Serve an invented table instead, with an owner's and an analyst's token, until stopped.
    host
        The address to listen on.
    port
        The port to listen on; 0 takes a free one.
    people
        Where people and tokens are kept: a file, or a PostgreSQL address; beside the ledger unless given.
    journal
        Append a JSON line for each request to this file; to standard error unless given.
    at_once
        How many questions may be under way, each in a process of its own; as many as can be answered within
        the deadline together.
    trust_proxy
        The address of the proxy whose X-Forwarded-For is believed.
    json
        Print the address, and the demo's tokens, as JSON.
    """
    check_installed("serve")
    if demo == bool(policies):
        raise InvalidParameter("serve must be given policies or --demo, and not both.", parameter="policies")
    with ExitStack() as stack:
        tokens: dict[str, str] = {}
        if demo:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="discreet-demo-"))
            service, tokens = open_demo_service(Path(folder), journal, at_once=at_once)
        else:
            service = _open(policies, people, journal, at_once)
        service.open_all()
        listening = stack.enter_context(listen(host, port))
        _announce(service, f"http://{_shown(host)}:{listening.getsockname()[1]}", tokens, as_json=json)
        _run(service, listening, trust_proxy)


def open_demo_service(
    folder: Path, journal: Path | None = None, *, at_once: int = 8
) -> "tuple[Service, dict[str, str]]":
    """The demo's service in a folder, and tokens for its owner and its analyst."""
    import discreet
    from discreet.curator import Curator
    from discreet.server import Service
    from discreet.server.journal import Journal
    from discreet.server.limits import Limits
    from discreet.server.records import SqliteRecords

    policy = Path(discreet.__file__).parent / "demo" / "demo.toml"
    curator = Curator.from_policy(policy, ledger=folder / "demo.ledger")
    service = Service(
        [curator],
        SqliteRecords(folder / "demo.people"),
        limits=Limits(runners=at_once),
        journal=Journal(journal or folder / "journal.jsonl"),
    )
    return service, {role: service.people.add(f"demo-{role}", role) for role in ("owner", "analyst")}


def _open(policies: tuple[Path, ...], people: str | None, journal: Path | None, at_once: int) -> "Service":
    from discreet.server import Service
    from discreet.server.journal import Journal
    from discreet.server.limits import Limits

    return Service.open(
        policies, people=people, limits=Limits(runners=at_once), journal=Journal(journal or sys.stderr)
    )


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _announce(service: "Service", address: str, tokens: dict[str, str], *, as_json: bool) -> None:
    names = list(service.datasets)
    if as_json:
        print(json_module.dumps({"address": address, "datasets": names, "tokens": tokens}), flush=True)
        return
    print(f"discreet serves {', '.join(names)} at {address}")
    for role, token in tokens.items():
        print(f"  token of the demo's {role}, shown once: {token}")
    if not tokens and not service.people.everyone():
        print("  nobody may come in yet: discreet serve people add NAME --role owner --policy POLICY")
    sys.stdout.flush()


def _run(service: "Service", listening: socket.socket, trust_proxy: str | None) -> None:
    import uvicorn

    from discreet.server import make_app

    # The server stops gracefully and then raises the signal anew: folders are still to be removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))

    config = uvicorn.Config(
        make_app(service),
        log_config=None,
        access_log=False,  # paths and addresses belong in the journal, without secrets
        server_header=False,
        proxy_headers=trust_proxy is not None,
        forwarded_allow_ips=trust_proxy or "",
        timeout_graceful_shutdown=int(service.limits.stop_s),
        timeout_keep_alive=15,
    )
    uvicorn.Server(config).run(sockets=[listening])
