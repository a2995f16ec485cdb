"""discreet lab: interactive pictures of the ideas of differential privacy, in a browser."""

from discreet.apps.cli.shared import Flag, check_installed, listen

HOST, PORT = "127.0.0.1", 8765


def lab(
    *,
    port: int = PORT,
    browser: bool = True,
    json: Flag = False,
) -> None:
    """Open the lab: sliders for epsilon, delta, sensitivity and sizes, and the pictures that they change.

    It needs no data, no account and no network, and is reachable from this machine only.

    Example: discreet lab --no-browser --port 8765

    Parameters
    ----------
    port
        The port to listen on; 0 takes any free one.
    browser
        Open the lab in a browser.
    json
        Print the address as JSON.
    """
    import json as json_module
    import webbrowser

    check_installed("lab")
    import uvicorn

    from discreet.apps.server.lab import make_lab

    with listen(HOST, port) as listening:
        address = f"http://{HOST}:{listening.getsockname()[1]}/lab"
        print(json_module.dumps({"address": address}) if json else f"The lab is at {address}", flush=True)
        if browser:
            webbrowser.open(address)
        server = uvicorn.Server(uvicorn.Config(make_lab(), log_level="warning", access_log=False))
        server.run(sockets=[listening])
