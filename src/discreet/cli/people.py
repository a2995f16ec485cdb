"""discreet serve people: who may come in."""

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter

from discreet.errors import InvalidParameter

if TYPE_CHECKING:
    from discreet.server import People

app = App(help="Say who may come in: add people, give tokens, revoke them.")

Place = Annotated[str | None, Parameter(name="--people", help="Where people are kept.")]
Beside = Annotated[
    Path | None, Parameter(name="--policy", help="The policy beside whose ledger they are kept.")
]
AsJson = Annotated[bool, Parameter(name="--json", negative="", help="Print JSON.")]


@app.command
def add(
    name: str,
    *,
    role: Literal["owner", "analyst"] = "analyst",
    days: int = 90,
    people: Place = None,
    policy: Beside = None,
    json: AsJson = False,
) -> None:
    """Add a person and print their token, this once.

    Example: discreet serve people add ann --role analyst --policy bank.toml
    """
    token = _open(people, policy).add(name, role, days=days)
    print(json_module.dumps({"name": name, "token": token}) if json else token)


@app.command
def token(
    name: str, *, days: int = 90, people: Place = None, policy: Beside = None, json: AsJson = False
) -> None:
    """Give a known person another token, and print it, this once.

    Example: discreet serve people token ann --policy bank.toml
    """
    given = _open(people, policy).new_token(name, days=days)
    print(json_module.dumps({"name": name, "token": given}) if json else given)


@app.command
def revoke(name: str, *, people: Place = None, policy: Beside = None, json: AsJson = False) -> None:
    """End all tokens of a person, at once and for every running server.

    Example: discreet serve people revoke ann --policy bank.toml
    """
    ended = _open(people, policy).revoke(name)
    print(json_module.dumps({"name": name, "revoked": ended}) if json else f"{ended} tokens of {name} ended")


@app.command(name="list")
def list_everyone(*, people: Place = None, policy: Beside = None, json: AsJson = False) -> None:
    """List people, their roles and how many tokens they have that were not revoked.

    Example: discreet serve people list --policy bank.toml
    """
    known = _open(people, policy)
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


def _open(people: str | None, policy: Path | None) -> "People":
    from discreet.server.people import People
    from discreet.server.records import open_records
    from discreet.server.service import people_beside

    if (people is None) == (policy is None):
        raise InvalidParameter("people must be found by exactly one of --people and --policy.")
    return People(open_records(people or people_beside(str(policy))))
