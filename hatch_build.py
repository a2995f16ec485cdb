"""Puts Plotly's script into the package when it is built: pages and images then draw without a network.

Of the Python package that ships the script nothing else is used, so it is needed to build and not to run.
"""

from importlib import metadata
from pathlib import Path
from shutil import copyfile
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# What is taken, by the end of its path in Plotly's package, and its name in ours (git ignores both).
TAKEN = {"package_data/plotly.min.js": "plotly.min.js", "licenses/LICENSE.txt": "plotly.LICENSE.txt"}
FOLDER = Path("src", "discreet", "apps", "pictures")


class PlotlyScript(BuildHookInterface):
    """Runs for wheels and for editable installations alike."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Copy the script, and the licence that it comes under."""
        files = metadata.files("plotly") or ()
        for ending, name in TAKEN.items():
            (found,) = (file for file in files if file.as_posix().endswith(ending))
            source, target = Path(str(found.locate())), Path(self.root) / FOLDER / name
            if not target.exists() or target.read_bytes() != source.read_bytes():  # it may be in use
                copyfile(source, target)
