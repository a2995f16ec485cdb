"""A static page on which people take part in surveys: files to put anywhere, no server needed."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from discreet.asking.local.choice import Choice
from discreet.asking.local.window_number import WindowNumber
from discreet.errors import InvalidParameter
from discreet.kernel.numerics import Real, exact_epsilon

BROWSER = Path(__file__).with_name("browser")
FILES = ("discreet-local.js", "survey.html", "survey.js")


def course_surveys() -> list[dict[str, Any]]:
    """Return the surveys of a first course: socks, and skipped lectures."""
    socks = Choice(values=["yes", "no"], epsilon=1)
    skipped = WindowNumber(bounds=(0, 15), epsilon=1)
    return [
        {"id": "socks", "title": "Socks", "question": "Do you wear socks today?", "protocol": socks},
        {
            "id": "skipped-lectures",
            "title": "Skipped lectures",
            "question": "How many of 15 lectures did you skip?",
            "protocol": skipped,
        },
    ]


def write_page(
    folder: str | Path,
    surveys: Sequence[Mapping[str, Any]] | None = None,
    *,
    per_survey: Real = 1,
    in_all: Real = 4,
) -> Path:
    """Write the page into a folder and return its path.

    A survey has an id, a title, a question, a protocol, and perhaps the address of a collector. The browser
    spends at most `per_survey` on each of them and `in_all` on all that are answered in it.
    """
    listed = [{**survey, "protocol": survey["protocol"].to_json()} for survey in surveys or course_surveys()]
    if not all({"id", "title", "question"} <= survey.keys() for survey in listed):
        raise InvalidParameter("a survey must have id, title, question and protocol.", parameter="surveys")
    limits = {"perSurvey": str(exact_epsilon(per_survey)), "inAll": str(exact_epsilon(in_all))}
    text = json.dumps(limits | {"surveys": listed}, indent=1).replace("<", "\\u003c")
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        (place / name).write_bytes((BROWSER / name).read_bytes())
    (place / "surveys.js").write_text(f"globalThis.discreetSurveys = {text};\n", encoding="utf-8")
    return place / "survey.html"
