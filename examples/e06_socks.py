"""What fraction of people wear socks? With a trusted curator, and with nobody trusted.

The curator adds Laplace noise to the proportion; its sensitivity is 1/n when n is public and a person is
replaced. Without a curator everybody tells the truth with probability 3/4, and the fraction is estimated.
"""

import math

import numpy as np
from command import options, save
from discreet.pictures import Picture
from discreet.pictures.theme import line, log_axis

import discreet as dp

PEOPLE, SHARE = 1_000_000, 0.7
EPSILON = 1.0986  # what 3/4 against 1/4 costs: ln 3, rounded down


def local_error(people: float) -> float:
    """Of 2·mean − 1/2: 2·√(3/4 · 1/4 / n)."""
    return 2 * math.sqrt(3 / 16 / people)


def central_error(people: float) -> float:
    """Of Laplace noise of scale 1/(nε): √2/(nε)."""
    return math.sqrt(2) / (people * EPSILON)


def main() -> None:
    chosen = options(__doc__)
    wearing = np.repeat([1, 0], [round(PEOPLE * SHARE), round(PEOPLE * (1 - SHARE))])
    print(f"{PEOPLE:,} people, {100 * SHARE:g} % of them wear socks")

    response = dp.RandomizedResponse(truth=0.75)
    reports = response.release(wearing)
    expected = PEOPLE * response.expected(SHARE)
    print(f"\nNobody trusted: {sum(reports)} say yes, where {expected:.0f} are expected")
    print(f"  estimate {response.estimate(reports)}")
    print(f"  every answer has a loss of ln 3 = {response.loss.epsilon(delta=0):.4f}")

    socks = dp.local.choice(values=["yes", "no"], epsilon=EPSILON)
    shares = socks.collect(socks.randomize_many(np.where(wearing, "yes", "no")))
    print(f"\nThe same as a survey: yes {shares.estimate('yes')}")
    print(
        f"  1 % of liars can move that by {shares.moved_by(0.01):.4f}: {shares.estimate('yes', liars=0.01)}"
    )

    estimate = dp.proportion(wearing.tolist(), epsilon=EPSILON, relation="replace")
    print(f"\nA trusted curator, the same loss: {estimate}")
    print(f"  one person replaced changes the fraction by at most 1/n = {1 / PEOPLE}")

    local, central = local_error(PEOPLE), central_error(PEOPLE)
    print(f"\nStandard errors: {local:.2g} and {central:.2g}: a factor of {local / central:.1f},")
    print("and it grows with √n: the noise of n people against the noise of one curator.")

    sizes = [10 ** (i / 4) for i in range(4, 29)]
    picture = Picture(
        title="The price of trusting nobody",
        subtitle="standard error of the fraction of people who wear socks, at ε = ln 3",
        traces=[
            line(sizes, [local_error(n) for n in sizes], name="randomised response, 3/4 and 1/4"),
            line(sizes, [central_error(n) for n in sizes], name="trusted curator, Laplace", index=1),
        ],
        axes={"xaxis": log_axis("people n"), "yaxis": log_axis("standard error (fraction)")},
    )
    save(picture, chosen)


if __name__ == "__main__":
    main()
