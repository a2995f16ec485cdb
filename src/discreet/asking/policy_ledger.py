"""The ledger of a policy: what the owner declares there is what the ledger keeps."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from discreet.asking.planning import as_notion, budget_of
from discreet.asking.policy import Commands, LedgerPlace, Policy, Table, ledger_of_policy, sibling_path
from discreet.errors import InvalidParameter
from discreet.kernel.accounting import Budget
from discreet.kernel.ledger import (
    Anchor,
    CommandAnchor,
    Declaration,
    FileAnchor,
    Ledger,
    LedgerFile,
    read_declaration,
)

DATA = (".csv", ".tsv", ".parquet", ".json", ".toml")  # what no ledger is called


def open_ledger(
    policy: Policy, place: str | Path, *, known: Policy | None = None, other_people: str | None = None
) -> Ledger:
    """Open or make the ledger of a policy's data set; what it knows of the data set must agree.

    `known` is the policy with the data's own columns, where they are in reach.
    """
    elsewhere, schema = kept_elsewhere(policy.ledger), _schema(known)
    return Ledger.open(place, **_declared(policy), schema=schema, other_people=other_people, **elsewhere)


def _schema(known: Policy | None) -> list[str]:
    """Return the columns of each private table, by which a copy under another name is known; no name of a
    file.
    """
    tables = () if known is None else known.tables
    return [json.dumps(sorted(column.name.lower() for column in table.columns)) for table in tables]


def check_known(policy: Policy, place: str | Path) -> None:
    """Refuse a policy that contradicts a ledger on disk, which is only read."""
    known = read_declaration(place, policy.id)
    if known is not None:
        Declaration.of(**_declared(policy), schema="").check_same(known)


def _declared(policy: Policy) -> dict[str, Any]:
    return {
        "dataset": policy.id,
        "budget": budget_of(policy),
        "filter": policy.filter,
        "relation": policy.relation,
        "unit": "; ".join(f"{table.name}: {table.unit}" for table in policy.tables),
        "limits": {each.name: _limits_of(each) for each in policy.tables},
        "version": policy.version,
        "per_analyst": _part(policy, policy.per_analyst),
        "per_question": _part(policy, policy.per_question),
        "answers": "shared" if policy.share_answers else "own",
        "ration": policy.ration,
    }


def _limits_of(table: Table) -> str:
    stated = f"{table.max_groups} groups, {table.max_rows} rows"
    return stated if table.limit is None else f"{stated}, limit {table.limit}"


def kept_elsewhere(ledger: LedgerPlace) -> dict[str, Any]:
    """Return the anchors and the key that a policy names, as `Ledger.open` takes them."""
    return {"anchors": _anchors(ledger.anchor), "key": ledger.key_file and read_key(ledger.key_file)}


def read_key(path: str | Path) -> bytes:
    """Return the key in a file, byte for byte."""
    try:
        return Path(path).read_bytes()
    except OSError:
        raise InvalidParameter("key_file must be a file that can be read.", parameter="key_file") from None


def _anchors(anchor: str | Commands | None) -> tuple[Anchor, ...]:
    if anchor is None:
        return ()
    if isinstance(anchor, Commands):
        return (CommandAnchor(publish=anchor.publish, latest=anchor.latest),)
    return (FileAnchor(anchor),)


def _part(policy: Policy, budget: Any) -> Budget | None:
    return None if budget is None else as_notion(budget, policy.relation)


def find_ledger(path: str | Path) -> LedgerPlace:
    """Return the ledger that a path names: itself, the one next to a data file, or the one that a policy
    states.
    """
    if "://" in str(path) or Path(path).suffix not in DATA:
        return LedgerPlace(place=str(path))
    if Path(path).suffix == ".toml":
        return ledger_of_policy(path)
    return LedgerPlace(place=str(sibling_path(path)))


def open_ledger_file(
    path: str | Path, *, anchors: Sequence[Anchor] = (), key: bytes | None = None
) -> LedgerFile:
    """Open the ledger that a path names (`find_ledger`), with the anchor and key that its policy states."""
    ledger = find_ledger(path)
    stated = kept_elsewhere(ledger)
    return LedgerFile(
        str(ledger.place), anchors=(*stated["anchors"], *anchors), key=stated["key"] if key is None else key
    )
