"""Several questions to one person for one price: all with a part of it, or some of them with more."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from discreet.asking.local.choice import Choice, _shuffle_first
from discreet.asking.local.domain import Domain
from discreet.asking.local.projective import ProjectiveChoice, choose_protocol
from discreet.asking.local.report import AGAIN, BoundedNumber, Mean, listed, read_field, read_fraction
from discreet.asking.local.shares import Shares
from discreet.asking.local.sources import Groups, read_reports
from discreet.asking.local.wave_number import Distribution, WaveNumber
from discreet.asking.local.window_number import LaplaceNumber, WindowNumber
from discreet.errors import InvalidParameter
from discreet.kernel.losses import PrivacyLoss, pure
from discreet.kernel.numerics import Real, exact_epsilon, exact_probability, exact_whole
from discreet.kernel.randomness import Source, fresh_source

Protocol = Choice | ProjectiveChoice | WindowNumber | WaveNumber
Found = Shares | Mean | Distribution


@dataclass(frozen=True, init=False)
class Questions:
    """Each person answers `asked` of the questions, drawn evenly whatever the answers are, at ε/asked each.

    Privacy: ε-DP for a whole report, when all answers of a person are replaced: the questions drawn do not
    depend on them, and asked reports of ε/asked each add up to ε.
    Accuracy: an estimate has d/asked times the variance of the report at ε/asked, and that of asking some of
    the people; `asked` is the number with the least mean over the d questions. Intervals are for those asked.
    """

    protocol: ClassVar[str] = "questions"

    protocols: Mapping[str, Protocol]
    epsilon: Fraction
    asked: int

    def __init__(self, questions: Mapping[str, Mapping[str, Any]], *, epsilon: Real) -> None:
        price = exact_epsilon(epsilon)
        if (
            not isinstance(questions, Mapping)
            or not questions
            or not all(isinstance(n, str) for n in questions)
        ):
            raise InvalidParameter("questions must be at least one, by name.", parameter="questions")
        options = {
            asked: {name: _protocol(terms, price / asked) for name, terms in questions.items()}
            for asked in range(1, len(questions) + 1)
        }
        best = min(options, key=lambda asked: _error(options[asked], asked))
        self._set(options[best], price, best)

    def _set(self, protocols: Mapping[str, Protocol], epsilon: Fraction, asked: int) -> None:
        object.__setattr__(self, "protocols", protocols)
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(self, "asked", asked)

    @property
    def loss(self) -> PrivacyLoss:
        """What one whole report costs its sender."""
        return pure(epsilon=self.epsilon, relation="local")

    # --- the client ----------------------------------------------------------------------------------------

    def randomize(self, answers: Any) -> Any:
        """Return the report of one person, who answers by name, or a list for a list of people."""
        people = listed(answers)
        reports = self._randomize([answers] if people is None else people, fresh_source())
        return reports[0] if people is None else reports

    def _randomize(self, people: list[Any], source: Source) -> list[dict[str, Any]]:
        """Words in order: which questions, by the first steps of a shuffle; then each report, by question."""
        names = list(self.protocols)
        if any(not isinstance(person, Mapping) or set(person) != set(names) for person in people):
            raise InvalidParameter("answers must have one value for each question.", parameter="answers")
        for name, protocol in self.protocols.items():  # all of them: a refusal must not tell which was drawn
            _check_answers(protocol, [person[name] for person in people])
        drawn = _shuffle_first(len(names), self.asked, len(people), source)
        reports: list[dict[str, Any]] = [{} for _ in people]
        for place, name in enumerate(names):
            here = np.flatnonzero((drawn == place).any(axis=1)).tolist()
            some = self.protocols[name]._randomize([people[i][name] for i in here], source) if here else []
            for i, report in zip(here, some, strict=True):
                reports[i][name] = report
        return reports

    # --- the collector -------------------------------------------------------------------------------------

    def collect(self, reports: Any, *, column: str = "report") -> "Answers":
        """Return what is behind reports, question by question: a list, or a column of a frame, of a file of
        JSON lines or of a table, where a report holds null for questions that were not asked.
        """
        given = read_reports(reports, column=column)
        seen, many = (given.reports, given.counts) if isinstance(given, Groups) else (given, None)
        read = self._by_question(seen)
        counts = np.ones(len(read), dtype=np.int64) if many is None else many
        found: dict[str, Found] = {}
        for name, protocol in self.protocols.items():
            here = [i for i, report in enumerate(read) if name in report]
            if here:
                found[name] = protocol.collect(Groups([read[i][name] for i in here], counts[here]))
        return Answers(self, int(counts.sum()), found)

    def _by_question(self, reports: Any) -> list[dict[str, Any]]:
        read = [_asked(report) for report in reports]
        if any(len(report) != self.asked or set(report) - set(self.protocols) for report in read):
            raise InvalidParameter(
                f"a report must answer {self.asked} of the questions.", parameter="reports"
            )
        return read

    def check(self, report: Any) -> None:
        """Refuse what is no report of this protocol."""
        for name, each in self._by_question([report])[0].items():
            self.protocols[name].check(each)

    def from_tally(self, tally: dict[str, Any]) -> "Answers":
        """Return the answers that `Answers.to_json` wrote."""
        reports = exact_whole(read_field(tally, "reports"), name="reports", least=1)
        stored = read_field(tally, "answers")
        if not isinstance(stored, dict) or not stored.keys() <= set(self.protocols):
            raise InvalidParameter("a tally must be of the questions asked.", parameter="answers")
        found: dict[str, Found] = {
            name: self.protocols[name].from_tally(each) for name, each in stored.items()
        }
        if sum(each.reports for each in found.values()) != reports * self.asked:
            raise InvalidParameter("a tally must hold all answers of its reports.", parameter="answers")
        return Answers(self, reports, found)

    def estimate(self, reports: Any, *, confidence: Real = 0.95, liars: Real = 0) -> dict[str, Any]:
        """Return for each question what its protocol estimates, among those who were asked it."""
        if listed(reports) is None:
            raise InvalidParameter("reports must be a list.", parameter="reports")
        return self.collect(reports).estimates(confidence=confidence, liars=liars)

    def to_json(self) -> dict[str, Any]:
        """Return the public protocol, exactly; questions are a list because their order matters."""
        listed_protocols = [
            {"name": name, "protocol": protocol.to_json()} for name, protocol in self.protocols.items()
        ]
        return {
            "protocol": self.protocol,
            "version": 1,
            "epsilon": str(self.epsilon),
            "asked": self.asked,
            "questions": listed_protocols,
        }

    @classmethod
    def from_json(cls, protocol: dict[str, Any]) -> "Questions":
        """Return the questions that were stored; each must cost its part of epsilon."""
        epsilon = exact_epsilon(read_fraction(protocol, "epsilon"))
        asked = exact_whole(read_field(protocol, "asked"), name="asked", least=1)
        stored = read_field(protocol, "questions")
        fields = (
            [each if isinstance(each, dict) else {} for each in stored] if isinstance(stored, list) else []
        )
        names = [each.get("name") for each in fields]
        if not names or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
            raise InvalidParameter("questions must have different names.", parameter="questions")
        protocols = {each["name"]: from_json(read_field(each, "protocol")) for each in fields}
        same = all(isinstance(p, Protocol) and p.epsilon * asked == epsilon for p in protocols.values())
        if asked > len(names) or not same:
            raise InvalidParameter(
                "questions must each cost epsilon/asked. Make the protocol anew.", parameter="questions"
            )
        made = object.__new__(cls)
        made._set(protocols, epsilon, asked)
        return made

    def describe(self) -> str:
        """Return one sentence for those who are asked."""
        return (
            f"Each report answers {self.asked} of {len(self.protocols)} questions, drawn at random, and is "
            f"{self.epsilon}-differentially private as a whole. {AGAIN}"
        )


@dataclass(frozen=True, eq=False)
class Answers:
    """What the collector of several questions has: shares, a mean or a distribution for each."""

    protocol: Questions
    reports: int
    found: Mapping[str, Found]

    def __post_init__(self) -> None:
        if self.reports < 1:
            raise InvalidParameter("reports must hold at least one report, got none.", parameter="reports")

    def __add__(self, more: "Answers") -> "Answers":
        """Return the answers of both together; they must be of one protocol."""
        if not isinstance(more, Answers):
            return NotImplemented
        if more.protocol != self.protocol:
            raise InvalidParameter("reports must be of one protocol.", parameter="reports")
        both: dict[str, Any] = dict(self.found)
        for name, each in more.found.items():
            both[name] = both[name] + each if name in both else each
        return Answers(self.protocol, self.reports + more.reports, both)

    def liars_among(self, name: str, liars: Real) -> Fraction:
        """Return the largest share of liars among those who answered one question: they choose which."""
        share = exact_probability(liars, name="liars")
        return min(Fraction(math.ceil(share * self.reports), self.found[name].reports), Fraction(1))

    def estimates(self, *, confidence: Real = 0.95, liars: Real = 0) -> dict[str, Any]:
        """Return for each question that was asked what its protocol estimates: shares by value, a mean, or a
        distribution."""
        exact_probability(liars, name="liars")
        result: dict[str, Any] = {}
        for name, each in self.found.items():
            among = self.liars_among(name, liars)
            if isinstance(each, Shares):
                result[name] = each.estimates(confidence=confidence, liars=among)
            elif isinstance(each, Mean):
                result[name] = each.estimate(confidence=confidence, liars=among)
            else:
                result[name] = each
        return result

    def to_json(self) -> dict[str, Any]:
        """Return the counts, which are all that an estimate needs."""
        answers = {name: each.to_json() for name, each in self.found.items()}
        return {"reports": self.reports, "answers": answers}


KINDS: tuple[Any, ...] = (Choice, ProjectiveChoice, WaveNumber, WindowNumber, LaplaceNumber, Questions)


def from_json(protocol: str | dict[str, Any]) -> Any:
    """Return the protocol that `to_json` wrote: both halves can be run from it, apart.

    >>> ask = WindowNumber(bounds=(0, 15), epsilon=1)
    >>> from_json(ask.to_json()) == ask
    True
    """
    if isinstance(protocol, str):
        try:
            protocol = json.loads(protocol)
        except (json.JSONDecodeError, RecursionError):
            raise InvalidParameter("a protocol must be JSON.", parameter="protocol") from None
    fields: dict[str, Any] = protocol if isinstance(protocol, dict) else {}
    if fields.get("version") != 1:
        raise InvalidParameter("a protocol must be an object of version 1.", parameter="version")
    for known in KINDS:
        if fields.get("protocol") == known.protocol:
            return known.from_json(fields)
    names = ", ".join(known.protocol for known in KINDS)
    raise InvalidParameter(f"a protocol must name its kind: {names}.", parameter="protocol")


def _asked(report: Any) -> dict[str, Any]:
    """The answers of a report by question, without those that were not asked."""
    if not isinstance(report, Mapping):
        raise InvalidParameter("a report must answer questions by name.", parameter="reports")
    return {name: each for name, each in report.items() if each is not None}


def _protocol(terms: Mapping[str, Any], epsilon: Fraction) -> Protocol:
    if not isinstance(terms, Mapping):
        raise InvalidParameter("a question must have values, a domain or bounds.", parameter="questions")
    if set(terms) == {"bounds"}:
        return WindowNumber(bounds=terms["bounds"], epsilon=epsilon)
    if set(terms) == {"bounds", "bins"}:
        return WaveNumber(bounds=terms["bounds"], epsilon=epsilon, bins=terms["bins"])
    if set(terms) - {"values", "domain", "seed"}:
        raise InvalidParameter("a question must have values, a domain or bounds.", parameter="questions")
    return choose_protocol(Domain.of(**terms), epsilon)


def _check_answers(protocol: Protocol, answers: list[Any]) -> None:
    if isinstance(protocol, BoundedNumber):
        for answer in answers:
            protocol._clamp(answer)
    else:
        protocol.domain.places(answers)


def _error(protocols: Mapping[str, Protocol], asked: int) -> float:
    """n times the mean variance of an estimate, in parts of its range: d/asked·(variance of a report), and at
    most (d/asked - 1)/4 for having asked some people and not others.
    """
    total, fewer = 0.0, len(protocols) / asked
    for protocol in protocols.values():
        width = float(protocol.bounds[1] - protocol.bounds[0]) if isinstance(protocol, BoundedNumber) else 1.0
        total += fewer * float(protocol.variance) / width**2 + (fewer - 1) / 4
    return total / len(protocols)
