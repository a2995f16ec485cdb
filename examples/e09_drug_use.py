"""Who takes drugs? Randomised response: each person lies now and then, and nobody has to be trusted.

One bit, five ways to choose the probability θ of the truth; what each costs, and how well it estimates.
"""

import math

import numpy as np
from command import options, save

import discreet as dp

PEOPLE, SHARE = 1_000_000, 0.12
WAYS = {
    "e^ε/(1+e^ε), ε = 1": dp.RandomizedResponse(epsilon=1),
    "(1+ε)/(2+ε), ε = 1": dp.RandomizedResponse.linear(1),
    "second degree, ε = 1": dp.RandomizedResponse.quadratic(1),
    "fair coin, s = 2": dp.RandomizedResponse.coin(2),
    "3/4 and 1/4": dp.RandomizedResponse(truth=0.75),
}


def standard_error(response: dp.RandomizedResponse) -> float:
    """Of the estimated share: √(θ(1-θ)/n) / (2θ-1)."""
    truth = float(response.truth)
    return math.sqrt(truth * (1 - truth) / PEOPLE) / (2 * truth - 1)


def main() -> None:
    chosen = options(__doc__)
    bits = np.repeat([1, 0], [round(PEOPLE * SHARE), round(PEOPLE * (1 - SHARE))])
    print(f"{PEOPLE:,} people, {100 * SHARE:g} % of them would say yes in truth")
    print("way                      θ     loss   expected yes   estimate   95 % interval")
    for name, response in WAYS.items():
        estimate = response.estimate(response.release(bits))
        loss, expected = response.loss.epsilon(delta=0), response.expected(SHARE)
        print(
            f"{name:21}{float(response.truth):8.4f}{loss:9.4f}{expected:12.4f}{estimate.value:13.4f}", end=""
        )
        print(f"   {estimate.interval.lower:.4f} to {estimate.interval.upper:.4f}")
    print(f"\nReal losses: ln 2 = {math.log(2):.4f}, ln 2.5 = {math.log(2.5):.4f}, ln 3 = {math.log(3):.4f}.")
    print("The two attempts promise ε = 1 and use less of it; the first way uses all and lies least.")
    estimate = dp.RandomizedResponse(truth=0.75).estimate([1] * 40 + [0] * 60)
    print(f"For 3/4 and 1/4 the estimate is 2·mean - 1/2: {estimate.value:.1f} for a mean of 0.4.")

    honest = dp.RandomizedResponse(truth=1)
    print(f"\nThe extremes: θ = 1 always tells the truth, a loss of {honest.loss.epsilon(delta=0)}.")
    try:
        dp.RandomizedResponse(truth=0.5).estimate(bits)
    except dp.InvalidParameter as error:
        print(f"θ = 1/2 says nothing: {error}")

    central = dp.Laplace(epsilon=1, sensitivity=1).error() / PEOPLE
    local = 1.96 * standard_error(dp.RandomizedResponse(epsilon=1))
    print(f"\nThe price of trusting nobody, at ε = 1 and 95 %: a trusted curator errs by {central:.2g},")
    print(f"randomised response by {local:.2g}.")

    strips = {"token", "address", "time", "order"}
    relay = dp.local.Shuffler(
        dp.local.choice(values=["yes", "no"], epsilon=1),
        people=PEOPLE,
        delta=1e-9,
        run_by="relay",
        collector="researcher",
        strips=strips,
    )
    mixed = float(relay.loss.epsilon)
    print(f"If a relay strips names and order from the reports of all, ε = 1 becomes {mixed:.4f}")
    print("at δ = 1e-9 towards the researcher, and stays 1 towards the relay.")

    save(dp.pictures.truth_probability(), chosen)


if __name__ == "__main__":
    main()
