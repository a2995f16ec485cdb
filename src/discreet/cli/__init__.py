"""The command line: one file per command, each loaded only when it is called."""

import pkgutil
import sys

from cyclopts import App

from discreet.cli.shared import report_error
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
    "lab": "discreet.cli.lab:lab",
}


def build_app(*, listing: bool = False) -> App:
    """The command-line application; only a listing loads every command, to say what each is for."""
    app = App(
        name="discreet",
        help="Differential privacy that is exact, secure and fast.",
        version_flags=["--version"],
    )
    for name, function in COMMANDS.items():
        app.command(pkgutil.resolve_name(function) if listing else function, name=name)
    return app


def main(arguments: list[str] | None = None) -> None:
    """Run one command; an error of ours becomes a sentence (or JSON) and the exit code of its kind."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        build_app(listing=words in ([], ["--help"], ["-h"]))(words)
    except DiscreetError as error:
        report_error(error, as_json="--json" in words)
        sys.exit(error.exit_code)
