"""What the extras add to an installation, summed from the files that the packages bring.

The bytecode that an installer may compile beside them is not counted: it is a cache, a third more.
"""

import re
from importlib import metadata

from packaging.requirements import Requirement

MOST_MB = 80


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
    paths = (file.locate() for file in metadata.files(name) or () if file.suffix != ".pyc")
    return sum(path.stat().st_size for path in paths if path.is_file()) / 1e6


def added(extras):
    every, core = needed("discreet", extras), needed("discreet", ())
    return {name for name, _ in every} - {name for name, _ in core}


def test_the_server_and_the_pictures_together_add_little():
    sizes = {name: size_mb(name) for name in added(("server", "pictures"))}
    assert {"fastapi", "uvicorn", "starlette", "jinja2", "plotly"} <= set(sizes)
    assert min(sizes[name] for name in ("fastapi", "starlette", "jinja2")) > 0.1  # their files were found
    assert sum(sizes.values()) < MOST_MB, sizes
