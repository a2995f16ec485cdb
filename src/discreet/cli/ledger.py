"""discreet ledger: check a ledger, write it out, raise its budget."""

import json as json_module
import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from discreet.errors import InvalidParameter

app = App(name="ledger", help="Check a ledger, write it out, raise its budget.")

Flag = Annotated[bool, Parameter(negative="")]


@app.command
def verify(ledger: Path, *, anchor: Path | None = None, key: Path | None = None, json: Flag = False) -> None:
    """Recompute every hash and every total from the entries.

    Example: discreet ledger verify bank.ledger --anchor /mnt/elsewhere/bank.head

    Parameters
    ----------
    ledger
        The ledger's file, or the data or policy file that it lies beside.
    anchor
        The file that remembers the ledger's last head: finds a ledger that was set back or copied.
    key
        A file with the key that the ledger is sealed with.
    json
        Print JSON.
    """
    with _open(ledger, anchor, key) as opened:
        found = opened.verify()
    if json:
        print(json_module.dumps(vars(found)))
        return
    print(f"{found.entries} entries, {found.charges} charges, {found.answers} answers: all sound.")
    print("The anchor agrees." if anchor else "Without an anchor, a file set back to an old one is not seen.")
    print(f"head {found.head}")


@app.command
def export(ledger: Path, *, output: Path | None = None) -> None:
    """Write every entry as one line of JSON; the chain can be checked from these lines alone.

    Example: discreet ledger export bank.ledger --output bank.jsonl

    Parameters
    ----------
    ledger
        The ledger's file, or the data or policy file that it lies beside.
    output
        The file to write; standard output without it.
    """
    with _open(ledger, None, None) as opened:
        lines = "".join(f"{line}\n" for line in opened.export())
    if output is None:
        sys.stdout.write(lines)
    else:
        output.write_text(lines, encoding="utf-8")


@app.command(name="raise")
def raise_budget(
    ledger: Path,
    *,
    reason: str,
    dataset: str | None = None,
    epsilon: float | None = None,
    delta: float = 0.0,
    rho: float | None = None,
    mu: float | None = None,
    anchor: Path | None = None,
    key: Path | None = None,
) -> None:
    """Allow more: an owner's entry in the chain. What was spent stays spent.

    Example: discreet ledger raise bank.ledger --epsilon 2 --delta 1e-6 --reason "the second survey"

    Parameters
    ----------
    ledger
        The ledger's file, or the data or policy file that it lies beside.
    reason
        Why; kept for ever.
    dataset
        The data set; needed where the ledger holds several.
    epsilon
        The new epsilon, of a pure or approximate budget.
    delta
        The new delta.
    rho
        The new rho, of a zCDP budget.
    mu
        The new mu, of a Gaussian budget.
    anchor
        The file that remembers the ledger's last head.
    key
        A file with the key that the ledger is sealed with.
    """
    from discreet.losses import GDP, ZCDP, ApproxDP, PureDP

    given = [name for name, value in (("epsilon", epsilon), ("rho", rho), ("mu", mu)) if value is not None]
    if len(given) != 1:
        raise InvalidParameter("exactly one of --epsilon, --rho and --mu must be given.", parameter="budget")
    with _open(ledger, anchor, key) as opened:
        name = opened.the_dataset(dataset)
        budget: Any
        if epsilon is not None:
            is_pure = isinstance(opened.balance(name).budget, PureDP) and delta == 0
            budget = PureDP(epsilon) if is_pure else ApproxDP(epsilon, delta)
        else:
            budget = ZCDP(rho, delta) if rho is not None else GDP(mu or 0)
        opened.raise_budget(name, budget, reason=reason)
    print(f"the budget of data set '{name}' is raised.")


def _open(ledger: Path, anchor: Path | None, key: Path | None) -> Any:
    from discreet.ledger import FileAnchor, LedgerFile, ledger_beside

    secret = None if key is None else key.read_bytes()
    anchors = () if anchor is None else (FileAnchor(anchor),)
    return LedgerFile(ledger_beside(ledger), anchors=anchors, key=secret)
