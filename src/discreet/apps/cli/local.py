"""discreet local: randomise answers where they are, and estimate from the reports elsewhere."""

import json as json_format
import sys
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from discreet.errors import InvalidParameter
from discreet.kernel.numerics import Estimate, Interval

app = App(name="local", help="Local privacy: randomise answers where they are, estimate from reports alone.")

Json = Annotated[bool, Parameter(negative="")]
SMALL = 64  # values up to which all are printed


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
    json: Json = False,
) -> None:
    """Turn a file of true answers, one on each line, into reports that are safe to send.

    Example: discreet local randomize answers.txt --epsilon 1 --values tea --values coffee > reports.json

    Example: discreet local randomize skipped.txt --epsilon 1 --bounds 0 15 > reports.json

    Example: discreet local randomize urls.txt --epsilon 2 --domain 1000000 --seed june > reports.json

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
    json
        Errors as JSON too; reports always are.
    """
    from discreet.asking import local

    if (values is not None) + (domain is not None) + (bounds is not None) != 1:
        raise InvalidParameter("exactly one of values, domain and bounds must be given.", parameter="values")
    lines: list[Any] = _lines(answers)
    protocol: Any
    if bounds is None:
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
def collect(*reports: Path, protocol: Path, column: str = "report", json: Json = False) -> None:
    """Count the reports in files or tables: what is printed is all that an estimate needs, and can be added.

    Example: discreet local collect monday.parquet tuesday.parquet --protocol protocol.json > week.json

    Parameters
    ----------
    reports
        Parquet, CSV or JSON files with a column of reports; they are grouped by DuckDB.
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
    stored = _read_json(protocol, "protocol")
    known: Any = local.from_json(stored["protocol"] if isinstance(stored.get("protocol"), dict) else stored)
    if not hasattr(known, "collect"):
        raise InvalidParameter(
            "protocol must be for a choice or a distribution. Means are estimated from reports.",
            parameter="protocol",
        )
    tallies = [known.collect(path, column=column).to_json() for path in reports]
    print(json_format.dumps({"protocol": known.to_json(), "tally": _add(tallies)}))


@app.command
def estimate(
    *reports: Path,
    confidence: float = 0.95,
    simultaneous: Annotated[bool, Parameter(negative="")] = False,
    liars: float = 0,
    top: int = 20,
    json: Json = False,
) -> None:
    """Estimate shares, a mean or a distribution from files of reports or counts made with one protocol.

    Example: discreet local estimate monday.json tuesday.json --confidence 0.99

    Example: discreet local estimate week.json --simultaneous --liars 0.01

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
    json
        Print JSON.
    """
    from discreet.asking import local

    read = [_read_reports(path) for path in reports]
    if not read:
        raise InvalidParameter("at least one file of reports must be given.", parameter="reports")
    if any(protocol != read[0][0] for protocol, _ in read):
        raise InvalidParameter("all reports must be made with one protocol.", parameter="reports")
    protocol: Any = local.from_json(read[0][0])
    if not hasattr(protocol, "collect"):
        received = [report for _, some in read for report in some]
        shares = {"mean": protocol.estimate(received, confidence=confidence)}
        _print(shares, len(received), protocol, extra={}, json=json)
        return
    found = _gather(protocol, [some for _, some in read])
    if hasattr(found, "quantile"):
        _print_distribution(found, confidence, json=json)
        return
    shares = _shares(found, confidence, simultaneous=simultaneous, liars=liars, top=top)
    extra = {"simultaneous": simultaneous, "liars": liars, "moved_by_liars": found.moved_by(liars)}
    if len(found) <= SMALL:
        extra["consistent"] = dict(zip(map(str, protocol.values), found.consistent.tolist(), strict=True))
    _print(shares, found.reports, protocol, extra=extra, json=json)


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


def _gather(protocol: Any, parts: list[Any]) -> Any:
    """The shares or the distribution behind all files: counts are added, reports are counted."""
    tallies = [part if isinstance(part, dict) else protocol.collect(part).to_json() for part in parts]
    return protocol.from_tally(_add(tallies))


def _add(tallies: list[dict[str, Any]]) -> dict[str, Any]:
    total = dict(tallies[0])
    for tally in tallies[1:]:
        for name, counts in tally.items():
            if isinstance(counts, list):
                total[name] = [a + b for a, b in zip(total[name], counts, strict=True)]
            else:
                total[name] += counts
    return total


def _shares(
    found: Any, confidence: float, *, simultaneous: bool, liars: float, top: int
) -> dict[Any, Estimate]:
    """All values, or the largest: those are chosen by their size, so that their intervals hold together."""
    together = simultaneous or len(found) > SMALL
    lower, upper = found.intervals(confidence=confidence, simultaneous=together, liars=liars)
    order = range(len(found)) if len(found) <= SMALL else (-found.raw).argsort(kind="stable")[:top].tolist()
    return {
        found.protocol.values[i]: Estimate(
            float(found.raw[i]),
            float(found.standard_errors[i]),
            Interval(float(lower[i]), float(upper[i])),
            confidence,
        )
        for i in order
    }


def _print(
    shares: dict[Any, Estimate], size: int, protocol: Any, *, extra: dict[str, Any], json: bool
) -> None:
    if json:
        rows = {str(name): _as_json(share) for name, share in shares.items()}
        print(json_format.dumps({"reports": size, "estimates": rows, **extra}))
        return
    for name, share in shares.items():
        print(f"{name}: {share}")
    price = protocol.compare(people=size)
    print(f"{size} reports; the error is {price.ratio:.3g} times that of a trusted curator's answer.")
    if extra.get("liars"):
        print(f"Liars can move each number by at most {extra['moved_by_liars']:.3g}: the intervals allow it.")


def _print_distribution(found: Any, confidence: float, *, json: bool) -> None:
    lower, upper = found.bounds(confidence=confidence)
    quarters = [Fraction(i, 4) for i in (1, 2, 3)]
    quantiles = {str(share): found.quantile(share, confidence=confidence) for share in quarters}
    if json:
        rows = {name: {"value": v, "lower": i.lower, "upper": i.upper} for name, (v, i) in quantiles.items()}
        columns = {"edges": found.edges, "shares": found.shares, "lower": lower, "upper": upper}
        listed = {name: column.tolist() for name, column in columns.items()}
        print(json_format.dumps({"reports": found.reports, "quantiles": rows, **listed}))
        return
    for i, share in enumerate(found.shares):
        print(
            f"{found.edges[i]:g} to {found.edges[i + 1]:g}: {share:.4f}; "
            f"up to here {lower[i]:.4f} to {upper[i]:.4f}"
        )
    for name, (value, interval) in quantiles.items():
        ends = f"{interval.lower:g} to {interval.upper:g}"
        print(f"quantile {name}: {value:.6g} ({confidence:.0%} interval {ends})")
    print(f"{found.reports} reports; all intervals hold together.")


def _as_json(share: Any) -> dict[str, float]:
    lower, upper = share.interval
    return {"value": share.value, "standard_error": share.standard_error, "lower": lower, "upper": upper}


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


def _whole(line: str) -> int:
    try:
        return int(line)
    except ValueError:
        raise InvalidParameter("each answer must be a whole number.", parameter="answers") from None


def _read_reports(path: Path) -> tuple[dict[str, Any], Any]:
    """The protocol of a file, and its reports as a list or its counts as an object."""
    stored = _read_json(path, "reports")
    protocol, some = stored.get("protocol"), stored.get("reports", stored.get("tally"))
    if not isinstance(protocol, dict) or not isinstance(some, list | dict):
        raise InvalidParameter(f"reports must be a file of reports, got {path}.", parameter="reports")
    return protocol, some


def _read_json(path: Path, name: str) -> dict[str, Any]:
    try:
        stored = json_format.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        stored = None
    if not isinstance(stored, dict):
        raise InvalidParameter(f"{name} must be a file of {name}, got {path}.", parameter=name)
    return stored
