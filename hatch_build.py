"""Puts Plotly's script, compressed, into the package when it is built: it draws without a network.

Of the Python package that ships the script nothing else is used, so it is needed to build and not to run. A
wheel also gets the documentation that discreet serves, but for the contact sheets, which no page shows.
"""

import gzip
from importlib import metadata
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# What is taken, by the end of its path in Plotly's package, and its name in ours (git ignores both).
TAKEN = {"package_data/plotly.min.js": "plotly.min.js.gz", "licenses/LICENSE.txt": "plotly.LICENSE.txt"}
FOLDER = Path("src", "discreet", "apps", "pictures")
DOCUMENTS = ("ARCHITECTURE.md", "SECURITY.md", "CHANGELOG.md")
LEFT_OUT = "sheet-"  # how the names of contact sheets begin


class PlotlyScript(BuildHookInterface):
    """Runs for wheels and for editable installations alike."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Copy the script, and the licence that it comes under."""
        files = metadata.files("plotly") or ()
        for ending, name in TAKEN.items():
            (found,) = (file for file in files if file.as_posix().endswith(ending))
            source, target = Path(str(found.locate())), Path(self.root) / FOLDER / name
            content = source.read_bytes()
            content = gzip.compress(content, 9, mtime=0) if name.endswith(".gz") else content
            if not target.exists() or target.read_bytes() != content:  # it may be in use
                target.write_bytes(content)
        for other in (Path(self.root) / FOLDER).glob("plotly.*"):
            if other.name not in TAKEN.values():  # an older build's
                other.unlink()
        if version == "standard":
            build_data["force_include"].update(self._documentation())

    def _documentation(self) -> dict[str, str]:
        root = Path(self.root)
        pages = [each for each in (root / "docs").rglob("*") if each.is_file()]
        kept = [each for each in pages if not each.name.startswith(LEFT_OUT)]
        return {
            **{str(each): str(Path("discreet", each.relative_to(root))) for each in kept},
            **{str(root / name): f"discreet/docs/{name}" for name in DOCUMENTS},
        }
