"""discreet serve: a REST API and web pages over data sets, and the users who may ask."""

import json as json_module
import signal
import socket
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter

from discreet.apps.cli.shared import Flag, check_installed, listen
from discreet.errors import InvalidParameter

if TYPE_CHECKING:
    from discreet.apps.postgres import PostgresServer
    from discreet.apps.server import People, Service


app = App(help="Serve data sets to users with tokens: a REST API and web pages, in one process.")
people_app = App(help="Manage users: add them, create tokens, revoke tokens.")
app.command(people_app, name="people")

Place = Annotated[str | None, Parameter(name="--people", help="The file or address where users are stored.")]
PolicyFile = Annotated[
    Path | None, Parameter(name="--policy", help="The policy whose ledger they belong to.")
]
JsonFlag = Annotated[bool, Parameter(name="--json", negative="", help="Print JSON.")]


@app.default
def serve(
    *policies: Path,
    demo: Flag = False,
    folder: Path | None = None,
    host: str = "127.0.0.1",
    port: int = 8000,
    people: str | None = None,
    journal: Path | None = None,
    trust_proxy: str | None = None,
    postgres: int | None = None,
    tls_cert: Path | None = None,
    tls_key: Path | None = None,
    at_once: int = 8,
    json: Flag = False,
) -> None:
    """Serve data sets, until stopped.

    Example: discreet serve bank.toml --port 8000

    With --folder, owners open data sets in their browser: discreet serve --folder data

    Put a proxy with TLS in front of it before it can be reached from outside. Several processes can serve the
    same data sets if their policies name one PostgreSQL ledger.

    Parameters
    ----------
    policies
        The policies of the data sets.
    demo
        Serve an invented table instead, with a token for an owner and one for an analyst.
    folder
        A folder, made if it is not there, where owners open data sets in their browser: it keeps the files
        that they send, a policy for each data set, one ledger and the users. Its data sets are served too.
    host
        The address to listen on.
    port
        The port to listen on; 0 takes a free one.
    people
        Where users and tokens are stored: a file, or a PostgreSQL address; by default next to the ledger.
    journal
        Append a JSON line for each request to this file; by default to standard error.
    at_once
        How many questions may run at once, each in a process of its own; at most as many as the machine can
        answer within the deadline.
    postgres
        Also serve psql, drivers and BI tools on this port, by PostgreSQL's protocol; 0 takes a free one.
    tls_cert, tls_key
        The certificate and key, as PEM files, of the PostgreSQL port. Without them it listens on a loopback
        address only.
    trust_proxy
        The address of the proxy whose X-Forwarded-For header is trusted.
    json
        Print the address, and the demo's tokens, as JSON.
    """
    check_installed("serve")
    if demo == bool(policies or folder):
        raise InvalidParameter(
            "policies, a --folder where owners open data sets, or --demo alone must be given.",
            parameter="policies",
        )
    from discreet.apps.server import Service
    from discreet.apps.server.journal import Journal
    from discreet.apps.server.limits import Limits

    with ExitStack() as stack:
        tokens: dict[str, str] = {}
        if demo:
            place = stack.enter_context(tempfile.TemporaryDirectory(prefix="discreet-demo-"))
            service, tokens = open_demo_service(Path(place), journal, at_once=at_once)
        else:
            limits, log = Limits(runners=at_once), Journal(journal or sys.stderr)
            service = Service.open(policies, people=people, limits=limits, journal=log, folder=folder)
        opened = _open_postgres(service, host, postgres, (tls_cert, tls_key))
        second, where = None, None
        if opened is not None:
            second, where = opened[0], f"{_shown(host)}:{opened[0].port}"
            stack.enter_context(opened[1])
        service.open_all()
        listening = stack.enter_context(listen(host, port))
        address = f"http://{_shown(host)}:{listening.getsockname()[1]}"
        if folder is not None and not service.people.everyone():  # last: the token is shown once
            tokens["owner"] = service.people.add("owner", "owner")
        _announce(service, address, tokens, where, as_json=json)
        _run(service, listening, trust_proxy, second)


def _open_postgres(
    service: "Service", host: str, port: int | None, files: tuple[Path | None, Path | None]
) -> "tuple[PostgresServer, socket.socket] | None":
    """Listen for the PostgreSQL protocol if a port is given, on the command line or by a policy."""
    from discreet.apps.postgres import PostgresServer, open_tls

    if port is None:
        ports = (dataset.postgres_port for dataset in service.datasets.values())
        port = next((each for each in ports if each is not None), None)
    certificate, key = files
    if port is None:
        return None
    tls = None if certificate is None else open_tls(certificate, key)
    listening = listen(host, port)
    return PostgresServer(service, listening, tls=tls), listening


