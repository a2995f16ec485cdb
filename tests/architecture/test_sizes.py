"""What the extras add to an installation, summed from the files that were installed, bytecode included."""

import re
import tomllib
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

MOST_MB = 80
ROOT = Path(__file__).parents[2]


def needed(name, extras, found=None):
    """The packages that one needs with these extras, itself included, by their normal names."""
    found = set() if found is None else found
    normal = re.sub(r"[-_.]+", "-", name).lower()
    if (normal, frozenset(extras)) in found:
        return found
    found.add((normal, frozenset(extras)))
    for text in metadata.requires(name) or ():
        requirement = Requirement(text)
        wanted = [{"extra": ""}, *({"extra": extra} for extra in extras)]
        if requirement.marker is None or any(requirement.marker.evaluate(each) for each in wanted):
            needed(requirement.name, requirement.extras, found)
    return found


def size_mb(name):
    paths = (file.locate() for file in metadata.files(name) or ())
    return sum(path.stat().st_size for path in paths if path.is_file()) / 1e6


def added(extras):
    every, core = needed("discreet", extras), needed("discreet", ())
    return {name for name, _ in every} - {name for name, _ in core}


def test_the_server_and_the_pictures_together_add_little():
    sizes = {name: size_mb(name) for name in added(("server", "pictures"))}
    assert {"fastapi", "uvicorn", "starlette", "jinja2", "kaleido"} <= set(sizes)
    assert min(sizes[name] for name in ("fastapi", "starlette", "jinja2")) > 0.1  # their files were found
    assert sum(sizes.values()) < MOST_MB, sizes


def test_plotly_is_needed_to_build_and_not_to_run_and_one_version_does_both():
    """Its script is taken into the package: whoever installs that needs nothing else of it."""
    assert "plotly" not in {name for name, _ in needed("discreet", ("server", "pictures"))}
    builds = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    (pinned,) = (text for text in builds if text.startswith("plotly"))
    assert f"{pinned} " in (ROOT / "requirements" / "dev.txt").read_text()
