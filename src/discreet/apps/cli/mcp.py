"""discreet mcp: private questions for assistants, over the Model Context Protocol."""

import json as json_module
import os
from importlib import util
from pathlib import Path

from discreet.apps.cli.shared import Flag
from discreet.errors import InvalidParameter

VARIABLE = "DISCREET_TOKEN"


def mcp(url: str, *, token_file: Path | None = None, check: Flag = False, json: Flag = False) -> None:
    """Let an assistant ask a discreet server, with an analyst's token, until its input ends.

    Example: DISCREET_TOKEN=dp_... discreet mcp https://dp.example.org

    An assistant starts it by itself and talks to it over standard input and output. The data sets it may ask
    need a cap per token and day: `daily` in their policies.

    Parameters
    ----------
    url
        The server's address, as `discreet serve` prints it.
    token_file
        A file with the token; without it the token is read from the variable DISCREET_TOKEN.
    check
        Connect, print the data sets that can be reached, and end.
    json
        With --check, print JSON.
    """
    if util.find_spec("mcp") is None:
        raise InvalidParameter("mcp needs its own package. Install: pip install 'discreet[mcp]'.")
    from discreet.apps.mcp import Tools, make_server

    tools = Tools(url, token=_token(token_file))
    names = tools.check()
    if check:
        found = {"url": url, "datasets": names}
        print(json_module.dumps(found) if json else f"discreet mcp reaches {', '.join(names)} at {url}")
        return
    make_server(tools).run()


def _token(file: Path | None) -> str:
    if file is None:
        if token := os.environ.get(VARIABLE, "").strip():
            return token
        raise InvalidParameter(f"a token must be in {VARIABLE} or --token-file, got none.", parameter="token")
    try:
        return file.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        raise InvalidParameter(
            "--token-file must name a readable file with one token.", parameter="token"
        ) from None
