"""discreet local: randomise answers where they are, and estimate from the reports elsewhere."""

import functools
import json as json_format
import operator
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from cyclopts import App, Parameter

from discreet.errors import InvalidParameter
from discreet.kernel.numerics import Estimate, Interval, short_up

app = App(name="local", help="Local privacy: randomise answers where they are, estimate from reports alone.")

Json = Annotated[bool, Parameter(negative="")]
SMALL = 64  # values up to which all are printed
COUNT_FIRST = "A table of reports is counted first: discreet local collect."


@app.command
def randomize(
    answers: Path,
    *,
    epsilon: float,
    values: list[str] | None = None,
    domain: int | None = None,
    seed: str | None = None,
    bounds: tuple[float, float] | None = None,
    bins: int | None = None,
    noise: str = "window",
    questions: Path | None = None,
    json: Json = False,
) -> None:
    """Turn a file of true answers, one on each line, into reports that are safe to send.

    Example: discreet local randomize answers.txt --epsilon 1 --values tea --values coffee > reports.json

    Example: discreet local randomize skipped.txt --epsilon 1 --bounds 0 15 > reports.json

    Example: discreet local randomize urls.txt --epsilon 2 --domain 1000000 --seed june > reports.json

    Example: discreet local randomize people.jsonl --epsilon 2 --questions questions.json > reports.json

    Parameters
    ----------
    answers
        One answer on each line; each line is one person.
    epsilon
        What each report costs its sender. A second report of the same person costs it again.
    values
        The public values an answer may have; give the option once for each.
    domain
        How many values there are, if answers are the whole numbers below it.
    seed
        With domain: answers are any text, hashed with this public seed.
    bounds
        The public bounds of a number.
    bins
        With bounds: report for the whole distribution, in this many bins, and not for the mean.
    noise
        For means: window (least error) or laplace (the textbook's).
    questions
        Several answers of each person: a JSON file such as {"drink": {"values": ["tea", "coffee"]}, "age":
        {"bounds": [0, 100]}}; each line of answers is then a JSON object with a value for every question.
    json
        Errors as JSON too; reports always are.
    """
    from discreet.asking import local

    given = [values, domain, bounds, questions]
    if sum(each is not None for each in given) != 1:
        raise InvalidParameter(
            "exactly one of values, domain, bounds and questions must be given.", parameter="values"
        )
    lines: list[Any] = _lines(answers)
    protocol: Any
    if questions is not None:
        protocol = local.Questions(_read_json(questions, "questions"), epsilon=epsilon)
        lines = [_object(line) for line in lines]
    elif bounds is None:
        protocol = local.choice(values=values, domain=domain, seed=seed, epsilon=epsilon)
        lines = [_whole(line) for line in lines] if domain is not None and seed is None else lines
    else:
        lines = [_number(line) for line in lines]
        if bins is None:
            protocol = local.number(bounds=bounds, epsilon=epsilon, noise=noise)
        else:
            protocol = local.distribution(bounds=bounds, epsilon=epsilon, bins=bins)
    print(json_format.dumps({"protocol": protocol.to_json(), "reports": protocol.randomize(lines)}))
    print(f"note: {protocol.describe()}", file=sys.stderr)


