"""How an account stands, in the words of its budget."""

from dataclasses import dataclass
from typing import Any

from discreet.accounting import Budget, notion_json
from discreet.errors import LedgerConflict
from discreet.ledger.charging import rule_of
from discreet.ledger.store import AccountRow, Transaction


@dataclass(frozen=True)
class Balance:
    """Budget, rule, what is spent since collection and what is left."""

    account: str
    rule: str
    budget: Budget
    spent: Budget
    remaining: Budget

    def to_json(self) -> dict[str, Any]:
        notions = {name: notion_json(getattr(self, name)) for name in ("budget", "spent", "remaining")}
        return {"account": self.account, "rule": self.rule, **notions}


def balance_of(row: AccountRow) -> Balance:
    """The balance of a stored account."""
    rule = rule_of(row.terms)
    return Balance(row.name, rule.name, rule.budget, rule.spent(row.total), rule.remaining(row.total))


def read_balance(transaction: Transaction, account: str) -> Balance:
    """The balance of the account of this name."""
    row = transaction.account(account)
    if row is None:
        raise LedgerConflict(f"the ledger must have an account '{account}', and it has none.")
    return balance_of(row)
