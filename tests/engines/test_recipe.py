"""The recipe for an engine in CONTRIBUTING.md: two source files, one registry line, one test file.

A toy engine is added to a copy of the tree, and the agreement suite finds it; with a fault planted in its
dialect the suite finds the fault.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

ENGINE = '''"""A second DuckDB, under another name."""

from discreet.asking.engines.duckdb import DuckDBEngine
from discreet.asking.engines.toy.dialect import ToyDialect


class ToyEngine(DuckDBEngine):
    """Tables in memory, asked in the toy dialect."""

    dialect = ToyDialect
'''

DIALECT = '''"""What the toy writes differently."""

from sqlglot import exp

from discreet.asking.engines.duckdb.dialect import DuckDBDialect
from discreet.asking.engines.sql import binary, call, cast, whole
from discreet.asking.engines.sql.dialect import Built


class ToyDialect(DuckDBDialect):
    """Texts are measured by `len`, and sums are taken of decimals."""

    def length(self, value: Built) -> Built:
        return call("len", value)

    def total(self, number: Built) -> Built:
        return cast(call("sum", cast(number, "DECIMAL(38, 0)")), "HUGEINT")
'''
FAULTY = DIALECT.replace(
    'return cast(call("sum", cast(number, "DECIMAL(38, 0)")), "HUGEINT")',
    'return binary(exp.Add, call("sum", number), whole(1))',
)

TEST = '''"""The toy engine is opened by its name, and agrees with the reference."""

from contextlib import closing

from discreet.asking.engines import open_engine
from discreet.asking.engines.toy import ToyEngine
from engines.people import as_arrow, crowd
from engines.registry import MAKERS
from engines.test_agreement import agree
from queries.bank import BANK
from queries.test_read import ACCEPTED


def test_the_toy_is_opened_by_its_name():
    with closing(open_engine("toy", BANK, as_arrow(BANK, crowd(1)), timeout_s=60)) as engine:
        assert isinstance(engine, ToyEngine)


def test_a_few_golden_questions_agree(request):
    agree(lambda policy, rows: MAKERS["toy"](request, policy, rows), crowd(1), ACCEPTED[::12], 1)
'''


def add_toy(tree: Path, dialect: str) -> None:
    """Take the four steps of the recipe."""
    folder = tree / "src" / "discreet" / "asking" / "engines"
    (folder / "toy").mkdir()
    (folder / "toy" / "__init__.py").write_text(ENGINE)
    (folder / "toy" / "dialect.py").write_text(dialect)
    registry = (folder / "__init__.py").read_text()
    registry = registry.replace(
        "from discreet.asking.engines.spark import SparkEngine\n",
        "from discreet.asking.engines.spark import SparkEngine\n"
        "from discreet.asking.engines.toy import ToyEngine\n",
    ).replace('    "spark": SparkEngine,\n', '    "spark": SparkEngine,\n    "toy": ToyEngine,\n')
    (folder / "__init__.py").write_text(registry)
    (tree / "tests" / "engines" / "test_toy.py").write_text(TEST)


def run_suite(tree: Path) -> subprocess.CompletedProcess[str]:
    """Run the toy's own tests, and the golden questions of the agreement suite on it."""
    golden = "tests/engines/test_agreement.py::test_all_golden_questions_agree_on_empty_tables[toy]"
    command = [sys.executable, "-m", "pytest", "-n0", "tests/engines/test_toy.py", golden]
    environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
    return subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize(("dialect", "passed"), [(DIALECT, True), (FAULTY, False)], ids=["right", "wrong"])
def test_a_toy_engine_costs_four_files_and_its_faults_are_found(tmp_path, dialect, passed):
    for part in ("src", "tests", "docs"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    add_toy(tmp_path, dialect)
    done = run_suite(tmp_path)
    assert ("3 passed" in done.stdout) is passed, done.stdout[-4000:] + done.stderr[-1000:]
    assert done.returncode == (0 if passed else 1)
    assert passed or "test_a_few_golden_questions_agree" in done.stdout