@app.command
def shuffle(
    messages: Path,
    *,
    protocol: Path,
    people: int,
    delta: float,
    run_by: str,
    collector: str,
    json: Json = False,
) -> None:
    """Forget who sent what: print the reports of a batch alone, in random order, for the collector.

    Example: discreet local shuffle batch.jsonl --protocol protocol.json --people 10000 --delta 1e-8
    --run-by relay --collector office > reports.json

    Parameters
    ----------
    messages
        One JSON object on each line: "sender", "report", and whatever else arrived, which is dropped.
    protocol
        A file with the public protocol, or any file that `discreet local randomize` wrote.
    people
        Wait for at least so many senders: with fewer, nothing is printed.
    delta
        Of the loss that is stated.
    run_by
        Who runs this command. It must not be the collector, who would see who sent what.
    collector
        Who gets the reports.
    json
        Errors as JSON too; reports always are.
    """
    from discreet.asking import local

    known = local.from_json(_read_protocol(protocol))
    strips = {"token", "address", "time", "order"}  # a report is all that is printed
    shuffler = local.Shuffler(
        known, people=people, delta=delta, run_by=run_by, collector=collector, strips=strips
    )
    arrived = ((line, _object(line)) for line in _lines(messages))
    mixed = shuffler.mix((_sender(message), line) for line, message in arrived)
    print(json_format.dumps({"protocol": known.to_json(), "reports": mixed}))
    price = short_up(shuffler.loss.epsilon)
    print(
        f"note: a report costs at most ({price}, {delta}) towards {collector} and {known.epsilon} towards "
        f"{run_by}, who sees its sender.",
        file=sys.stderr,
    )


@app.command
def collect(*reports: Path, protocol: Path, column: str = "report", json: Json = False) -> None:
    """Count the reports in files or tables: what is printed is all that an estimate needs, and can be added.

    Example: discreet local collect monday.parquet tuesday.parquet --protocol protocol.json > week.json

    Parameters
    ----------
    reports
        Parquet, CSV or JSON files with a column of reports, which DuckDB groups, or what `discreet local
        randomize` wrote.
    protocol
        A file with the public protocol, or any file that `discreet local randomize` wrote.
    column
        The column that holds the reports.
    json
        Errors as JSON too; counts always are.
    """
    from discreet.asking import local

    if not reports:
        raise InvalidParameter("at least one file of reports must be given.", parameter="reports")
    stored = _read_protocol(protocol)
    known = local.from_json(stored)
    found = [known.collect(_reports_of(path, known), column=column) for path in reports]
    print(json_format.dumps({"protocol": known.to_json(), "tally": _add(found).to_json()}))


@app.command
def estimate(
    *reports: Path,
    confidence: float = 0.95,
    simultaneous: Annotated[bool, Parameter(negative="")] = False,
    liars: float = 0,
    top: int = 20,
    values: list[str] | None = None,
    json: Json = False,
) -> None:
    """Estimate shares, a mean or a distribution from files of reports or counts made with one protocol.

    Example: discreet local estimate monday.json tuesday.json --confidence 0.99

    Example: discreet local estimate week.json --simultaneous --liars 0.01

    Example: discreet local estimate week.json --values /home --values /help

    Parameters
    ----------
    reports
        Files that `discreet local randomize` or `discreet local collect` wrote.
    confidence
        Of the intervals.
    simultaneous
        Make the intervals of all values hold together.
    liars
        Widen the intervals for this share of invented reports.
    top
        How many values to print, largest first, where there are more than 64.
    values
        Print the shares of these values alone; the only way to read those of hashed texts.
    json
        Print JSON.
    """
    from discreet.asking import local

    read = [_read_reports(path) for path in reports]
    if not read:
        raise InvalidParameter("at least one file of reports must be given.", parameter="reports")
    if any(protocol != read[0][0] for protocol, _ in read):
        raise InvalidParameter("all reports must be made with one protocol.", parameter="reports")
    protocol = local.from_json(read[0][0])
    found = _add(
        [protocol.from_tally(some) if isinstance(some, dict) else protocol.collect(some) for _, some in read]
    )
    if values is not None and not isinstance(found, local.Shares):
        raise InvalidParameter("values must be given for the shares of one question.", parameter="values")
    options = Options(confidence, simultaneous, liars, top, values)
    if not isinstance(found, local.Answers):
        print(json_format.dumps(_as_json(found, options)) if json else "\n".join(_describe(found, options)))
        return
    parts = {
        name: (each, options._replace(liars=found.liars_among(name, liars)))
        for name, each in found.found.items()
    }
    if json:
        listed = {name: _as_json(*part) for name, part in parts.items()}
        print(json_format.dumps({"reports": found.reports, "questions": listed}))
        return
    for name, part in parts.items():
        print(f"{name}:", *_describe(*part), sep="\n  ")


