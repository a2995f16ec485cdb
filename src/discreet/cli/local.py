"""discreet local: randomise answers where they are, and estimate from the reports elsewhere."""

import json as json_format
import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from discreet.errors import InvalidParameter

app = App(name="local", help="Local privacy: randomise answers where they are, estimate from reports alone.")

Json = Annotated[bool, Parameter(negative="")]


@app.command
def randomize(
    answers: Path,
    *,
    epsilon: float,
    values: list[str] | None = None,
    bounds: tuple[float, float] | None = None,
    noise: str = "window",
    json: Json = False,
) -> None:
    """Turn a file of true answers, one on each line, into reports that are safe to send.

    Example: discreet local randomize answers.txt --epsilon 1 --values tea --values coffee > reports.json

    Example: discreet local randomize skipped.txt --epsilon 1 --bounds 0 15 > reports.json

    Parameters
    ----------
    answers
        One answer on each line; each line is one person.
    epsilon
        What each report costs its sender. A second report of the same person costs it again.
    values
        The public values an answer may have; give the option once for each.
    bounds
        The public bounds of a number.
    noise
        For numbers: window (least error) or laplace (the textbook's).
    json
        Errors as JSON too; reports always are.
    """
    from discreet import local

    if (values is None) == (bounds is None):
        raise InvalidParameter("exactly one of values and bounds must be given.", parameter="values")
    lines = _lines(answers)
    if values is not None:
        protocol: Any = local.choice(values=values, epsilon=epsilon)
        reports = protocol.randomize(lines)
    else:
        protocol = local.number(bounds=bounds or (0, 1), epsilon=epsilon, noise=noise)
        reports = protocol.randomize([_number(line) for line in lines])
    print(json_format.dumps({"protocol": protocol.to_json(), "reports": reports}))
    print(f"note: {protocol.describe()}", file=sys.stderr)


@app.command
def estimate(*reports: Path, confidence: float = 0.95, json: Json = False) -> None:
    """Estimate shares or a mean from one or more files of reports made with one protocol.

    Example: discreet local estimate monday.json tuesday.json --confidence 0.99

    Parameters
    ----------
    reports
        Files that `discreet local randomize` wrote.
    confidence
        Of the intervals.
    json
        Print JSON.
    """
    from discreet import local

    read = [_read_reports(path) for path in reports]
    if not read:
        raise InvalidParameter("at least one file of reports must be given.", parameter="reports")
    if any(protocol != read[0][0] for protocol, _ in read):
        raise InvalidParameter("all reports must be made with one protocol.", parameter="reports")
    protocol = local.from_json(read[0][0])
    received = [report for _, some in read for report in some]
    found: Any = protocol.estimate(received, confidence=confidence)
    shares = found if isinstance(found, dict) else {"mean": found}
    if json:
        rows = {str(name): _as_json(share) for name, share in shares.items()}
        print(json_format.dumps({"reports": len(received), "estimates": rows}))
        return
    price = protocol.compare(people=len(received))
    for name, share in shares.items():
        print(f"{name}: {share}")
    print(
        f"{len(received)} reports; the error is {price.ratio:.3g} times that of a trusted curator's answer."
    )


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


def _read_reports(path: Path) -> tuple[dict[str, Any], list[Any]]:
    try:
        stored = json_format.loads(path.read_text(encoding="utf-8"))
        protocol, reports = stored["protocol"], stored["reports"]
    except (OSError, ValueError, KeyError, TypeError):
        raise InvalidParameter(
            f"reports must be a file of reports, got {path}.", parameter="reports"
        ) from None
    if not isinstance(protocol, dict) or not isinstance(reports, list):
        raise InvalidParameter(f"reports must be a file of reports, got {path}.", parameter="reports")
    return protocol, reports
