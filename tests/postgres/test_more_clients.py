"""pgjdbc (Debian's), ADBC and Ibis, in an environment of their own (`make soak`)."""

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from server.running import promptly, write_policy

ROOT = Path(__file__).parents[2]
JAR = Path("/usr/share/java/postgresql.jar")  # of the Debian package libpostgresql-jdbc-java


@pytest.fixture(scope="module")
def python():
    """An environment with the clients of requirements/clients.txt, made once."""
    home, requirements = ROOT / ".venv-clients", ROOT / "requirements" / "clients.txt"
    stamp, pins = home / "made-from", hashlib.sha256(requirements.read_bytes()).hexdigest()
    found = home / "bin" / "python"
    if not stamp.exists() or stamp.read_text() != pins:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(home)], check=True)
        options = ["-qq", "--disable-pip-version-check", "--require-hashes", "-r", str(requirements)]
        subprocess.run([str(found), "-m", "pip", "install", *options], check=True)
        stamp.write_text(pins)  # last, so that a half-made environment never counts
    return str(found)


@pytest.mark.soak
@pytest.mark.parametrize("client", ["adbc", "ibis", "jdbc"])
def test_a_client_lists_asks_is_refused_asks_again_free_and_runs_out(python, client, tmp_path):
    if client == "jdbc" and not JAR.exists():
        subprocess.run(
            [str(ROOT / "scripts" / "install-system-packages"), "libpostgresql-jdbc-java"], check=True
        )
    program = str(Path(__file__).with_name("more_clients.py"))
    with promptly(write_policy(tmp_path, epsilon=1)) as town:
        words = [python, program, client, str(town.postgres.port), town.tokens["ann"]]
        words += [str(JAR)] if client == "jdbc" else []
        done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        assert town.spent().epsilon == 1
