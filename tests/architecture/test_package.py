"""The package's own folder holds what is of the package, and nothing that running it leaves behind."""

import discreet
from discreet.asking.policy import sibling_path
from house import ROOT, files_of_the_package, strangers

LEFT = ("demo/people.ledger", "demo/people.ledger-journal", "demo/people.ledger.owners/owner-1", "demo/lock")


def test_every_file_is_of_the_package():
    assert strangers(files_of_the_package()) == set()


def test_what_a_ledger_leaves_is_seen_and_a_new_source_file_is_not():
    left = {f"src/discreet/{name}" for name in LEFT}
    new = {"src/discreet/new.py", "src/discreet/apps/server/templates/new.html"}
    assert strangers(left | new | files_of_the_package()) == left


def test_nothing_lies_beside_what_is_bundled():
    package = ROOT / "src" / "discreet"
    assert discreet.__file__ == str(package / "__init__.py")
    for bundled in ("people.parquet", "demo.toml"):
        assert not sibling_path(package / "demo" / bundled).is_absolute()
        assert sibling_path(package / "demo" / bundled, ".people").parent.as_posix() == "."
    assert sibling_path(ROOT / "tests" / "x.csv") == ROOT / "tests" / "x.ledger"
