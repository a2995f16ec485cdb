"""The command line: one file per command, each loaded only when it is called."""

import pkgutil
import sys

from cyclopts import App

from discreet.cli.output import report_error
from discreet.errors import DiscreetError

# A command = one line here, one file, one test file.
COMMANDS: dict[str, str] = {
    "ask": "discreet.cli.ask:ask",
    "explain": "discreet.cli.explain:explain",
    "demo": "discreet.cli.demo:demo",
    "policy": "discreet.cli.policy:app",
    "account": "discreet.cli.account:account",
    "audit": "discreet.cli.audit:audit",
    "local": "discreet.cli.local:app",
    "budget": "discreet.cli.budget:budget",
    "history": "discreet.cli.history:history",
    "ledger": "discreet.cli.ledger:app",
    "serve": "discreet.cli.serve:app",
