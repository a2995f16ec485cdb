"""Wheel and sdist install in clean environments, each extra alone, and the commands of the README work."""

import json
import os
import socket
import struct
import subprocess
import sys
import tomllib
import urllib.request
from pathlib import Path

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "optional-dependencies"
]
MOST_MB = 220  # without pip and setuptools, as du counts them; compiled files of Python are among them
PEOPLE = """
import sys, discreet as dp
from pathlib import Path
people = Path(dp.__file__).parent / "demo" / "people.parquet"
curator = dp.Curator.open(people, unit="person", budget=1, keys={"kind": ["card", "loan"]}, ledger="p.ledger")
answer = curator.ask("SELECT kind, COUNT(DISTINCT person) AS n FROM people GROUP BY kind", epsilon=0.5)
"""
# What an extra is for, done once.
USES = {
    "pandas": f"{PEOPLE}\nassert list(answer.to_pandas().columns)[1] == 'n'",
    "arrow": f"{PEOPLE}\nassert answer.to_arrow().num_rows == 2",
    "pictures": f"{PEOPLE}\nimport kaleido; dp.pictures.answer(answer).save('a.svg')",
    "postgres": "import psycopg; assert psycopg.pq.version() > 0",
    "spark": "import pyspark; assert pyspark.__version__[0] == '4'",
    "server": "from discreet.apps.server.lab import make_lab; assert make_lab().routes\n"
    "from discreet.apps.cli.documents import write_site; assert write_site(Path('site')) > 10**6",
    "mcp": "import discreet.apps.mcp",
    "testing": "import discreet.testing, hypothesis",
}


def test_every_extra_has_a_use():
    assert set(USES) == set(EXTRAS)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    (sdist,) = SdistBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    return {"wheel": wheel, "sdist": sdist}


def environment(folder, what):
    """A new environment with this alone in it; returns its folder of commands."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    binaries = folder / "bin"
    pip = [str(binaries / "python"), "-m", "pip", "install", "-qq", "--disable-pip-version-check", what]
    subprocess.run(pip, check=True)
    return binaries


def run(binaries, *command, folder, code=0):
    """Run a command with nothing of this environment in reach."""
    env = {"PATH": f"{binaries}:/usr/bin:/bin", "HOME": str(folder), "LANG": "C.UTF-8"}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done.stdout


def megabytes(folder):
    """The size of installed files, without pip and setuptools."""
    kept = [
        each for each in folder.iterdir() if not each.name.startswith(("pip", "setuptools", "_distutils"))
    ]
    files = [file for each in kept for file in ([each] if each.is_file() else each.rglob("*"))]
    return sum(file.stat().st_size for file in files if file.is_file()) / 2**20


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_the_base_installs_alone_is_small_and_its_commands_work(built, kind, tmp_path):
    binaries = environment(tmp_path / "env", built[kind])
    size = megabytes(next((tmp_path / "env" / "lib").glob("python3*")) / "site-packages")
    print(f"base install: {size:.0f} MB")
    assert size < MOST_MB
    rows = "\n".join(f"{person},{['Ottawa', 'Toronto'][person % 2]}" for person in range(500))
    (tmp_path / "accounts.csv").write_text(f"person,city\n{rows}\n")
    sql = "SELECT city, COUNT(DISTINCT person) AS people FROM accounts GROUP BY city"
    priced = ["--unit", "person", "--epsilon", "0.5", "--keys", "city=Ottawa,Toronto"]
    assert "Ottawa" in run(binaries, "discreet", "ask", "accounts.csv", sql, *priced, folder=tmp_path)
    assert "card" in run(binaries, "discreet", "demo", folder=tmp_path)
    run(
        binaries,
        "discreet",
        "audit",
        "Laplace",
        "epsilon=1",
        "sensitivity=1",
        "--samples",
        "2000",
        folder=tmp_path,
    )
    run(binaries, "discreet", "completion", "bash", folder=tmp_path)
    said = run(binaries, "python", "-c", PEOPLE + "print(answer)", folder=tmp_path)
    assert "± at 95% confidence" in said


@pytest.mark.soak
@pytest.mark.parametrize("extra", sorted(EXTRAS))
def test_every_extra_installs_alone_and_does_what_it_is_for(built, extra, tmp_path):
    binaries = environment(tmp_path / "env", f"{built['wheel']}[{extra}]")
    run(binaries, "python", "-c", f"from pathlib import Path\n{USES[extra]}", folder=tmp_path)
    assert os.path.exists(binaries / "discreet")


SERVERS = {  # the commands of the README that serve, and what is there
    "serve --demo --port 0": "/health",
    "serve --demo --port 0 --postgres 0": "/health",
    "serve bank.toml --port 0": "/health",
    "lab --port 0 --no-browser": "",
}
POLICY = """
[dataset]
id = "bank"
budget = { epsilon = 1 }
[tables.bank]
source = "bank.csv"
unit = "person"
"""


@pytest.mark.soak
def test_what_the_readme_serves_is_served_with_the_extra_alone(built, tmp_path):
    binaries = environment(tmp_path / "env", f"{built['wheel']}[server]")
    (tmp_path / "bank.toml").write_text(POLICY)
    (tmp_path / "bank.csv").write_text("person\n1\n2\n")
    env = {"PATH": f"{binaries}:/usr/bin:/bin", "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    for words, address in SERVERS.items():
        command = ["discreet", *words.split(), "--json"]
        server = subprocess.Popen(command, cwd=tmp_path, env=env, stdout=subprocess.PIPE, text=True)
        try:
            facts = json.loads(server.stdout.readline())
            with urllib.request.urlopen(facts["address"] + address, timeout=60) as answered:
                assert answered.status == 200
            if "--postgres" in words:
                host, port = facts["postgres"].split(":")
                with socket.create_connection((host, int(port)), timeout=60) as door:
                    door.sendall(struct.pack("!ii", 8, 80877103))  # is there TLS?
                    assert door.recv(1) == b"N"
        finally:
            server.terminate()
            assert server.wait(60) == 0 or "lab" in words  # which passes the signal on
            server.stdout.close()
    audited = ["SELECT COUNT(*) AS n FROM bank", "--policy", "bank.toml", "--epsilon", "0.5"]
    run(binaries, "discreet", "audit", *audited, "--samples", "500", folder=tmp_path)
