"""CONTRIBUTING's recipe for a notion, in a copy of the tree: one file, one line, one test file.

Accounts, ledgers, policies, calibration and the command line then take it as a budget.
"""

import json
import shutil
from pathlib import Path

import pytest

from recipes.tree import add_line, copy_tree, run, run_tests

GIVEN = Path(__file__).parent / "total_variation"
LINE = "from discreet.kernel.losses.total_variation import TotalVariation as TotalVariation\n"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the tree with a notion more."""
    root = copy_tree(tmp_path_factory.mktemp("tree"))
    package = root / "src" / "discreet" / "kernel" / "losses"
    shutil.copy(GIVEN / "notion.txt", package / "total_variation.py")
    add_line(package / "__init__.py", LINE, "discreet.kernel.losses")
    shutil.copy(GIVEN / "uses.txt", root / "tests" / "losses" / "test_total_variation.py")
    return root


def test_accounts_ledgers_policies_and_calibration_take_it(tree):
    done = run_tests(tree, "tests/losses/test_total_variation.py", "-vv")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    assert done.stdout.count("PASSED") == 4


def test_the_command_line_takes_it_from_a_policy(tree, tmp_path):
    (tmp_path / "people.csv").write_text("person,city\n1,A\n2,B\n")
    (tmp_path / "people.toml").write_text(
        '[dataset]\nid = "people"\nbudget = { distance = 0.5 }\n'
        '[tables.people]\nsource = "people.csv"\nunit = "person"\n'
    )
    policy = str(tmp_path / "people.toml")
    asked = run(tree, "-m", "discreet", "ask", policy, "SELECT COUNT(*) AS n FROM people", "--epsilon", "0.2")
    assert asked.returncode == 0, asked.stderr
    shown = json.loads(run(tree, "-m", "discreet", "budget", policy, "--json").stdout)
    assert shown["accounts"][0]["budget"]["distance"] == 0.5
    assert 0.09 < shown["accounts"][0]["spent"]["distance"] < 0.11


def test_a_notion_that_forgets_to_add_up_does_not_pass(tree):
    source = tree / "src" / "discreet" / "kernel" / "losses" / "total_variation.py"
    right = source.read_text()
    assert right.count("return Fraction(loss.delta(epsilon=0)), Fraction(0)") == 1
    source.write_text(
        right.replace("return Fraction(loss.delta(epsilon=0)), ", "return Fraction(1, 10**9), ")
    )
    done = run_tests(tree, "tests/losses/test_total_variation.py")
    source.write_text(right)
    assert done.returncode == 1
