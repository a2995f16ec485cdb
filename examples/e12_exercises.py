"""The exercises of the course, computed: every proof's inequality, checked on all cases of a small world.

Laplace for scalars and vectors, the exponential mechanism, randomised response for every (D, D', y), and the
unbiased estimator for any θ. (The city example has a script of its own, e03_meeting_city.py.)
"""

import math
from fractions import Fraction
from itertools import product

from command import options, save

import discreet as dp


def laplace_proof() -> tuple[int, int]:
    """ln ratio = ε/Δ · Σ (|f(D')ᵢ − yᵢ| − |f(D)ᵢ − yᵢ|): the largest sum over all outputs y."""
    scalar = max(abs(50 - y) - abs(51 - y) for y in range(-1000, 1000))
    f, g = (3, 1, 2), (1, 1, 3)  # two answers at l1 distance 3
    vector = max(
        sum(abs(b - y) - abs(a - y) for a, b, y in zip(f, g, outputs, strict=True))
        for outputs in product(range(-5, 9), repeat=3)
    )
    return scalar, vector


def exponential_proof(epsilon: Fraction) -> float:
    """max ln(Pr[r | x] / Pr[r | y]) where one person moves each of three scores by at most 1."""
    mechanism = dp.Exponential(epsilon=epsilon, sensitivity=1)
    worst = 0.0
    for scores in product((-16, -4, 0), repeat=3):
        for move in product((-1, 0, 1), repeat=3):
            first = mechanism.probabilities(scores)
            second = mechanism.probabilities([s + m for s, m in zip(scores, move, strict=True)])
            worst = max(worst, *(abs(math.log(p / q)) for p, q in zip(first, second, strict=True)))
    return worst


def response_proof(truth: Fraction) -> list[Fraction]:
    """Pr[y | D] / Pr[y | D'] for every D, D' and y in {0, 1}."""
    matrix = dp.RandomizedResponse(truth=truth).channel()
    return [matrix[d][y] / matrix[e][y] for d, e, y in product((0, 1), repeat=3)]


def estimator_proof(truth: Fraction, yes: int, people: int) -> Fraction:
    """E[estimate], by summing over every possible number of yes-answers, exactly."""
    total = Fraction(0)
    for kept, turned in product(range(yes + 1), range(people - yes + 1)):  # truthful yes, lying no
        chance = math.comb(yes, kept) * truth**kept * (1 - truth) ** (yes - kept)
        chance *= math.comb(people - yes, turned) * (1 - truth) ** turned * truth ** (people - yes - turned)
        share = Fraction(kept + turned, people)
        total += chance * (share - (1 - truth)) / (2 * truth - 1)
    return total


def main() -> None:
    chosen = options(__doc__)
    scalar, vector = laplace_proof()
    print(f"Laplace, one number: |y − 50| − |y − 51| is at most {scalar}, so the ratio is at most e^ε.")
    print(
        f"Laplace, three numbers at l1 distance 3: the sum is at most {vector}, so again e^ε with scale 3/ε."
    )
    worst = exponential_proof(Fraction(1))
    print(
        f"Exponential mechanism, ε = 1: the largest log ratio is {worst:.4f} ≤ 1, half of it from the weight"
    )
    print("of r, half from the sum of all weights: the reason for the 2 in ε·u/(2Δ).")
    ratios = sorted({str(ratio) for ratio in response_proof(Fraction(3, 4))})
    print(f"Randomised response, θ = 3/4, every (D, D', y): ratios {', '.join(ratios)}; the loss is ln 3.")

    for truth in (Fraction(3, 4), Fraction(2, 3), Fraction(1, 10)):
        mean = estimator_proof(truth, yes=3, people=8)
        print(f"Estimator, θ = {truth}: its mean is {mean} when 3 of 8 say yes.")

    mechanisms = [dp.Laplace(epsilon=epsilon, sensitivity=1) for epsilon in (2, 1, 0.5)]
    save(dp.pictures.privacy_loss(*mechanisms), chosen)


if __name__ == "__main__":
    main()