@app.command
def page(folder: Path, *, per_survey: float = 1, in_all: float = 4, json: Json = False) -> None:
    """Write a static page on which people take part in the course's surveys; it needs no server.

    Example: discreet local page surveys

    Parameters
    ----------
    folder
        Where to put it.
    per_survey
        The most epsilon that a browser spends on one survey.
    in_all
        The most that it spends on all surveys together.
    json
        Errors as JSON too.
    """
    from discreet.asking import local

    written = local.write_page(folder, per_survey=per_survey, in_all=in_all)
    print(json_format.dumps({"page": str(written)}) if json else f"open {written}")


class Options(NamedTuple):
    """How to print."""

    confidence: float
    simultaneous: bool
    liars: Any
    top: int
    values: list[str] | None


def _add(parts: list[Any]) -> Any:
    """Return what is behind all files together."""
    return functools.reduce(operator.add, parts)


def _as_json(found: Any, options: Options) -> dict[str, Any]:
    """Return all that is known, for programs."""
    common = {"reports": found.reports, "liars": float(options.liars)}
    if hasattr(found, "quantile"):
        lower, upper = found.bounds(confidence=options.confidence, liars=options.liars)
        rows = {
            name: {"value": value, "lower": ends.lower, "upper": ends.upper}
            for name, (value, ends) in _quartiles(found, options).items()
        }
        columns = {"edges": found.edges, "shares": found.shares, "lower": lower, "upper": upper}
        return common | {"quantiles": rows, **{name: column.tolist() for name, column in columns.items()}}
    moved = found.moved_by(options.liars)
    rows = {str(name): _row(share) for name, share in _estimates(found, options).items()}
    common |= {"estimates": rows, "moved_by_liars": moved}
    if not hasattr(found, "raw"):
        return common
    common["simultaneous"] = options.simultaneous
    if len(found) <= SMALL:
        names = [str(value) for value in found.protocol.values]
        common["consistent"] = dict(zip(names, found.consistent.tolist(), strict=True))
        if found.seen is not None:
            common["likeliest"] = dict(zip(names, found.likeliest.tolist(), strict=True))
    return common


def _describe(found: Any, options: Options) -> Iterator[str]:
    """Yield the lines to print, for people."""
    if hasattr(found, "quantile"):
        lower, upper = found.bounds(confidence=options.confidence, liars=options.liars)
        for i, share in enumerate(found.shares):
            yield (
                f"{found.edges[i]:g} to {found.edges[i + 1]:g}: {share:.4f}; "
                f"up to here {lower[i]:.4f} to {upper[i]:.4f}"
            )
        for name, (value, ends) in _quartiles(found, options).items():
            interval = f"{options.confidence:.0%} interval {ends.lower:g} to {ends.upper:g}"
            yield f"quantile {name}: {value:.6g} ({interval})"
        yield f"{found.reports} reports; all intervals hold together."
    else:
        for name, share in _estimates(found, options).items():
            yield f"{name}: {share}"
        ratio = found.protocol.compare(people=found.reports).ratio
        yield f"{found.reports} reports; the error is {ratio:.3g} times that of a trusted curator's answer."
    if options.liars:
        moved = found.moved_by(options.liars)
        yield f"Liars can move each number by at most {moved:.3g}: the intervals allow it."


def _quartiles(found: Any, options: Options) -> dict[str, tuple[float, Interval]]:
    quarters = [Fraction(i, 4) for i in (1, 2, 3)]
    return {
        str(share): found.quantile(share, confidence=options.confidence, liars=options.liars)
        for share in quarters
    }


