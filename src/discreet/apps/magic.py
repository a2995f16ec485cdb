"""The notebook magic: SQL in a cell, its price in the first line, its answer below.

    %load_ext discreet

    %%discreet curator epsilon=0.1
    SELECT city, COUNT(*) AS people FROM people GROUP BY city

The answer shows its chart, its table, what it cost and what is left, and is kept: `into=people` names it.
`%%discreet curator explain epsilon=0.1` shows the plan, for nothing.

Tested by: tests/journeys/test_notebook.py
"""

import shlex
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from discreet.errors import InvalidParameter

_TERMS = ("epsilon", "delta", "rho", "within", "confidence")


class Line(NamedTuple):
    """What the first line of a cell says."""

    curator: str | None
    explain: bool
    into: str | None
    terms: dict[str, str]


def add_magic(shell: Any) -> None:
    """Add %%discreet to a shell of IPython."""

    def discreet(line: str, cell: str) -> Any:
        return run_cell(line, cell, shell.user_ns)

    shell.register_magic_function(discreet, magic_kind="cell", magic_name="discreet")


def run_cell(line: str, cell: str, names: dict[str, Any]) -> Any:
    """Ask, or explain, the question in a cell; return what the notebook shows."""
    said = read_line(line)
    curator = _find_curator(said.curator, names)
    terms = {name: _value(name, given, names) for name, given in said.terms.items()}
    if not said.explain and not {"epsilon", "rho", "within"} & terms.keys():
        raise InvalidParameter(
            f"a question must name its price; {curator.resources.describe()}. "
            "Write it in the first line: %%discreet epsilon=0.1, or look: %%discreet explain epsilon=0.1."
        )
    shown = (curator.explain if said.explain else curator.ask)(cell.strip(), **terms)
    if said.into is not None:
        names[said.into] = shown
    return shown


def read_line(line: str) -> Line:
    """Return what the first line says.

    >>> read_line("bank epsilon=0.1 into=cities")
    Line(curator='bank', explain=False, into='cities', terms={'epsilon': '0.1'})
    """
    named: list[str] = []
    terms: dict[str, str] = {}
    for word in shlex.split(line):
        name, is_term, value = word.partition("=")
        if is_term:
            terms[name] = value
        else:
            named.append(word)
    into = terms.pop("into", None)
    explain = "explain" in named
    curators = [word for word in named if word != "explain"]
    unknown: list[str | None] = [*(name for name in terms if name not in _TERMS), *curators[1:]]
    if unknown or not (into is None or into.isidentifier()):
        raise InvalidParameter(
            f"the first line must be a curator's name, explain, into=NAME and a price ({', '.join(_TERMS)}), "
            f"got {[*unknown, into][0]!r}. Write for example: %%discreet curator epsilon=0.1."
        )
    return Line(curators[0] if curators else None, explain, into, terms)


def _find_curator(name: str | None, names: Mapping[str, Any]) -> Any:
    from discreet.asking.curator import Curator

    if name is not None and hasattr(names.get(name), "ask"):
        return names[name]
    known = {each: value for each, value in names.items() if isinstance(value, Curator) and each[:1] != "_"}
    if name is None and len({id(value) for value in known.values()}) == 1:
        return next(iter(known.values()))
    raise InvalidParameter(
        f"the cell must name one curator ({', '.join(sorted(known)) or 'none is open'}), "
        f"got {name or 'no name'}. Write its name first: %%discreet curator epsilon=0.1."
    )


def _value(name: str, given: str, names: Mapping[str, Any]) -> Any:
    """Return a number, or that of a variable."""
    try:
        return Decimal(given)
    except InvalidOperation:
        if given in names:
            return names[given]
    raise InvalidParameter(
        f"{name} must be a number or a variable that is one, got {given!r}.", parameter=name
    )
