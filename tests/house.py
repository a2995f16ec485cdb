"""What belongs in the package's own folder, for the tests that watch it."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
MADE = ("__pycache__", "plotly.")  # what Python and the build put there


def files_of_the_package(root: Path = ROOT) -> set[str]:
    """Every file under src/, apart from what Python and the build put there."""
    found = (path.relative_to(root) for path in (root / "src").rglob("*") if path.is_file())
    return {str(path) for path in found if not any(part.startswith(MADE) for part in path.parts)}


def strangers(files: set[str], root: Path = ROOT) -> set[str]:
    """Those that git does not track and that are of no kind that the package has: ledgers, locks, journals.

    A source file that a change is about to add is none.
    """
    listed = subprocess.run(["git", "ls-files", "src"], cwd=root, capture_output=True, text=True, check=True)
    tracked = set(listed.stdout.splitlines())
    kinds = {Path(name).suffix for name in tracked}
    return {name for name in files - tracked if Path(name).suffix not in kinds}
