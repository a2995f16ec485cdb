"""discreet audit: attack a claim from the command line."""

import difflib
import importlib
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from typing import Any

from discreet.apps.cli.shared import Flag
from discreet.errors import InvalidParameter
from discreet.kernel.losses import ApproxDP

VIOLATED = 1  # exit code: neither success nor one of our errors
ASKS = 200  # of a question through the whole stack
SAMPLES = 100_000  # of a question's releases


def audit(
    target: str,
    *parameters: str,
    claim: float | None = None,
    delta: float | None = None,
    policy: Path | None = None,
    epsilon: float | None = None,
    rho: float | None = None,
    asks: int | None = None,
    neighbours: str | None = None,
    confidence: float = 1 - 1e-6,
    samples: int | None = None,
    seconds: float = 60,
    picture: str | None = None,
    json: Flag = False,
) -> None:
    """Try to refute a privacy claim; the exit code is 1 if it is violated.

    Example, a mechanism by name: discreet audit Laplace epsilon=1 sensitivity=1

    Example, a function of yours: discreet audit my_module:my_mechanism --claim 1 --neighbours "[0, 1]"

    Example, a question: discreet audit "SELECT COUNT(*) AS n FROM people" --policy people.toml --epsilon 0.5

    Parameters
    ----------
    target
        A mechanism of discreet by name, a Python function f(data, n) as module:function, or with --policy a
        question, which is asked of data invented in the policy's domain; real data is never opened.
    parameters
        The mechanism's parameters, as name=value.
    claim
        The epsilon that is claimed. By default the mechanism's own loss.
    delta
        The delta that is claimed with it; of a question, the delta of its price.
    policy
        The policy file of the data set that a question is about.
    epsilon
        The price of a question.
    rho
        The price of a question, in place of epsilon.
    asks
        How often a question is asked of each neighbour through the whole stack; by default 200 times.
    neighbours
        A pair of neighbouring data as JSON, [D, D'], or a list of such pairs.
    confidence
        How sure a refutation must be.
    samples
        Outputs of each neighbour. By default more and more until refuted or out of time; of a question, the
        releases from exact tables.
    seconds
        No stage is begun that would last longer.
    picture
        Save the attacks against the claim's limit as this file (.html; .png and .svg need a Chromium).
    json
        Print the report as JSON, with the counts it follows from.
    """
    import discreet as dp

    report: Any
    about_questions = {"epsilon": epsilon, "rho": rho, "asks": asks}
    about_others = {"claim": claim, "neighbours": neighbours, "parameters": parameters or None}
    with _progress(quiet=json) as progress:
        if policy is not None:
            _refuse(about_others, "a question is audited at its price, on data that are invented")
            report = dp.audit_question(
                target,
                policy=policy,
                epsilon=epsilon,
                delta=delta,
                rho=rho,
                asks=ASKS if asks is None else asks,
                confidence=confidence,
                seconds=seconds,
                samples=SAMPLES if samples is None else samples,
                progress=progress,
            )
        else:
            _refuse(about_questions, "it is for a question, which needs --policy")
            found, promise = _claimed(target, parameters, claim, delta)
            report = dp.audit(
                found,
                claim=promise,
                neighbours=None if neighbours is None else _read_neighbours(neighbours),
                confidence=confidence,
                samples=samples,
                seconds=seconds,
                progress=progress,
            )
    if picture is not None:
        dp.pictures.trade_off(getattr(report, "sampled", report)).save(picture)
    print(report.to_json() if json else report)
    sys.exit(VIOLATED if report.violated else 0)


def _refuse(options: dict[str, Any], reason: str) -> None:
    """Raise for options that would be ignored."""
    for name, value in options.items():
        if value is not None:
            raise InvalidParameter(f"{name} must not be given here: {reason}.", parameter=name)


def _claimed(
    target: str, parameters: tuple[str, ...], claim: float | None, delta: float | None
) -> tuple[Any, Any]:
    """Return what is audited and its claim: by default a mechanism's own loss."""
    if ":" in target:
        _refuse({"parameters": parameters or None}, "they are for a mechanism by name")
    found: Any = _function(target) if ":" in target else _mechanism(target, parameters)
    if claim is None and not hasattr(found, "loss"):
        raise InvalidParameter("claim must be given for a function. Add --claim.", parameter="claim")
    if claim is None and delta is not None:
        raise InvalidParameter("delta must come with the epsilon of a claim. Add --claim.", parameter="delta")
    if claim is None:
        return found, found.loss
    return found, ApproxDP(claim, delta) if delta else claim


def _function(path: str) -> Callable[..., Any]:
    """Return the function that module:function names, also from the current folder."""
    module, _, name = path.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        function = getattr(importlib.import_module(module), name)
    except Exception as failed:  # a module may raise anything while it is imported
        reason = f"{type(failed).__name__}: {failed}"
        raise InvalidParameter(
            f"target must name a function as module:function, got {path!r} ({reason})."
        ) from failed
    if not callable(function):
        raise InvalidParameter(f"target must name a function, got {path!r}.", parameter="target")
    called: Callable[..., Any] = function
    return called


def _mechanism(name: str, parameters: tuple[str, ...]) -> Any:
    """Return the mechanism of this name with parameters such as epsilon=1."""
    from discreet.kernel import mechanisms

    kind = {known.__name__.lower(): known for known in mechanisms.ALL}.get(name.lower())
    if kind is None:
        known = ", ".join(each.__name__ for each in mechanisms.ALL)
        by_name = {each.__name__.lower(): each.__name__ for each in mechanisms.ALL}
        near = difflib.get_close_matches(name.lower(), by_name, n=1)
        hint = f" Did you mean {by_name[near[0]]}?" if near else ""
        raise InvalidParameter(f"target must be one of {known}, or module:function, got {name!r}.{hint}")
    given = {}
    for parameter in parameters:
        key, equals, value = parameter.partition("=")
        if not equals:
            raise InvalidParameter(f"a parameter must be written name=value, got {parameter!r}.")
        given[key] = _value(value)
    taken = signature(kind).parameters
    unknown = [each for each in given if each not in taken]
    missing = [each.name for each in taken.values() if each.default is each.empty and each.name not in given]
    if unknown or missing:
        raise InvalidParameter(
            f"{kind.__name__} must be given {', '.join(taken)}, got "
            f"{'no ' + ' and no '.join(missing) if missing else ' and '.join(map(repr, unknown))}."
        )
    return kind(**given)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def _read_neighbours(text: str) -> Any:
    """Read a pair, or a list of pairs, from JSON."""
    found = _value(text)
    if not isinstance(found, list) or len(found) < 1:
        raise InvalidParameter("neighbours must be JSON such as [0, 1] or [[[1], [1, 2]]].")
    if all(isinstance(pair, list) and len(pair) == 2 for pair in found) and len(found) != 2:
        return [tuple(pair) for pair in found]
    if len(found) != 2:
        raise InvalidParameter("neighbours must be a pair [D, D'] or a list of pairs.")
    return tuple(found)


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Yield a function that shows progress on a terminal, and does nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield lambda message: None
        return
    from rich.console import Console

    with Console(stderr=True).status("sampling") as status:
        yield status.update
