"""The command line: each command's file is loaded only when it is called."""

import pkgutil
import sys

from cyclopts import App

from discreet.apps.cli.shared import report_error
from discreet.errors import DiscreetError

# A command = one line here, one file, one test file.
COMMANDS: dict[str, str] = {
    "ask": "discreet.apps.cli.ask:ask",
    "explain": "discreet.apps.cli.ask:explain",
    "book": "discreet.apps.cli.book_command:book",
    "demo": "discreet.apps.cli.ask:demo",
    "policy": "discreet.apps.cli.policy:app",
    "account": "discreet.apps.cli.account:account",
    "audit": "discreet.apps.cli.audit:audit",
    "local": "discreet.apps.cli.local:app",
    "budget": "discreet.apps.cli.budget:budget",
    "history": "discreet.apps.cli.budget:history",
    "ledger": "discreet.apps.cli.ledger:app",
    "receipt": "discreet.apps.cli.receipt_check:app",
    "serve": "discreet.apps.cli.serve:app",
    "mcp": "discreet.apps.cli.mcp:mcp",
    "lab": "discreet.apps.cli.serve:lab",
    "completion": "discreet.apps.cli.completion:completion",
}


def build_app(*, listing: bool = False) -> App:
    """Return the application. Only a listing loads every command, for its description."""
    app = App(
        name="discreet",
        help="Differential privacy that is exact, secure and fast.",
        version_flags=["--version"],
    )
    for name, function in COMMANDS.items():
        app.command(pkgutil.resolve_name(function) if listing else function, name=name)
    return app


def main(arguments: list[str] | None = None) -> None:
    """Run one command; our errors become a sentence (or JSON) and an exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        build_app(listing=given in ([], ["--help"], ["-h"]))(given)
    except DiscreetError as error:
        report_error(error, as_json="--json" in given)
        sys.exit(error.exit_code)
