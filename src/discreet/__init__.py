"""discreet: differential privacy that is exact, secure and fast.

The public names are listed once, in the stub beside this file, and each is loaded when first used:
`import discreet as dp` costs milliseconds, whatever the package grows into.
"""

import ast
import importlib
from pathlib import Path

__version__ = "0.1.0"


def _read_public_names() -> dict[str, str]:
    """Public name -> the module it lives in, from the stub's `from discreet.x import name as name` lines."""
    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    return {
        alias.name: statement.module or ""
        for statement in stub.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }


_HOME = _read_public_names()
__all__ = tuple(sorted(_HOME))


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'discreet' has no public name {name!r}")
    if _HOME[name] == "discreet":
        value: object = importlib.import_module(f"discreet.{name}")
    else:
        value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
