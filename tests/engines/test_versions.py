"""Every supported version of PostgreSQL and Spark runs the conformance suites; every other one is refused."""

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from discreet.asking.engines import SparkEngine, postgres
from discreet.asking.engines.spark import session as spark_session
from discreet.errors import InvalidParameter
from discreet.kernel.ledger.postgres import connection as ledger_server
from engines.test_duckdb import policy
from servers.versions import POSTGRES, ROOT, SPARK, postgres_programs, spark_package

PAGE = (ROOT / "docs" / "guide" / "engines.md").read_text()
MAJORS = range(postgres.OLDEST, postgres.NEWEST + 1)
ON_POSTGRES = ["engines/test_agreement.py", "engines/test_postgres.py", "engines/test_postgres_kills.py",
               "engines/test_postgres_numbers.py", "ledger"]  # fmt: skip
ON_SPARK = ["engines/test_agreement.py", "engines/test_differences.py", "engines/test_spark.py",
            "engines/test_spark_failures.py"]  # fmt: skip


def test_the_page_the_code_and_the_releases_name_the_same_versions():
    assert (ledger_server.OLDEST, ledger_server.NEWEST) == (postgres.OLDEST, postgres.NEWEST)
    assert f"servers {postgres.OLDEST} to {postgres.NEWEST}" in PAGE
    assert f"{spark_session.VERSIONS[0]} to {spark_session.VERSIONS[-1]}" in PAGE
    assert set(MAJORS) <= set(POSTGRES)
    assert set(spark_session.VERSIONS) == set(SPARK)


@pytest.mark.parametrize("version", ["3.5.1", "4.4.0", "4.10.1", "5.0.0", "40.1", "4"])
def test_other_versions_of_spark_are_refused(version):
    session = SimpleNamespace(version=version, newSession=None)
    with pytest.raises(InvalidParameter, match=re.escape(f"4.0 to 4.3, got {version}")):
        SparkEngine(policy(None), {"t": None}, session=session)


def test_another_pyspark_is_refused_before_it_starts(monkeypatch):
    import pyspark

    monkeypatch.setattr(pyspark, "__version__", "4.4.0")
    for address in ("local[2]", "sc://127.0.0.1:1"):
        with pytest.raises(InvalidParameter, match="PySpark must be of version"):
            SparkEngine(policy(None), {"t": None}, address=address)


def run_suites(paths, words, **environment):
    """The suites in a process of their own; how many tests passed."""
    # PySpark 4.0 and 4.1 leave sockets to the garbage collector.
    quiet = ["-W", "ignore::ResourceWarning", "-W", "ignore::pytest.PytestUnraisableExceptionWarning"]
    command = [sys.executable, "-m", "pytest", "-m", "not soak", "-p", "no:xdist", *quiet, "-k", words]
    found = subprocess.run(
        [*command, *(ROOT / "tests" / each for each in paths)],
        env={**os.environ, **environment}, cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert found.returncode == 0, found.stdout[-5000:]
    return int(re.findall(r"(\d+) passed", found.stdout)[-1])


@pytest.mark.soak
@pytest.mark.parametrize("major", MAJORS)
def test_the_suites_of_engine_and_ledger_pass_on_every_supported_postgresql(major):
    programs = postgres_programs(major)
    said = subprocess.run([programs / "postgres", "--version"], capture_output=True, text=True, check=True)
    assert f" {major}." in said.stdout
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    assert run_suites(ON_POSTGRES, "postgres", PATH=path) > 200


@pytest.mark.soak
@pytest.mark.parametrize("minor", SPARK)
def test_the_suites_of_the_engine_pass_on_every_supported_spark(minor):
    package = spark_package(minor)
    environment = {"PYTHONPATH": str(package)}
    script = "import pyspark; print(pyspark.__version__, pyspark.__file__)"
    said = subprocess.run([sys.executable, "-c", script], env=os.environ | environment,
                          capture_output=True, text=True, check=True).stdout.split()  # fmt: skip
    assert said[0] == SPARK[minor]
    assert package in Path(said[1]).parents
    assert run_suites(ON_SPARK, "spark", **environment) > 30
