"""discreet lab: the ideas of differential privacy as instruments to play with, in a browser."""

from typing import Annotated

from cyclopts import Parameter

from discreet.cli.listening import check_installed, listen

HOST, PORT = "127.0.0.1", 8765


def lab(
    *,
    port: int = PORT,
    browser: bool = True,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Open the lab: sliders for epsilon, delta, sensitivity and sizes, and the pictures that they change.

    It needs no data, no account and no network, and serves this machine alone.

    Example: discreet lab --no-browser --port 8765

    Parameters
    ----------
    port
        Where to listen; 0 takes any free port.
    browser
        Open a browser at the lab.
    json
        Print the address as JSON.
    """
    import json as json_module
    import webbrowser

    check_installed("lab")
    import uvicorn

    from discreet.server.lab import make_lab

    with listen(HOST, port) as listening:
        address = f"http://{HOST}:{listening.getsockname()[1]}/lab"
        print(json_module.dumps({"address": address}) if json else f"The lab is at {address}", flush=True)
        if browser:
            webbrowser.open(address)
        server = uvicorn.Server(uvicorn.Config(make_lab(), log_level="warning", access_log=False))
        server.run(sockets=[listening])
