"""Accounts for charges chosen adaptively, and odometers; calibration and the composition experiment."""

from discreet.kernel.accounting.account import Account, Odometer, exceeded, raised_rule, read_rule, rule_for
from discreet.kernel.accounting.calibrate import Training, calibrate, keeps, training
from discreet.kernel.accounting.experiment import Experiment, Round, View
from discreet.kernel.accounting.rule import (
    Budget,
    Rule,
    check_charge,
    covers,
    describe,
    least,
    notion_json,
)
from discreet.kernel.accounting.units import NEVER, WIDTH, Limit, Total, decimal_text
from discreet.kernel.losses import Notion, read_notion

__all__ = [
    "NEVER",
    "WIDTH",
    "Account",
    "Budget",
    "Experiment",
    "Limit",
    "Notion",
    "Odometer",
    "Round",
    "Rule",
    "Total",
    "Training",
    "View",
    "calibrate",
    "check_charge",
    "covers",
    "decimal_text",
    "describe",
    "exceeded",
    "keeps",
    "least",
    "notion_json",
    "raised_rule",
    "read_notion",
    "read_rule",
    "rule_for",
    "training",
]


def __dir__() -> list[str]:
    return list(__all__)
