import subprocess
import sys

import discreet as dp


def test_every_public_name_loads():
    for name in dp.__all__:
        assert getattr(dp, name) is not None


def test_an_unknown_name_is_an_attribute_error():
    assert not hasattr(dp, "no_such_name")


def test_importing_loads_no_third_party():
    heavy = ("numpy", "flint", "duckdb", "sqlglot", "pandas")
    script = f"import sys, discreet; print([name for name in {heavy} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
