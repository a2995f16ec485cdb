"""A person's own device: reports are kept before they are sent, and epsilon is kept within limits."""

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.asking.local.report import parse_fraction
from discreet.errors import BudgetExceeded, InvalidParameter
from discreet.kernel.numerics import Real, exact_epsilon


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
        return sum((parse_fraction(entry["epsilon"], "epsilon") for entry in self._read()), Fraction(0))

    def values_held(self, survey: str) -> int:
        """Return for how many different values a permanent survey was answered: its loss is as many ε."""
        return sum(1 for entry in self._read() if entry["survey"] == survey)

    def answer(self, survey: str, protocol: Any, value: Any) -> bytes:
        """Return the bytes to send: those kept for this survey, or those of a fresh report, kept first."""
        return self._keep(survey, None, protocol, value)

    def answer_permanently(self, survey: str, protocol: Any, value: Any) -> bytes:
        """Return the bytes to send for the value that is held now, in a survey that asks again and again.

        Each value has one report for ever, so asking again about it costs nothing; each new value costs ε.
        Privacy: n values ever held cost n·ε, against anybody whose values changed at the same times. That
        they changed, and that two reports come from one device, is not hidden: equal bytes show it.
        """
        return self._keep(survey, json.dumps(value), protocol, value)

    def _keep(self, survey: str, held: str | None, protocol: Any, value: Any) -> bytes:
        if not isinstance(survey, str):
            raise InvalidParameter("survey must be text.", parameter="survey")
        with self._locked():
            entries = self._read()
            same = [entry for entry in entries if entry["survey"] == survey]
            if any((entry["held"] is None) != (held is None) for entry in same):
                raise InvalidParameter(
                    "survey must be answered once or permanently, not both. Give it another name.",
                    parameter="survey",
                )
            for entry in same:
                if entry["held"] == held:
                    return str(entry["bytes"]).encode()
            self._check_price(sum(self._prices(same), protocol.epsilon), protocol.epsilon)
            text = json.dumps({"survey": survey, "report": protocol.randomize(value)})
            price = str(protocol.epsilon)
            entries.append({"survey": survey, "held": held, "epsilon": price, "bytes": text})
            self._write(entries)
            return text.encode()

    def _check_price(self, for_survey: Fraction, price: Fraction) -> None:
        if for_survey > self._per_survey:
            raise BudgetExceeded(
                f"survey must cost at most {self._per_survey}, got {for_survey}. Nothing was drawn.",
                parameter="per_survey",
            )
        if self.spent + price > self._in_all:
            raise BudgetExceeded(
                f"surveys must cost at most {self._in_all} in all. Nothing was drawn.",
                parameter="in_all",
            )

    @staticmethod
    def _prices(entries: list[dict[str, Any]]) -> list[Fraction]:
        return [parse_fraction(entry["epsilon"], "epsilon") for entry in entries]

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """One process at a time: two could each draw a report for the same survey."""
        with open(self._path.with_name(self._path.name + ".lock"), "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _read(self) -> list[dict[str, Any]]:
        if not self._path.exists():
            return []
        try:
            entries = json.loads(self._path.read_text(encoding="utf-8"))
        except ValueError:
            raise InvalidParameter(
                f"path must be a file of kept reports, got {self._path}.", parameter="path"
            ) from None
        return list(entries)

    def _write(self, entries: list[dict[str, Any]]) -> None:
        """Durably and whole, or not at all: only then may a report leave."""
        draft = self._path.with_name(self._path.name + ".new")
        with open(
            os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8"
        ) as file:
            json.dump(entries, file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self._path)
        folder = os.open(self._path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
