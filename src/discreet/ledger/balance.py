"""How an account stands, in the words of its budget."""

import math
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

from discreet.accounting import Budget, Total, least
from discreet.errors import LedgerConflict
from discreet.ledger.charging import kept_apart, rule_of
from discreet.ledger.declaration import Declaration
from discreet.ledger.store import AccountRow, Transaction
from discreet.numerics import exact


@dataclass(frozen=True)
class Balance:
    """Budget, rule, what is spent since collection and what is left."""

    account: str
    rule: str
    budget: Budget
    spent: Budget
    remaining: Budget

    def to_json(self) -> dict[str, Any]:
        """Plain numbers; where a float cannot hold one exactly, spending is rounded up, the rest down."""
        return {
            "account": self.account,
            "rule": self.rule,
            "relation": self.budget.relation,
            "budget": _numbers(self.budget, -math.inf),
            "spent": _numbers(self.spent, math.inf),
            "remaining": _numbers(self.remaining, -math.inf),
        }


def _numbers(notion: Budget, side: float) -> dict[str, float]:
    names = [field.name for field in fields(notion) if field.name != "relation"]
    return {name: _shown(getattr(notion, name), side) for name in names}


def _shown(value: Fraction, side: float) -> float:
    nearest = float(value)
    return nearest if exact(nearest, name="number") == value else math.nextafter(nearest, side)


def balance_of(row: AccountRow) -> Balance:
    """The balance of a stored account."""
    rule = rule_of(row.terms)
    return Balance(row.name, rule.name, rule.budget, rule.spent(row.total), rule.remaining(row.total))


def read_remaining(transaction: Transaction, declared: Declaration, analyst: str) -> Budget:
    """What an analyst could still be charged: the least that is left in any account it must fit."""
    left, *others = (each.remaining for each in read_balances(transaction, declared, analyst))
    return least(left, others)


def read_balances(transaction: Transaction, declared: Declaration, analyst: str) -> tuple[Balance, ...]:
    """The accounts that every charge of an analyst must fit, the data set's first."""
    rows = [
        transaction.account(name) or AccountRow(name, terms, rule_of(terms).limit, Total(), 0)
        for name, terms in declared.accounts(analyst=analyst, question=None).items()
    ]
    apart = kept_apart(transaction, declared.dataset, analyst)
    return tuple(map(balance_of, (*rows, *([apart] if apart else []))))


def read_balance(transaction: Transaction, account: str) -> Balance:
    """The balance of the account of this name."""
    row = transaction.account(account)
    if row is None:
        raise LedgerConflict(f"the ledger must have an account '{account}', and it has none.")
    return balance_of(row)
