"""discreet ledger: check a ledger, write it out, raise its budget, reserve shares, release the ration."""

import json as json_module
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cyclopts import App, Parameter

from discreet.apps.cli.shared import Flag, read_number
from discreet.errors import InvalidParameter

app = App(name="ledger", help="Check a ledger, write it out, raise its budget, reserve shares of it.")


@Parameter(name="*")
@dataclass(frozen=True)
class Kept:
    """Protection against restoring or rewriting a ledger; a policy may state it too."""

    anchor: Path | None = None
    "The file that remembers the ledger's last head: it reveals a restored or copied ledger."
    key: Path | None = None
    "A file with the key that the ledger is sealed with."


@Parameter(name="*")
@dataclass(frozen=True)
class Allowed:
    """A budget given on the command line, in the measure of the data set's own."""

    dataset: str | None = None
    "The data set; needed where the ledger holds several."
    epsilon: str | None = None
    "Epsilon, of a pure or approximate budget."
    delta: str = "0"
    "Delta, in addition to epsilon or rho."
    rho: str | None = None
    "Rho, of a zCDP budget."
    mu: str | None = None
    "Mu, of a Gaussian budget."


_KEPT, _ALLOWED = Kept(), Allowed()


@app.command
def verify(ledger: str, *, kept: Kept = _KEPT, json: Flag = False) -> None:
    """Recompute every hash and every total from the entries.

    Example: discreet ledger verify bank.ledger --anchor /mnt/elsewhere/bank.head

    Parameters
    ----------
    ledger
        The ledger's file or address, or the data or policy file that it belongs to.
    json
        Print JSON.
    """
    with _open(ledger, kept) as opened:
        found, is_anchored = opened.verify(), opened.is_anchored
    if json:
        print(json_module.dumps(vars(found)))
        return
    print(f"{found.entries} entries, {found.charges} charges, {found.answers} answers: all valid.")
    print(
        "The anchor agrees."
        if is_anchored
        else "Without an anchor, an older copy of the ledger would not be noticed."
    )
    print(f"head {found.head}")


@app.command
def export(ledger: str, *, output: Path | None = None, json: Flag = False) -> None:
    """Write every entry as one line of JSON; the chain can be checked from these lines alone.

    Example: discreet ledger export bank.ledger --output bank.jsonl

    Parameters
    ----------
    ledger
        The ledger's file or address, or the data or policy file that it belongs to.
    output
        The file to write; standard output without it.
    json
        Print one JSON list instead of lines.
    """
    with _open(ledger, _KEPT) as opened:
        entries = list(opened.export())
    text = f"[{', '.join(entries)}]\n" if json else "".join(f"{line}\n" for line in entries)
    if output is None:
        sys.stdout.write(text)
    else:
        output.write_text(text, encoding="utf-8")


@app.command(name="raise")
def raise_budget(
    ledger: str, *, reason: str, allowed: Allowed = _ALLOWED, kept: Kept = _KEPT, json: Flag = False
) -> None:
    """Raise the budget: an owner's entry in the chain. What was spent stays spent.

    Example: discreet ledger raise bank.ledger --epsilon 2 --delta 1e-6 --reason "the second survey"

    Parameters
    ----------
    ledger
        The ledger's file or address, or the data or policy file that it belongs to.
    reason
        Why; kept for ever.
    json
        Print JSON: the account after the change.
    """
    with _open(ledger, kept) as opened:
        name = opened.the_dataset(allowed.dataset)
        opened.raise_budget(name, _budget(opened, name, allowed), reason=reason)
        _say(opened, name, f"the budget of data set '{name}' is raised.", json=json)


@app.command
def reserve(
    ledger: str,
    analyst: str,
    *,
    reason: str,
    allowed: Allowed = _ALLOWED,
    kept: Kept = _KEPT,
    json: Flag = False,
) -> None:
    """Reserve a share of the budget for one analyst, who can spend nothing else; others cannot spend it.

    Example: discreet ledger reserve bank.ledger alice --epsilon 0.3 --reason "her thesis"

    Parameters
    ----------
    ledger
        The ledger's file or address, or the data or policy file that it belongs to.
    analyst
        Whose share it is. Reserving again changes the share.
    reason
        Why; kept for ever.
    json
        Print JSON: the share after the change.
    """
    with _open(ledger, kept) as opened:
        name = opened.the_dataset(allowed.dataset)
        opened.reserve(name, analyst, _budget(opened, name, allowed), reason=reason)
        _say(opened, f"{name}/share/{analyst}", f"a share of data set '{name}' is reserved.", json=json)


@app.command
def release(
    ledger: str,
    *,
    reason: str,
    analyst: str | None = None,
    dataset: str | None = None,
    kept: Kept = _KEPT,
    json: Flag = False,
) -> None:
    """Reset the count of failed questions, so that analysts may ask again. An entry in the chain.

    Example: discreet ledger release bank.ledger --reason "a broken disk" --analyst alice

    Parameters
    ----------
    ledger
        The ledger's file or address, or the data or policy file that it belongs to.
    reason
        Why; kept for ever.
    analyst
        Whose failures are reset; by default everyone's.
    dataset
        The data set; needed where the ledger holds several.
    json
        Print JSON: how many failures there were.
    """
    with _open(ledger, kept) as opened:
        name = opened.the_dataset(dataset)
        released = opened.release_failures(name, reason=reason, analyst=analyst)
    said = f"{released} failures of data set '{name}' are no longer counted."
    print(json_module.dumps({"dataset": name, "released": released}) if json else said)


def _budget(opened: Any, dataset: str, allowed: Allowed) -> Any:
    """Return the budget as a value of the data set's own class."""
    from discreet.kernel.losses import make_notion

    given = [name for name in ("epsilon", "rho", "mu") if getattr(allowed, name) is not None]
    if len(given) != 1:
        raise InvalidParameter("exactly one of --epsilon, --rho and --mu must be given.", parameter="budget")
    numbers = {name: read_number(getattr(allowed, name), name=name) for name in (*given, "delta")}
    own = opened.balance(dataset).budget.numbers()
    if numbers["delta"] == 0 and "delta" not in own:
        del numbers["delta"]
    return make_notion(numbers)


def _say(opened: Any, account: str, text: str, *, json: bool) -> None:
    print(json_module.dumps(opened.balance(account).to_json()) if json else text)


def _open(ledger: str, kept: Kept) -> Any:
    from discreet.asking.resources import open_ledger_file, read_key
    from discreet.kernel.ledger import FileAnchor

    secret = None if kept.key is None else read_key(kept.key)
    anchors = () if kept.anchor is None else (FileAnchor(kept.anchor),)
    return open_ledger_file(ledger, anchors=anchors, key=secret)
