"""Where people answer: a device that keeps its reports and its limits, and a static page for browsers."""

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.asking.local.choice import Choice
from discreet.asking.local.domain import is_text
from discreet.asking.local.report import parse_fraction
from discreet.asking.local.window_number import WindowNumber
from discreet.errors import BudgetExceeded, InvalidParameter
from discreet.kernel.numerics import Real, exact_epsilon

BROWSER = Path(__file__).with_name("browser")
FILES = ("discreet-local.js", "survey.html", "survey.js")
PATIENCE = 60  # seconds to wait for another process that is answering


class Client:
    """Answers surveys from one device, whose reports are in one file.

    A report is stored before it is returned, and the same bytes are returned ever after: a second draw would
    cost epsilon again. Surveys cost at most `per_survey` each and `in_all` together. The file holds answers
    (those of permanent surveys): it belongs to the person alone.
    """

    def __init__(self, path: str | Path, *, per_survey: Real, in_all: Real) -> None:
        self._path = Path(path)
        self._per_survey = exact_epsilon(per_survey)
        self._in_all = exact_epsilon(in_all)

    @property
    def spent(self) -> Fraction:
        """What all kept reports have cost together."""
        with self._alone() as kept:
            return _total(kept.execute("SELECT epsilon FROM kept"))

    def values_held(self, survey: str) -> int:
        """Return for how many different values a permanent survey was answered: its loss is as many ε."""
        with self._alone() as kept:
            (count,) = kept.execute("SELECT count(*) FROM kept WHERE survey = ?", [survey]).fetchone()
            return int(count)

    def answer(self, survey: str, protocol: Any, value: Any) -> bytes:
        """Return the bytes to send: those kept for this survey, or those of a fresh report, kept first."""
        return self._keep(survey, None, protocol, value)

    def answer_permanently(self, survey: str, protocol: Any, value: Any) -> bytes:
        """Return the bytes to send for the value that is held now, in a survey that asks again and again.

        Each value has one report for ever, so asking again about it costs nothing; each new value costs ε.
        Privacy: n values ever held cost n·ε, against anybody whose values changed at the same times. That
        they changed, and that two reports come from one device, is not hidden: equal bytes show it.
        """
        try:
            held = json.dumps(value, sort_keys=True, allow_nan=False)
        except (TypeError, ValueError):
            raise InvalidParameter(
                "value must be text, numbers or JSON of them.", parameter="value"
            ) from None
        return self._keep(survey, held, protocol, value)

    def _keep(self, survey: str, held: str | None, protocol: Any, value: Any) -> bytes:
        if not is_text(survey):
            raise InvalidParameter("survey must be text.", parameter="survey")
        if not (hasattr(protocol, "randomize") and isinstance(getattr(protocol, "epsilon", None), Fraction)):
            raise InvalidParameter(
                "protocol must be a local protocol, such as dp.local.choice(...).", parameter="protocol"
            )
        with self._alone() as kept:
            same = kept.execute("SELECT held, epsilon, bytes FROM kept WHERE survey = ?", [survey]).fetchall()
            if any((before is None) != (held is None) for before, _, _ in same):
                raise InvalidParameter(
                    "survey must be answered once or permanently, not both. Give it another name.",
                    parameter="survey",
                )
            for before, _, text in same:
                if before == held:
                    return str(text).encode()
            price: Fraction = protocol.epsilon
            spent = _total(kept.execute("SELECT epsilon FROM kept"))
            self._check_price(_total((each,) for _, each, _ in same) + price, spent + price)
            text = json.dumps({"survey": survey, "report": protocol.randomize(value)})
            kept.execute("INSERT INTO kept VALUES (?, ?, ?, ?)", [survey, held, str(price), text])
        return text.encode()  # only now that it is stored

    def _check_price(self, for_survey: Fraction, in_all: Fraction) -> None:
        if for_survey > self._per_survey:
            raise BudgetExceeded(
                f"survey must cost at most {self._per_survey}, got {for_survey}. Nothing was drawn.",
                parameter="per_survey",
            )
        if in_all > self._in_all:
            raise BudgetExceeded(
                f"surveys must cost at most {self._in_all} in all. Nothing was drawn.",
                parameter="in_all",
            )

    @contextlib.contextmanager
    def _alone(self) -> Iterator[sqlite3.Connection]:
        """One process at a time, on every system: two could each draw a report for the same survey.

        What is written is on the disk when the block ends, whole, or not at all.
        """
        try:
            with contextlib.suppress(FileExistsError):  # readable by its owner alone from the start
                os.close(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            with contextlib.closing(
                sqlite3.connect(self._path, timeout=PATIENCE, isolation_level=None)
            ) as kept:
                kept.execute("PRAGMA synchronous = EXTRA")
                kept.execute("BEGIN IMMEDIATE")
                kept.execute(
                    "CREATE TABLE IF NOT EXISTS kept (survey TEXT, held TEXT, epsilon TEXT, bytes TEXT)"
                )
                yield kept
                kept.execute("COMMIT")
        except (sqlite3.Error, OSError):
            raise InvalidParameter(
                f"path must be a writable file of kept reports, got {self._path}. Nothing was sent.",
                parameter="path",
            ) from None


def _total(prices: Any) -> Fraction:
    return sum((parse_fraction(price, "epsilon") for (price,) in prices), Fraction(0))


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
