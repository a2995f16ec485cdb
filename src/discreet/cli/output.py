"""What every command prints the same way."""

import json
import sys

from discreet.errors import DiscreetError


def report_error(error: DiscreetError, *, as_json: bool) -> None:
    """A sentence on standard error, or the one JSON shape on standard output."""
    if as_json:
        print(json.dumps(error.to_json()))
    else:
        print(f"error: {error.message}", file=sys.stderr)
