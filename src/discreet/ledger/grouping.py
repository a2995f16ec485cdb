"""What was spent on small units, counted for larger ones: each past charge at the loss of a whole group."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from discreet.accounting import Notion, Rule, Total, read_notion
from discreet.errors import InvalidParameter
from discreet.ledger.charging import rule_of
from discreet.ledger.entry import Entry
from discreet.ledger.store import AccountRow
from discreet.losses import GDP, ZCDP, ApproxDP, PrivacyLoss, PureDP


def totals_for_groups(
    entries: Iterable[Entry], dataset: str, accounts: Mapping[str, AccountRow], size: int
) -> dict[str, Total]:
    """The totals of a data set's accounts, had every charge so far been one on groups of this size.

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
    """What one charge costs an account, if it was about so many people together."""
    stated = facts["price"] or facts["loss"]
    if "notion" in stated:
        promise = _for_group(read_notion(stated), people)
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


def _for_group(promise: Notion, people: int) -> Notion | None:
    """The promise that holds for groups, where there is one: along a chain of neighbours."""
    match promise:
        case PureDP():
            return PureDP(people * promise.epsilon, promise.relation)
        case ApproxDP():
            epsilon = people * promise.epsilon
            delta = Fraction(promise.loss.for_group(people).delta(epsilon=epsilon))
            return ApproxDP(epsilon, delta, promise.relation) if delta < 1 else None
        case ZCDP() if promise.delta == 0:
            return ZCDP(people**2 * promise.rho, 0, promise.relation)
        case GDP():
            return GDP(people * promise.mu, promise.relation)
    return None
