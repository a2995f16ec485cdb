"""CONTRIBUTING's recipe for a mechanism, in a copy of the tree: one file, one line, one test file.

Conformance tests, exact audit, `discreet audit NAME`, picture and the table in docs then know the mechanism.
"""

import json
import shutil
from pathlib import Path

import pytest

from recipes.tree import add_line, copy_tree, run, run_tests

PLATEAU = Path(__file__).parent / "plateau"
LINE = "from discreet.kernel.mechanisms.plateau import Plateau as Plateau\n"
PICTURE = (
    "import discreet as dp; from discreet.kernel.mechanisms import Plateau;"
    "drawn = dp.pictures.density(Plateau(scale=2, sensitivity=2)).to_json();"
    "print('Plateau, b = 2' in str(drawn))"
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the tree with a mechanism more."""
    root = copy_tree(tmp_path_factory.mktemp("tree"))
    package = root / "src" / "discreet" / "kernel" / "mechanisms"
    shutil.copy(PLATEAU / "mechanism.txt", package / "plateau.py")
    add_line(package / "__init__.py", LINE, "discreet.kernel.mechanisms")
    shutil.copy(PLATEAU / "tests.txt", root / "tests" / "mechanisms" / "test_plateau.py")
    return root


def test_the_copy_is_what_runs(tree):
    found = run(tree, "-c", "import discreet; print(discreet.__file__)").stdout.strip()
    assert Path(found).is_relative_to(tree)


def test_the_conformance_tests_and_the_exact_audit_find_it(tree):
    done = run_tests(tree, "-k", "plateau", "tests/conformance", "tests/auditing/test_mechanisms.py",
                     "tests/mechanisms/test_plateau.py", "-vv")  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    for found in ("is_sampled_is_the_law_that_is_stated[Plateau-0]", "written_a_second_time[Plateau-0]",
                  "more_noise_never_costs_more[epsilon-Plateau]", "no_parameter_takes_garbage[Plateau]",
                  "verified_exactly_and_a_smaller_claim_refuted[Plateau]"):  # fmt: skip
        assert found in done.stdout, done.stdout[-3000:]


def test_a_wrong_law_does_not_pass(tree):
    source = tree / "src" / "discreet" / "kernel" / "mechanisms" / "plateau.py"
    right = source.read_text()
    assert right.count("uniform_below(source, 5) - 2") == 1
    source.write_text(right.replace("uniform_below(source, 5) - 2", "uniform_below(source, 4) - 2"))
    done = run_tests(tree, "-k", "Plateau", "tests/conformance/test_mechanisms.py")
    source.write_text(right)
    assert "is_sampled_is_the_law_that_is_stated[Plateau-0]" in done.stdout
    assert done.returncode == 1


def test_it_is_audited_by_name(tree):
    command = (
        "-m",
        "discreet",
        "audit",
        "Plateau",
        "scale=2",
        "sensitivity=2",
        "--samples",
        "1000",
        "--json",
    )
    report = json.loads(run(tree, *command).stdout)
    assert (report["method"], report["verdict"]) == ("exact", "not refuted")
    assert report["lower_bound"] == pytest.approx(1)
    assert run(tree, *command, "--claim", "0.9").returncode == 1


def test_its_noise_is_drawn(tree):
    done = run(tree, "-c", PICTURE)
    assert done.stdout.strip() == "True", done.stderr


def test_the_table_of_the_documentation_lists_it(tree):
    assert run_tests(tree, "tests/docs/test_mechanism_table.py").returncode == 1  # it is out of date
    assert run(tree, "scripts/make-mechanism-table").returncode == 0
    assert "| `Plateau` |" in (tree / "docs" / "mechanisms.md").read_text()
    assert run_tests(tree, "tests/docs/test_mechanism_table.py").returncode == 0