def open_demo_service(
    folder: Path, journal: Path | None = None, *, at_once: int = 8
) -> "tuple[Service, dict[str, str]]":
    """Open the demo's service in a folder; return it with tokens for its owner and its analyst."""
    import discreet
    from discreet.apps.server import Service
    from discreet.apps.server.journal import Journal
    from discreet.apps.server.limits import Limits
    from discreet.apps.server.records import SqliteRecords
    from discreet.asking.curator import Curator

    policy = Path(discreet.__file__).parent / "demo" / "demo.toml"
    curator = Curator.from_policy(policy, ledger=folder / "demo.ledger")
    service = Service(
        [curator],
        SqliteRecords(folder / "demo.people"),
        limits=Limits(runners=at_once),
        journal=Journal(journal or folder / "journal.jsonl"),
    )
    return service, {role: service.people.add(f"demo-{role}", role) for role in ("owner", "analyst")}


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _announce(
    service: "Service", address: str, tokens: dict[str, str], postgres: str | None, *, as_json: bool
) -> None:
    names = list(service.datasets)
    if as_json:
        facts = {"address": address, "datasets": names, "tokens": tokens, "postgres": postgres}
        print(json_module.dumps(facts), flush=True)
        return
    print(f"discreet serves {', '.join(names) or 'no data set yet'} at {address}")
    if postgres is not None:
        user = "demo-analyst" if "analyst" in tokens else "NAME"
        host, _, port = postgres.rpartition(":")
        place = f"host={host.strip('[]')} port={port} dbname={(names or ['NAME'])[0]} user={user}"
        print(f'  psql "{place}"  # the password is the token')
    for role, token in tokens.items():
        whose = "demo's " if "analyst" in tokens else ""
        print(f"  token of the {whose}{role}, shown once: {token}")
    if not tokens and not service.people.everyone():
        print(
            "  There are no users yet. Add one: discreet serve people add NAME --role owner --policy POLICY"
        )
    sys.stdout.flush()


def _run(
    service: "Service", listening: socket.socket, trust_proxy: str | None, postgres: "PostgresServer | None"
) -> None:
    import uvicorn

    from discreet.apps.server import make_app

    # The server stops gracefully and then raises the signal again; temporary folders are removed after it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))

    config = uvicorn.Config(
        make_app(service, also=postgres),
        log_config=None,
        access_log=False,  # paths and addresses belong in the journal, without secrets
        server_header=False,
        proxy_headers=trust_proxy is not None,
        forwarded_allow_ips=trust_proxy or "",
        timeout_graceful_shutdown=int(service.limits.stop_s),
        timeout_keep_alive=15,
    )
    uvicorn.Server(config).run(sockets=[listening])


@people_app.command
def add(
    name: str,
    *,
    role: Literal["owner", "analyst"] = "analyst",
    days: int = 90,
    people: Place = None,
    policy: PolicyFile = None,
    json: JsonFlag = False,
) -> None:
    """Add a user and print their token, which is shown only this once.

    Example: discreet serve people add ann --role analyst --policy bank.toml
    """
    token = _open_people(people, policy).add(name, role, days=days)
    print(json_module.dumps({"name": name, "token": token}) if json else token)


@people_app.command
def token(
    name: str, *, days: int = 90, people: Place = None, policy: PolicyFile = None, json: JsonFlag = False
) -> None:
    """Create another token for a user and print it, which is shown only this once.

    Example: discreet serve people token ann --policy bank.toml
    """
    created = _open_people(people, policy).new_token(name, days=days)
    print(json_module.dumps({"name": name, "token": created}) if json else created)


@people_app.command
def revoke(name: str, *, people: Place = None, policy: PolicyFile = None, json: JsonFlag = False) -> None:
    """Revoke all tokens of a user, at once and for every running server.

    Example: discreet serve people revoke ann --policy bank.toml
    """
    ended = _open_people(people, policy).revoke(name)
    print(
        json_module.dumps({"name": name, "revoked": ended}) if json else f"{ended} tokens of {name} revoked"
    )


@people_app.command(name="list")
def list_everyone(*, people: Place = None, policy: PolicyFile = None, json: JsonFlag = False) -> None:
    """List users, their roles, and how many tokens they have that are not revoked.

    Example: discreet serve people list --policy bank.toml
    """
    known = _open_people(people, policy)
    found = [
        {
            "name": each.name,
            "role": each.role,
            "tokens": sum(token.revoked is None for token in known.tokens(each.name)),
        }
        for each in known.everyone()
    ]
    if json:
        print(json_module.dumps(found))
    else:
        for facts in found:
            print("{name}  {role}  {tokens} tokens".format(**facts))


def _open_people(people: str | None, policy: Path | None) -> "People":
    from discreet.apps.server.people import People
    from discreet.apps.server.records import open_records
    from discreet.apps.server.service import people_of_policy

    if (people is None) == (policy is None):
        raise InvalidParameter("exactly one of --people and --policy must be given.")
    return People(open_records(people or people_of_policy(str(policy))))


# discreet lab: interactive pictures of the ideas of differential privacy, in a browser.

HOST, PORT = "127.0.0.1", 8765


def lab(
    *,
    port: int = PORT,
    browser: bool = True,
    json: Flag = False,
) -> None:
    """Open the lab: sliders for epsilon, delta, sensitivity and sizes, and the pictures that they change.

    It needs no data, no account and no network, and is reachable from this machine only.

    Example: discreet lab --no-browser --port 8765

    Parameters
    ----------
    port
        The port to listen on; 0 takes any free one.
    browser
        Open the lab in a browser.
    json
        Print the address as JSON.
    """
    import json as json_module
    import webbrowser

    check_installed("lab")
    import uvicorn

    from discreet.apps.server.lab import make_lab

    with listen(HOST, port) as listening:
        address = f"http://{HOST}:{listening.getsockname()[1]}/lab"
        print(json_module.dumps({"address": address}) if json else f"The lab is at {address}", flush=True)
        if browser:
            webbrowser.open(address)
        server = uvicorn.Server(uvicorn.Config(make_lab(), log_level="warning", access_log=False))
        server.run(sockets=[listening])
