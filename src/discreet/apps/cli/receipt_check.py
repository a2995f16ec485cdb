"""discreet receipt: check a signed receipt, alone or with its rows. Nothing is looked up."""

import json as json_module
from pathlib import Path

from cyclopts import App

from discreet.apps.cli.shared import Flag, fitted
from discreet.asking.answers import Checked, check_receipt, fingerprint
from discreet.errors import InvalidParameter

MOST_BYTES = 64 * 2**20  # of a receipt with its rows
app = App(name="receipt", help="Check the signed receipt of an answer.")


@app.command
def check(file: Path, *, key: str | None = None, json: Flag = False) -> None:
    """Check that a receipt, or an answer as JSON, is as a server signed it.

    Example: discreet receipt check receipt-28.json --key 6a7f...

    Parameters
    ----------
    file
        The receipt or the answer's JSON, as its page gives them.
    key
        The server's public key, as its page /receipts/key says. Without it the receipt's own key is used,
        and you must compare that.
    json
        Print JSON.
    """
    checked = check_receipt(_document(file), key=None if key is None else _key(key))
    if json:
        found = {"receipt": dict(checked.receipt), "key": checked.key, "trusted": key is not None}
        print(json_module.dumps({**found, "rows": "checked" if checked.has_rows else "not given"}))
    else:
        print(fitted(_words(checked, trusted=key is not None)))


def _words(checked: Checked, *, trusted: bool) -> str:
    said = checked.receipt
    price = ", ".join(f"{name} {number}" for name, number in said["price"].items())
    lines = [
        "The signature is valid.",
        f"Answer {said['charge']} of {said['dataset']}, version {said['version']}, {said['time']}",
        f"Asked by {said['asker'] or 'someone else than the holder'}, for {price}",
        f"{said['question']}",
        "The rows are those that were signed."
        if checked.has_rows
        else "No rows were given: only the receipt was checked.",
    ]
    if not trusted:
        lines.append(
            f"Signed by key {checked.key} ({fingerprint(checked.key)}). Compare it with the one that the "
            "server states at /receipts/key, or give that as --key."
        )
    return "\n".join(lines)


def _document(file: Path) -> object:
    try:
        with file.open("rb") as opened:
            content = opened.read(MOST_BYTES + 1)
    except OSError:
        raise InvalidParameter("file must name a readable receipt.", parameter="file") from None
    if len(content) > MOST_BYTES:
        raise InvalidParameter(f"file must have at most {MOST_BYTES // 2**20} MiB.", parameter="file")
    try:
        return json_module.loads(content)
    except (ValueError, RecursionError):
        return None  # refused as what is not a receipt


def _key(text: str) -> str:
    key = text.strip().lower()
    if len(key) != 64 or not set(key) <= set("0123456789abcdef"):
        raise InvalidParameter(
            "--key must have 64 hexadecimal digits, as /receipts/key of the server states.", parameter="key"
        )
    return key
