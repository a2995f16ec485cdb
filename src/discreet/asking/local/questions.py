"""Several questions to one person for one price: all with a part of it, or some of them with more."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.asking.local.choice import Choice, _shuffle_first
from discreet.asking.local.domain import Domain
from discreet.asking.local.projective import ProjectiveChoice, choose_protocol
from discreet.asking.local.report import AGAIN, BoundedNumber, listed
from discreet.asking.local.window_number import WindowNumber
from discreet.errors import InvalidParameter
from discreet.kernel.losses import PrivacyLoss, pure
from discreet.kernel.numerics import Real, exact_epsilon
from discreet.kernel.randomness import Source, fresh_source

Protocol = Choice | ProjectiveChoice | WindowNumber


@dataclass(frozen=True, init=False)
class Questions:
    """Each person answers `asked` of the questions, drawn evenly whatever the answers are, at ε/asked each.

    Privacy: ε-DP for a whole report, when all answers of a person are replaced: the questions drawn do not
    depend on them, and asked reports of ε/asked each add up to ε.
    Accuracy: an estimate has d/asked times the variance of the report at ε/asked, and that of asking some of
    the people; `asked` is the number with the least mean over the d questions. Intervals are for those asked.
    """

    protocols: Mapping[str, Protocol]
    epsilon: Fraction
    asked: int

    def __init__(self, questions: Mapping[str, Mapping[str, Any]], *, epsilon: Real) -> None:
        price = exact_epsilon(epsilon)
        if not questions:
            raise InvalidParameter("questions must be at least one.", parameter="questions")
        options = {
            asked: {name: _protocol(terms, price / asked) for name, terms in questions.items()}
            for asked in range(1, len(questions) + 1)
        }
        best = min(options, key=lambda asked: _error(options[asked], asked))
        object.__setattr__(self, "protocols", options[best])
        object.__setattr__(self, "epsilon", price)
        object.__setattr__(self, "asked", best)

    @property
    def loss(self) -> PrivacyLoss:
        """What one whole report costs its sender."""
        return pure(epsilon=self.epsilon, relation="local")

    def randomize(self, answers: Any) -> Any:
        """Return the report of one person, who answers by name, or a list for a list of people."""
        people = listed(answers)
        reports = self._randomize([answers] if people is None else people, fresh_source())
        return reports[0] if people is None else reports

    def _randomize(self, people: list[Any], source: Source) -> list[dict[str, Any]]:
        names = list(self.protocols)
        if any(not isinstance(person, Mapping) or set(person) != set(names) for person in people):
            raise InvalidParameter("answers must have one value for each question.", parameter="answers")
        for name, protocol in self.protocols.items():  # all of them: a refusal must not tell which was drawn
            _check_answers(protocol, [person[name] for person in people])
        drawn = _shuffle_first(len(names), self.asked, len(people), source)
        reports: list[dict[str, Any]] = [{} for _ in people]
        for place, name in enumerate(names):
            here = [i for i, row in enumerate(drawn.tolist()) if place in row]
            some = self.protocols[name]._randomize([people[i][name] for i in here], source) if here else []
            for i, report in zip(here, some, strict=True):
                reports[i][name] = report
        return reports

    def estimate(self, reports: Any, *, confidence: Real = 0.95) -> dict[str, Any]:
        """Return for each question what its protocol estimates, among those who were asked it."""
        received = listed(reports)
        whole = {len(report) if isinstance(report, Mapping) else -1 for report in received or [None]}
        if received is None or whole != {self.asked} or any(set(r) - set(self.protocols) for r in received):
            raise InvalidParameter(
                f"a report must answer {self.asked} of the questions.", parameter="reports"
            )
        return {
            name: protocol.estimate([r[name] for r in received if name in r], confidence=confidence)
            for name, protocol in self.protocols.items()
        }

    def describe(self) -> str:
        """Return one sentence for those who are asked."""
        return (
            f"Each report answers {self.asked} of {len(self.protocols)} questions, drawn at random, and is "
            f"{self.epsilon}-differentially private as a whole. {AGAIN}"
        )


def _protocol(terms: Mapping[str, Any], epsilon: Fraction) -> Protocol:
    if set(terms) == {"bounds"}:
        return WindowNumber(bounds=terms["bounds"], epsilon=epsilon)
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
