"""A copy of the tree to which a recipe of CONTRIBUTING is applied."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def copy_tree(root):
    """Copy what the tests of a recipe need."""
    for folder in ("src", "tests", "scripts", "docs"):
        shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__", "*.png"))
    shutil.copy(ROOT / "pyproject.toml", root)
    return root


def add_line(registry, line, package):
    """Add an import line after the last one of a package."""
    lines = registry.read_text().splitlines(keepends=True)
    last = max(i for i, each in enumerate(lines) if each.startswith(f"from {package}."))
    registry.write_text("".join([*lines[: last + 1], line, *lines[last + 1 :]]))


def run(tree, *command):
    """Run Python in the copy, with its own package."""
    environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
    return subprocess.run(
        [sys.executable, *command], cwd=tree, env=environment, capture_output=True, text=True, check=False
    )


def run_tests(tree, *arguments):
    """Run tests in the copy."""
    return run(tree, "-m", "pytest", "-p", "no:xdist", "-m", "not soak", *arguments)
