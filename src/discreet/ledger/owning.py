"""What the owner of a data set may say: entries of the chain, like everything else."""

from dataclasses import asdict, replace

from discreet.accounting import Budget, rule_for
from discreet.errors import InvalidParameter, LedgerConflict, PolicyViolation
from discreet.ledger.charging import append, now, open_account, rule_of
from discreet.ledger.declaration import Declaration, rest_of
from discreet.ledger.entry import canonical
from discreet.ledger.request import check_reason
from discreet.ledger.store import Transaction


def declared(transaction: Transaction, dataset: str) -> Declaration:
    """What the ledger holds of a data set."""
    text = transaction.dataset(dataset)
    if text is None:
        known = ", ".join(transaction.datasets()) or "none"
        raise LedgerConflict(f"data set '{dataset}' must be one of the ledger's own ({known}).")
    return Declaration.from_json(text)


def register(transaction: Transaction, declaration: Declaration, other_people: str | None) -> None:
    """Enter a data set at its first opening; at any other, hold the opening to the ledger's own word."""
    text = transaction.dataset(declaration.dataset)
    if text is None:
        _enter(transaction, declaration, other_people)
        return
    known = Declaration.from_json(text)
    declaration.check_same(known)
    relabelled = known.with_labels_of(declaration)
    if relabelled != known:
        _record(transaction, known, relabelled, reason="opened with other labels")


def _enter(transaction: Transaction, declaration: Declaration, other_people: str | None) -> None:
    known = [Declaration.from_json(text) for text in transaction.datasets().values()]
    alike = [other.dataset for other in known if other.schema and other.schema == declaration.schema]
    if alike and not other_people:
        raise PolicyViolation(
            f"data set '{declaration.dataset}' has the columns of '{alike[0]}', and a new id would open "
            "a new budget for the same people. If they are other people, say so: other_people='<why>'.",
            dataset=declaration.dataset,
        )
    facts = {"kind": "dataset", "dataset": declaration.dataset, "declaration": asdict(declaration)}
    append(transaction, {**facts, "other_people": other_people, "time": now()})
    transaction.add_dataset(declaration.dataset, declaration.to_json())
    open_account(transaction, declaration.dataset, canonical(declaration.rule))


def _record(transaction: Transaction, before: Declaration, after: Declaration, *, reason: str) -> int:
    changed = {
        name: [old, getattr(after, name)]
        for name, old in asdict(before).items()
        if old != asdict(after)[name]
    }
    facts = {"kind": "owner", "dataset": before.dataset, "changed": changed, "reason": reason, "time": now()}
    entry = append(transaction, facts)
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
    raised = rule_for(budget, filter=chosen, relation=rule.budget.relation)
    if any(new < old for new, old in zip(raised.limit, row.limit, strict=True)) or raised.limit == row.limit:
        raise InvalidParameter("a budget may only be raised: no part may become smaller.", parameter="budget")
    after = replace(before, rule=raised.to_json())
    sequence = _record(transaction, before, after, reason=check_reason(reason))
    for each in (row, transaction.account(rest_of(dataset))):
        if each is not None:
            terms = canonical(raised.to_json())
            transaction.move_account(each, replace(each, terms=terms, limit=raised.limit, sequence=sequence))


def amend(
    transaction: Transaction, dataset: str, reason: str, *, unit: str | None, version: str | None
) -> None:
    """Change who is protected, or the version label; what was spent stays spent."""
    before = declared(transaction, dataset)
    after = replace(before, unit=before.unit if unit is None else unit)
    after = replace(after, version=before.version if version is None else version)
    if after == before:
        raise InvalidParameter("an amendment must change something.")
    _record(transaction, before, after, reason=check_reason(reason))
