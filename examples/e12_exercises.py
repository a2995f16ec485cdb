"""The exercises of the course, computed: every proof's inequality, checked on all cases of a small world.

Laplace for scalars and vectors, the exponential mechanism, randomised response for every (D, D', y), and the
unbiased estimator for any θ. (The city example has a script of its own, e03_meeting_city.py.)
"""

import math
from fractions import Fraction
from itertools import product

from command import options, save
from discreet.pictures import Picture
from discreet.pictures.theme import axis, dots, line

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


def exponential_proof(epsilon: float) -> list[tuple[float, float]]:
    """ln(Pr[r | x] / Pr[r | y]), three scores moved by at most 1: the part of r's own weight, the rest."""
    mechanism, parts = dp.Exponential(epsilon=epsilon, sensitivity=1), set()
    for scores in product((-16, -4, 0), repeat=3):
        for move in product((-1, 0, 1), repeat=3):
            first = mechanism.probabilities(scores)
            second = mechanism.probabilities([s + m for s, m in zip(scores, move, strict=True)])
            for p, q, moved in zip(first, second, move, strict=True):
                parts.add((own := -epsilon * moved / 2, round(math.log(p / q) - own, 9)))
    return sorted(parts)


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
    print(f"Laplace, three numbers at l1 distance 3: the sum is at most {vector}, so e^ε with scale 3/ε.")
    parts = exponential_proof(1.0)
    worst = max(abs(own + rest) for own, rest in parts)
    print(f"Exponential mechanism, ε = 1: the largest log ratio is {worst:.4f} ≤ 1, half of it from the")
    print("weight of r, half from the sum of all weights: the reason for the 2 in ε·u/(2Δ).")
    ratios = sorted({str(ratio) for ratio in response_proof(Fraction(3, 4))})
    print(f"Randomised response, θ = 3/4, every (D, D', y): ratios {', '.join(ratios)}; the loss is ln 3.")

    for truth in (Fraction(3, 4), Fraction(2, 3), Fraction(1, 10)):
        mean = estimator_proof(truth, yes=3, people=8)
        print(f"Estimator, θ = {truth}: its mean is {mean} when 3 of 8 say yes.")

    picture = Picture(
        title="Why the exponential mechanism has a 2: two parts of half an ε each",
        subtitle=f"{len(parts)} different cases of three scores that one person moves, at ε = 1",
        traces=[
            dots([own for own, _ in parts], [rest for _, rest in parts], name="a case"),
            line([0, 1], [1, 0], name="together ε", index=1),
            line([-1, 0], [0, -1], name="together −ε", index=1),
        ],
        axes={"xaxis": axis("part of r’s own weight"), "yaxis": axis("part of the sum of all weights")},
    )
    save(picture, chosen)


if __name__ == "__main__":
    main()
