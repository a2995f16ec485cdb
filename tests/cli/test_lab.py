"""discreet lab, as a process of its own."""

import json
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from discreet.apps.cli import main

DISCREET = str(Path(sys.executable).with_name("discreet"))


def test_the_lab_opens_alone_and_says_where():
    command = [DISCREET, "lab", "--no-browser", "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as lab:
        try:
            address = json.loads(lab.stdout.readline())["address"]
            with urllib.request.urlopen(address, timeout=30) as page:
                assert "<h1>The lab</h1>" in page.read().decode()
            with urllib.request.urlopen(address.removesuffix("lab"), timeout=30) as page:
                assert page.url == address
        finally:
            lab.terminate()


@pytest.mark.parametrize("port", ["99999999", "-1"])
def test_a_port_that_cannot_be_is_refused(port, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["lab", "--no-browser", "--port", port])
    assert stopped.value.code == 2
    assert "port must be" in capsys.readouterr().err


def test_a_port_that_is_taken_is_refused(capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(SystemExit) as stopped:
        main(["lab", "--no-browser", "--port", str(taken.getsockname()[1])])
    assert stopped.value.code == 2


@pytest.mark.parametrize("command", [["lab", "--no-browser"], ["serve", "--demo"]])
def test_without_the_servers_packages_the_error_names_the_extra(command, monkeypatch, capsys):
    monkeypatch.setattr("discreet.apps.cli.shared.NEEDED", ("a_package_that_is_not_there",))
    with pytest.raises(SystemExit) as stopped:
        main(command)
    assert stopped.value.code == 2
    assert "pip install 'discreet[server]'" in capsys.readouterr().err
