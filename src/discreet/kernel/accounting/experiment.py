"""The adaptive composition experiment: an adversary plays in two worlds, and its views are compared.

In each round the adversary sees its own coins and the answers so far, and picks a mechanism with a pair of
neighbours. World 0 answers from the first of each pair, world 1 from the second. What it sees is its view
(coins, answers); privacy under composition is a bound on how far the two laws of views are apart (Dwork and
Roth 2014, Section 3.5.1).
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, TypeAlias

from flint import arb

from discreet.errors import InvalidParameter
from discreet.kernel.numerics import (
    Real,
    ball,
    exact,
    exact_probability,
    exact_whole,
    round_up,
    working_precision,
)
from discreet.kernel.randomness import Source, fresh_source, uniform_below

World: TypeAlias = Literal[0, 1]
BITS = 128
MOST_VIEWS = 1 << 20


@dataclass(frozen=True)
class Round:
    """A mechanism on a pair of neighbours: the probability of each answer in world 0 and in world 1.

    >>> Round([0.75, 0.25], [0.25, 0.75]).term(0)  # ln 3: what the answer 0 says for world 0
    1.0986122886681098
    """

    laws: tuple[tuple[Fraction, ...], tuple[Fraction, ...]]

    def __init__(self, first: Sequence[Real], second: Sequence[Real]) -> None:
        rows = tuple(tuple(exact_probability(p, name="law") for p in row) for row in (first, second))
        if len(rows[0]) != len(rows[1]) or any(sum(row) != 1 for row in rows):
            raise InvalidParameter(
                "a round must have two laws over the same answers, each with sum 1.", parameter="law"
            )
        object.__setattr__(self, "laws", rows)

    def term(self, answer: int) -> float:
        """cᵢ = ln(Pr₀[answer] / Pr₁[answer]), infinite where one world never gives it."""
        first, second = (law[answer] for law in self.laws)
        if first == 0 or second == 0:
            return math.inf if first else -math.inf
        return math.log(first / second)


Adversary: TypeAlias = Callable[[int, tuple[int, ...]], Round]  # its coins, the answers so far


@dataclass(frozen=True)
class View:
    """What the adversary saw, how likely in each world, and the terms that its log ratio is the sum of."""

    coins: int
    answers: tuple[int, ...]
    probabilities: tuple[Fraction, Fraction]
    terms: tuple[float, ...]

    @property
    def loss(self) -> float:
        """L(v) = ln(Pr[V₀ = v] / Pr[V₁ = v]) = Σ cᵢ: the coins have one law in both worlds and cancel."""
        return math.fsum(self.terms)

    def after(self, chosen: Round, answer: int) -> "View":
        """Return the view one round later."""
        grown = tuple(p * law[answer] for p, law in zip(self.probabilities, chosen.laws, strict=True))
        return View(
            self.coins, (*self.answers, answer), (grown[0], grown[1]), (*self.terms, chosen.term(answer))
        )


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """An adversary and a number of rounds; `coins` is the public law of its own randomness.

    >>> response = Round([0.75, 0.25], [0.25, 0.75])
    >>> game = Experiment(adversary=lambda coins, answers: response, rounds=2)
    >>> game.delta(epsilon=0)  # both truthful, less both lies: 9/16 - 1/16
    0.5
    """

    adversary: Adversary
    rounds: int
    coins: tuple[Real, ...] = (1,)

    def views(self) -> Iterator[View]:
        """Return every view that a world can show, with its exact probability in both."""
        exact_whole(self.rounds, name="rounds", least=1)
        for coins, chance in enumerate(self._coin_law()):
            if chance:
                yield from self._grow(View(coins, (), (chance, chance), ()))

    def _coin_law(self) -> list[Fraction]:
        law = [exact_probability(chance, name="coins") for chance in self.coins]
        if sum(law) != 1:
            raise InvalidParameter("the probabilities of coins must sum to 1.", parameter="coins")
        return law

    def _grow(self, view: View) -> Iterator[View]:
        if len(view.answers) == self.rounds:
            yield view
            return
        chosen = self.adversary(view.coins, view.answers)
        for answer in range(len(chosen.laws[0])):
            longer = view.after(chosen, answer)
            if any(longer.probabilities):
                yield from self._grow(longer)

    def delta(self, *, epsilon: Real) -> float:
        """Return the least δ, rounded up, with which (ε, δ) bounds how far views tell the worlds apart."""
        gain = exact(epsilon, name="epsilon")
        with working_precision(BITS):
            ratio = ball(gain).exp()
            totals = [arb(0), arb(0)]
            for count, view in enumerate(self.views()):
                if count >= MOST_VIEWS:
                    raise InvalidParameter(
                        f"rounds must leave at most {MOST_VIEWS} views.", parameter="rounds"
                    )
                p, q = (ball(probability) for probability in view.probabilities)
                totals = [totals[0] + (p - ratio * q).max(arb(0)), totals[1] + (q - ratio * p).max(arb(0))]
            return min(round_up(totals[0].max(totals[1])), 1.0)

    def play(self, world: World) -> View:
        """Return one run in a world, with fresh randomness."""
        return self._play(world, fresh_source())

    def _play(self, world: World, source: Source) -> View:
        view = View(_draw(source, self._coin_law()), (), (Fraction(1), Fraction(1)), ())
        for _ in range(self.rounds):
            chosen = self.adversary(view.coins, view.answers)
            view = view.after(chosen, _draw(source, chosen.laws[world]))
        chance = self._coin_law()[view.coins]
        first, second = view.probabilities
        return replace(view, probabilities=(chance * first, chance * second))


def _draw(source: Source, law: Sequence[Fraction]) -> int:
    """Return an outcome of a finite rational law, exactly: a fair place among equal parts."""
    whole = math.lcm(*(chance.denominator for chance in law))
    place = int(uniform_below(source, whole))
    for outcome, chance in enumerate(law):
        place -= int(chance * whole)
        if place < 0:
            return outcome
    raise AssertionError("the law sums to 1")
