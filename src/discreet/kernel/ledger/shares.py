"""Reserved shares: a part of a data set's budget that is kept for one analyst.

From the first reservation on the data set has a second account with its own budget, the *rest*, in which a
share counts as spent from the moment it is reserved. A charge of an analyst with a share must fit the share,
anyone else's the rest, and each, as ever, the data set's account.

    total(data set) = total(rest) − Σ shares + Σ spent of shares <= total(rest) <= budget

So what is left of a share always fits, whatever the others asked. This needs costs that add up: the advanced
filter's do not.
"""

from dataclasses import replace
from typing import Any

from discreet.errors import BudgetExceeded, InvalidParameter, LedgerConflict
from discreet.kernel.accounting import NEVER, Budget, Rule, Total, describe, rule_for
from discreet.kernel.ledger.charging import append, now, rule_of
from discreet.kernel.ledger.declaration import rest_of, share_of
from discreet.kernel.ledger.entry import canonical
from discreet.kernel.ledger.request import check_name, check_reason
from discreet.kernel.ledger.store import AccountRow, Transaction


def reserve(transaction: Transaction, dataset: str, analyst: str, budget: Budget, reason: str) -> None:
    """Set an analyst's share; one that has a share already may get more, or less than is unspent back."""
    check_name(analyst, name="analyst")
    whole = transaction.account(dataset)
    if whole is None:
        raise LedgerConflict(f"the ledger must have a data set '{dataset}', and it has none.")
    rule = _share_rule(rule_of(whole.terms), budget)
    names = rest_of(dataset), share_of(dataset, analyst)
    before = transaction.account(names[0]), transaction.account(names[1])
    after = set_aside(whole, *before, rule, names)
    facts = {"kind": "share", "dataset": dataset, "analyst": analyst, "rule": rule.to_json()}
    entry = append(transaction, {**facts, "reason": check_reason(reason), "time": now()})
    for old, new in zip(before, after, strict=True):
        row = replace(new, sequence=entry.sequence)
        if old is None:
            transaction.open_account(row)
        else:
            transaction.move_account(old, row)


def set_aside(
    whole: AccountRow,
    rest: AccountRow | None,
    share: AccountRow | None,
    rule: Rule[Any],
    names: tuple[str, str],
) -> tuple[AccountRow, AccountRow]:
    """Return the accounts of the rest and of the share, once a share has this rule and budget."""
    rest = rest or replace(whole, name=names[0])  # what was spent so far was spent by all
    share = share or AccountRow(names[1], "", rule.limit, Total(), 0)
    freed = rest.total.minus(_cost(whole, rule_of(share.terms)) if share.terms else Total())
    total = freed.plus(_cost(whole, rule))
    if not rest.limit.admits(total):
        left = describe(rule_of(whole.terms).remaining(freed))
        raise BudgetExceeded(
            f"a share must fit what is not reserved yet: {left} is left. Reserve less, or raise the budget."
        )
    if not rule.limit.admits(share.total):
        raise BudgetExceeded("a share must hold what was spent of it already, and this one does not.")
    return replace(rest, total=total), replace(share, terms=canonical(rule.to_json()), limit=rule.limit)


def _cost(whole: AccountRow, rule: Rule[Any]) -> Total:
    """Return what a share takes from the rest."""
    cost = rule_of(whole.terms).cost_of_promise(rule.budget)
    if cost is None:
        raise InvalidParameter("a share must be priced by the data set's rule.", parameter="budget")
    return cost


def _share_rule(whole: Rule[Any], budget: Budget) -> Rule[Any]:
    if whole.limit.square != NEVER:
        raise InvalidParameter(
            "shares must be reserved of a budget whose costs add up, and those of filter='advanced' do not. "
            "Open the data set without it.",
            parameter="filter",
        )
    if type(budget) is not type(whole.budget):
        raise InvalidParameter(
            f"a share must be of the budget's own notion, {type(whole.budget).__name__}, "
            f"got {type(budget).__name__}.",
            parameter="budget",
        )
    return rule_for(budget, relation=whole.budget.relation)
