"""The k best candidates, best first.

Tested by: tests/mechanisms/test_noisy_selection.py, tests/conformance/test_mechanisms.py
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from discreet.errors import InvalidParameter
from discreet.kernel.laws import FiniteLaw, compute_peeling
from discreet.kernel.losses import PrivacyLoss, Relation, bounded_range, pure
from discreet.kernel.mechanisms.mechanism import Case, Kind
from discreet.kernel.mechanisms.selection import Candidate, NoisySelection, check_pairing
from discreet.kernel.numerics import Real, exact_whole
from discreet.kernel.randomness import Source, choice, fresh_source
from discreet.kernel.randomness.selection import Scores

Method: TypeAlias = Literal["one shot", "peeling"]


@dataclass(frozen=True, init=False, repr=False)
class TopK(NoisySelection):
    """The `count` candidates with the largest scores, in order, under one total epsilon.

    one shot: Laplace noise of scale 2kΔ/ε (kΔ/ε if monotone) on every score, once; the k largest in order.
    peeling: k exponential mechanisms of ε/k, each without the candidates already taken (the law of one Gumbel
    shot).

    Privacy: one shot is ε-DP (docs/theory/selection.md); peeling is k adaptive rounds of bounded range ε/k
    each (Durfee and Rogers, NeurIPS 2019), so cheaper under composition.

    >>> TopK(epsilon=1, sensitivity=1, count=5, scores="monotone").scale
    Fraction(5, 1)
    """

    count: int
    method: Method

    def __init__(
        self,
        *,
        epsilon: Real,
        sensitivity: Real,
        count: Real,
        scores: Kind = "general",
        method: Method = "peeling",
        step: Real | None = None,
        relation: Relation = "add/remove",
    ) -> None:
        answers = exact_whole(count, name="count", least=1)
        super().__init__(
            epsilon=epsilon,
            sensitivity=sensitivity,
            scores=scores,
            step=step,
            relation=relation,
            answers=answers,
        )
        if method not in ("one shot", "peeling"):
            raise InvalidParameter(
                f'method must be "one shot" or "peeling", got {str(method)[:60]}.', parameter="method"
            )
        self._fix(count=answers, method=method)

    @property
    def _answers(self) -> int:
        return self.count

    @property
    def loss(self) -> PrivacyLoss:
        """Return one pure release, or `count` rounds of bounded range: a sum that holds for adaptive
        rounds."""
        if self.method == "one shot":
            return pure(epsilon=self.epsilon, relation=self.relation)
        return self.count * bounded_range(epsilon=self.epsilon / self.count, relation=self.relation)

    def choose(self, candidates: Sequence[Candidate], scores: Scores) -> list[Candidate]:
        """Choose candidates, best first."""
        check_pairing(candidates, scores)
        if len(candidates) < self.count:
            raise InvalidParameter(
                f"candidates must be at least {self.count}, got {len(candidates)}.", parameter="candidates"
            )
        return [candidates[i] for i in self.draw(scores, fresh_source())]

    def draw(self, scores: Scores, source: Source) -> tuple[int, ...]:
        """Choose by index, best first, with randomness from `source`."""
        return self._one_shot(scores, source) if self.method == "one shot" else self._peel(scores, source)

    def _one_shot(self, scores: Scores, source: Source) -> tuple[int, ...]:
        noisy = self._noisy(scores, source)
        # Equal noisy scores stand in random order: sort a random permutation, and keep it among equals.
        order = _permutation(noisy.size, source)
        best = order[np.argsort(-noisy[order], kind="stable")]
        return tuple(int(i) for i in best[: self.count])

    def _peel(self, scores: Scores, source: Source) -> tuple[int, ...]:
        left = np.arange(len(scores))
        values = scores if isinstance(scores, np.ndarray) else list(scores)
        taken = []
        for _ in range(self.count):
            position = choice(source, values, self.factor / self.count)
            taken.append(int(left[position]))
            left = np.delete(left, position)
            values = (
                np.delete(values, position)
                if isinstance(values, np.ndarray)
                else values[:position] + values[position + 1 :]
            )
        return tuple(taken)

    def describe(self) -> str:
        """Return one sentence for a receipt."""
        return self._describe(f"Top {self.count} by {self.method}")

    def law(self, scores: Scores) -> FiniteLaw | None:
        """Return the probability of each order of indices; None for one shot."""
        if self.method == "one shot":
            return None
        return compute_peeling(scores, self.factor / self.count, self.count)

    @classmethod
    def examples(cls) -> tuple[Case, ...]:
        """Return cases for the conformance tests."""
        shot = {"epsilon": 2, "sensitivity": 1, "count": 2, "method": "one shot", "step": 1}
        pair = ((2, 1, 1), (1, 2, 2))
        return (
            Case({**shot, "scores": "monotone"}, ((2, 1, 1), (2, 2, 2))),
            Case({**shot, "epsilon": 3, "relation": "replace"}, pair),
            Case({"epsilon": 2, "sensitivity": 1, "count": 2}, pair),
        )


def _permutation(size: int, source: Source) -> Any:
    """Draw a uniform order of 0 ... size-1: sort by random bits, and draw again if two are equal."""
    while True:
        words = source.words(size)
        order = np.argsort(words, kind="stable")
        if not (np.diff(words[order]) == 0).any():
            return order
