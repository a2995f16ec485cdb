"""The container's own steps, run in a clean folder: it installs, starts, is healthy, serves, stops cleanly.

No container runtime is needed: the instructions are read from the Containerfile, and paths are moved.
"""

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = re.sub(r"\\\n\s*", " ", (ROOT / "Containerfile").read_text(encoding="utf-8"))
STEPS = [tuple(line.split(None, 1)) for line in TEXT.splitlines() if line and line[0] != "#"]


def said(name):
    return [rest for step, rest in STEPS if step == name]


def test_the_container_is_small_not_root_and_watched():
    assert said("USER") == ["10001"]
    assert len(said("HEALTHCHECK")) == 1
    assert all("slim" in each for each in said("FROM"))
    assert len(said("FROM")) == 2  # what builds is left behind
    assert "--require-hashes" in said("RUN")[0]
    ignored = (ROOT / ".containerignore").read_text(encoding="utf-8").split()
    assert {".git", ".venv*", "tests"} <= set(ignored)


def copied(folder):
    """What COPY . takes: the files that git knows."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.split("\0"):
        if name and not name.startswith(("tests/", "bench/")) and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def reachable(place):
    """Whether another user may run this interpreter: one in root's own home is for root alone."""
    return all(folder.stat().st_mode & 0o001 for folder in (place, *place.parents))


@pytest.mark.soak
def test_its_steps_make_a_server_that_starts_serves_and_stops(tmp_path):
    source, prefix, data = copied(tmp_path / "source"), tmp_path / "opt", tmp_path / "data"
    data.mkdir()
    build = said("RUN")[0].replace("/opt/discreet", str(prefix)).replace("/source", str(source))
    clean = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    clean |= {
        name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "HTTP", "http"))
    }
    subprocess.run(["sh", "-ec", build.replace("python -m venv", "python3 -m venv")], env=clean, check=True)
    assert not list(prefix.glob("lib/python3.*/site-packages/pip"))

    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = str(probe.getsockname()[1])
    command = [*json.loads(said("ENTRYPOINT")[0]), *json.loads(said("CMD")[0])]
    command = [port if word == "8080" else word for word in command]
    env = {"PATH": f"{prefix}/bin:{clean['PATH']}", "HOME": str(data), "PYTHONDONTWRITEBYTECODE": "1"}
    user = {}
    if os.geteuid() == 0 and reachable(Path(prefix, "bin", "python").resolve()):  # as in the container
        for folder in (*tmp_path.parents, tmp_path):
            if folder.is_relative_to("/tmp"):
                folder.chmod(folder.stat().st_mode | 0o011)
        os.chown(data, 10001, 10001)
        user = {"user": 10001, "group": 10001, "extra_groups": []}
    server = subprocess.Popen(command, cwd=data, env=env, **user)
    try:
        check = json.loads(said("HEALTHCHECK")[0].partition("CMD ")[2])
        check = [word.replace("8080", port) for word in check]
        deadline = time.monotonic() + 120
        while subprocess.run(check, env=env, capture_output=True, check=False).returncode != 0:
            assert server.poll() is None, "it ended by itself"
            assert time.monotonic() < deadline, "it was never healthy"
            time.sleep(0.5)
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/api/datasets")
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/docs/index.html", timeout=120) as page:
            assert b"Private answers about people" in page.read()
        server.send_signal(getattr(signal, said("STOPSIGNAL")[0]))
        assert server.wait(60) == 0
    finally:
        server.kill()
        server.wait()
    assert shlex.split(said("ENTRYPOINT")[0])
