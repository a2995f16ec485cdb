"""discreet: differential privacy that is exact, secure and fast.

The public names are listed once, in the stub next to this file, and each is loaded when first used:
`import discreet as dp` costs milliseconds, whatever the package grows into.
"""

import ast
import importlib
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

__version__ = "0.1.0"


def _read_public_names() -> dict[str, str]:
    """Return where each public name lives, from the stub's `from discreet.x import name as name` lines."""
    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    return {
        alias.name: statement.module or ""
        for statement in stub.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }


_HOME = _read_public_names()
_PACKAGES = {name: home for name, home in _HOME.items() if home.count(".") == 1 and home != "discreet.errors"}
__all__ = tuple(sorted(_HOME))
_ALSO = {
    "sum": "bounded_sum",
    "avg": "mean",
    "average": "mean",
    "open": "Curator",
}  # what other libraries call it


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'discreet' has no public name {name!r}{_suggest(name)}")
    if name in _PACKAGES:
        value: object = importlib.import_module(f"{_HOME[name]}.{name}")
    else:
        value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def _suggest(name: str) -> str:
    from difflib import get_close_matches

    near = _ALSO.get(name) or next(iter(get_close_matches(name, _HOME, n=1, cutoff=0.75)), None)
    return f". Did you mean {near!r}?" if near else ""


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


class _PublicPackages(MetaPathFinder, Loader):
    """Let `import discreet.losses` find the package that `dp.losses` is, in whichever room it lives."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        parent, _, name = fullname.rpartition(".")
        return ModuleSpec(fullname, self) if parent == "discreet" and name in _PACKAGES else None

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = getattr(sys.modules["discreet"], module.__name__.rpartition(".")[2])


sys.meta_path.append(_PublicPackages())


def load_ipython_extension(shell: object) -> None:
    """Add the magic %%discreet to a notebook: `%load_ext discreet`."""
    importlib.import_module("discreet.apps.magic").add_magic(shell)