def _estimates(found: Any, options: Options) -> dict[Any, Estimate]:
    """Return a mean, or the shares asked for, or all, or the largest: those are chosen by their size, so that
    their intervals hold together.
    """
    if not hasattr(found, "raw"):
        return {"mean": found.estimate(confidence=options.confidence, liars=options.liars)}
    few, domain = len(found) <= SMALL, found.protocol.domain
    if options.values is not None:
        places = domain.places(_known(options.values, domain)).tolist()
        chosen = dict(zip(options.values, places, strict=True))
    else:
        order = (
            range(len(found)) if few else (-found.raw).argsort(kind="stable")[: max(options.top, 0)].tolist()
        )
        chosen = {domain.values[i] if domain.seed is None else f"place {i}": i for i in order}
    together = options.simultaneous or not (few or options.values)
    lower, upper = found.intervals(confidence=options.confidence, simultaneous=together, liars=options.liars)
    return {
        name: Estimate(
            float(found.raw[i]),
            float(found.standard_errors[i]),
            Interval(float(lower[i]), float(upper[i])),
            options.confidence,
        )
        for name, i in chosen.items()
    }


def _known(given: list[str], domain: Any) -> list[Any]:
    """Return the public values that are written so."""
    if domain.seed is not None:
        return given
    if isinstance(domain.values, range):
        return [_whole(value, "values") for value in given]
    named = {str(value): value for value in domain.values}
    return [named.get(value) for value in given]


def _row(share: Estimate) -> dict[str, float]:
    lower, upper = share.interval
    return {"value": share.value, "standard_error": share.standard_error, "lower": lower, "upper": upper}


def _sender(message: dict[str, Any]) -> str:
    sender = message.get("sender")
    if not isinstance(sender, str):
        raise InvalidParameter('each message must have a "sender".', parameter="messages")
    return sender


def _lines(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise InvalidParameter(
            f"answers must be a readable text file, got {path}.", parameter="answers"
        ) from None
    return [line.strip() for line in text.splitlines() if line.strip()]


def _number(line: str) -> float:
    try:
        return float(line)
    except ValueError:
        raise InvalidParameter("each answer must be a number.", parameter="answers") from None


def _whole(line: str, name: str = "answers") -> int:
    try:
        return int(line)
    except ValueError:
        raise InvalidParameter(f"{name} must be whole numbers.", parameter=name) from None


def _object(line: str) -> dict[str, Any]:
    try:
        found = json_format.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InvalidParameter("each line must be a JSON object.", parameter="answers")
    return found


def _read_reports(path: Path) -> tuple[dict[str, Any], Any]:
    """The protocol of a file, and its reports as a list or its counts as an object."""
    stored = _read_json(path, "reports")
    protocol, some = stored.get("protocol"), stored.get("reports", stored.get("tally"))
    if not isinstance(protocol, dict) or not isinstance(some, list | dict):
        raise InvalidParameter(
            f"reports must be a file of reports, got {path}. {COUNT_FIRST}", parameter="reports"
        )
    return protocol, some


def _reports_of(path: Path, known: Any) -> Any:
    """A table of reports, or the list in a file that `discreet local randomize` wrote."""
    if path.suffix != ".json":
        return path
    try:
        protocol, some = _read_reports(path)
    except InvalidParameter:
        return path
    if protocol != known.to_json() or not isinstance(some, list):
        raise InvalidParameter("reports must be made with the protocol that is given.", parameter="reports")
    return some


def _read_protocol(path: Path) -> dict[str, Any]:
    stored = _read_json(path, "protocol")
    return stored["protocol"] if isinstance(stored.get("protocol"), dict) else stored


def _read_json(path: Path, name: str) -> dict[str, Any]:
    try:
        stored = json_format.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        stored = None
    if not isinstance(stored, dict):
        advice = f" {COUNT_FIRST}" if name == "reports" else ""
        raise InvalidParameter(f"{name} must be a file of {name}, got {path}.{advice}", parameter=name)
    return stored
