"""What the owner of a data set may say: entries of the chain, like everything else.

Tested by: tests/ledger/test_amending.py
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from typing import Any

from discreet.errors import BudgetExceeded, InvalidParameter, LedgerConflict, PolicyViolation
from discreet.kernel.accounting import (
    Budget,
    Rule,
    Total,
    describe,
    raised_rule,
    read_notion,
    rule_for,
)
from discreet.kernel.ledger.charging import append, now, open_account, rule_of
from discreet.kernel.ledger.declaration import Declaration, rest_of
from discreet.kernel.ledger.entry import Entry, canonical
from discreet.kernel.ledger.request import check_reason
from discreet.kernel.ledger.store import AccountRow, Transaction
from discreet.kernel.losses import PrivacyLoss
from discreet.kernel.numerics import exact_whole


def totals_for_groups(
    entries: Iterable[Entry], dataset: str, accounts: Mapping[str, AccountRow], size: int
) -> dict[str, Total]:
    """Return the totals of a data set's accounts, had every charge so far been one on groups of this size.

    Charges before an earlier such change already count for its groups, and now for groups of those.
    """
    paid: list[tuple[dict[str, Any], int]] = []
    for entry in entries:
        facts = entry.facts
        if facts.get("dataset") != dataset:
            continue
        if facts["kind"] in ("charge", "read"):
            paid.append((facts, 1))
        elif "group_size" in facts:
            paid = [(each, people * facts["group_size"]) for each, people in paid]
    totals = dict.fromkeys(accounts, Total())
    for facts, people in paid:
        for name in facts["costs"]:
            cost = _cost(rule_of(accounts[name].terms), facts, people * size)
            totals[name] = totals[name].plus(cost)
    return totals


def _cost(rule: Rule[Any], facts: Mapping[str, Any], people: int) -> Total:
    """Return what one charge costs an account, if it was about so many people together."""
    stated = facts["price"] or facts["loss"]
    if "notion" in stated:
        promise = read_notion(stated).for_group(people)
        cost = None if promise is None else rule.cost_of_promise(promise)
    else:
        cost = rule.cost_of_loss(PrivacyLoss.from_json(stated).for_group(people))
    if cost is None:
        raise InvalidParameter(
            "what was spent must have a price for groups under the account's rule, and a charge has none. "
            "Open a new ledger for the new unit, on data that the old one never answered.",
            parameter="group_size",
        )
    return cost


def declared(transaction: Transaction, dataset: str) -> Declaration:
    """Return what the ledger holds of a data set."""
    text = transaction.dataset(dataset)
    if text is None:
        known = ", ".join(transaction.datasets()) or "none"
        raise LedgerConflict(f"data set '{dataset}' must be one of the ledger's own ({known}).")
    return Declaration.from_json(text)


def register(transaction: Transaction, declaration: Declaration, other_people: str | None) -> None:
    """Enter a data set at its first opening; at any other, hold the opening to what the ledger knows."""
    text = transaction.dataset(declaration.dataset)
    if text is None:
        _enter(transaction, declaration, other_people)
        return
    known = Declaration.from_json(text)
    declaration.check_same(known)
    _check_other_people(transaction, declaration, other_people, known=known)
    relabelled = known.with_labels_of(declaration)
    if relabelled != known:
        _record(transaction, known, relabelled, reason="opened with other labels")


def _check_other_people(
    transaction: Transaction,
    declaration: Declaration,
    other_people: str | None,
    *,
    known: Declaration | None = None,
) -> None:
    """Refuse columns that another data set has, unless the owner said of the two that their people differ."""
    every = [Declaration.from_json(text) for text in transaction.datasets().values()]
    others = [each for each in every if each.dataset != declaration.dataset]
    alike = [each for each in others if each.is_like(declaration)]
    if known is not None:
        alike = [each for each in alike if not each.is_like(known)]
    if alike and not other_people:
        raise PolicyViolation(
            f"data set '{declaration.dataset}' has the columns of '{alike[0].dataset}', and would have a "
            "second budget for the same people. If they are other people, say so: other_people='<why>'.",
            dataset=declaration.dataset,
        )


def _enter(transaction: Transaction, declaration: Declaration, other_people: str | None) -> None:
    _check_other_people(transaction, declaration, other_people)
    facts = {"kind": "dataset", "dataset": declaration.dataset, "declaration": declaration.facts}
    append(transaction, {**facts, "other_people": other_people, "time": now()})
    transaction.add_dataset(declaration.dataset, declaration.to_json())
    open_account(transaction, declaration.dataset, canonical(declaration.rule))


def _record(
    transaction: Transaction, before: Declaration, after: Declaration, *, reason: str, **more: object
) -> int:
    changed = {
        name: [old, getattr(after, name)]
        for name, old in asdict(before).items()
        if old != asdict(after)[name]
    }
    facts = {"kind": "owner", "dataset": before.dataset, "changed": changed, "reason": reason, "time": now()}
    entry = append(transaction, {**facts, **more})
    transaction.replace_dataset(before.dataset, before.to_json(), after.to_json())
    return entry.sequence


def raise_budget(transaction: Transaction, dataset: str, budget: Budget, reason: str) -> None:
    """Allow more: the rule and the spending so far stay."""
    before = declared(transaction, dataset)
    row = transaction.account(dataset)
    if row is None:
        raise LedgerConflict(f"data set '{dataset}' must have an account, and it has none.")
    rule = rule_of(row.terms)
    if type(budget) is not type(rule.budget):
        raise InvalidParameter(f"a budget must be raised in its own notion, {type(rule.budget).__name__}.")
    chosen = rule.name if rule.name == "advanced" else None
    limits = [rule_for(each, filter=chosen).limit for each in (budget, rule.budget)]
    if any(new < old for new, old in zip(*limits, strict=True)) or limits[0] == limits[1]:
        raise InvalidParameter("a budget may only be raised: no part may become smaller.", parameter="budget")
    raised, total = raised_rule(rule, budget, row.total)
    if not raised.limit.admits(total):
        raise BudgetExceeded(
            "a raised budget must hold what is spent and the slack of the budget before. Raise delta as well."
        )
    after = replace(before, rule=raised.to_json())
    sequence = _record(transaction, before, after, reason=check_reason(reason))
    terms = canonical(raised.to_json())
    new = replace(row, terms=terms, limit=raised.limit, total=total, sequence=sequence)
    transaction.move_account(row, new)
    if (rest := transaction.account(rest_of(dataset))) is not None:
        transaction.move_account(rest, replace(rest, terms=terms, limit=raised.limit, sequence=sequence))


def amend(
    transaction: Transaction,
    dataset: str,
    reason: str,
    *,
    unit: str | None,
    version: str | None,
    group_size: int | None,
) -> None:
    """Change who is protected, or the version label; what was spent is counted for the new units."""
    before = declared(transaction, dataset)
    after = replace(before, unit=before.unit if unit is None else unit)
    after = replace(after, version=before.version if version is None else version)
    if after == before:
        raise InvalidParameter("an amendment must change something.")
    if (after.unit == before.unit) != (group_size is None):
        raise InvalidParameter(
            "a change of who is protected must say how many of the old units one new unit may hold: "
            "group_size=1 where it holds one, as when a column was renamed.",
            parameter="group_size",
        )
    more: dict[str, object] = {}
    moved = {} if group_size is None else _count_for_groups(transaction, dataset, group_size)
    if group_size is not None:
        totals = {name: total.to_json() for name, (_, total) in moved.items()}
        more = {"group_size": group_size, "totals": totals}
    sequence = _record(transaction, before, after, reason=check_reason(reason), **more)
    for row, total in moved.values():
        transaction.move_account(row, replace(row, total=total, sequence=sequence))


def _count_for_groups(
    transaction: Transaction, dataset: str, group_size: int
) -> dict[str, tuple[AccountRow, Total]]:
    """Return every account of the data set with its total for groups of this size; refused where it does not
    fit.
    """
    size = exact_whole(group_size, name="group_size", least=1)
    accounts = {row.name: row for row in transaction.accounts() if row.name.partition("/")[0] == dataset}
    if size == 1:
        return {}
    if rest_of(dataset) in accounts or "carried" in declared(transaction, dataset).rule:
        raise InvalidParameter(
            "who is protected must be changed before shares are reserved or an advanced budget is raised.",
            parameter="group_size",
        )
    totals = totals_for_groups(transaction.entries(), dataset, accounts, size)
    for name, row in accounts.items():
        if not row.limit.admits(totals[name]):
            raise BudgetExceeded(
                f"what was spent must fit account '{name}' when it is counted for groups of {size}: "
                f"{describe(rule_of(row.terms).spent(totals[name]))}. Raise the budget first."
            )
    return {name: (row, totals[name]) for name, row in accounts.items()}
