"""What may go wrong with probability δ: two algorithms that keep (0, δ) and yet publish people's secrets.

One publishes the whole table with probability δ; the other each row with probability δ, so that somebody's
row is almost surely out when δ is not far below 1/n.
"""

import math

from command import options, save
from discreet.pictures import Picture
from discreet.pictures.theme import line, log_axis

import discreet as dp


def someone_leaks(delta: float, people: float) -> float:
    """1 - (1 - δ)^n, without rounding it away."""
    return -math.expm1(people * math.log1p(-delta))


def main() -> None:
    chosen = options(__doc__)
    # Outputs: nothing, this table, the neighbouring table. Rows: the two neighbours.
    leak = dp.losses.channel([[0.99, 0.01, 0], [0.99, 0, 0.01]])
    print("Publish everything with probability 0.01, else nothing:")
    print(f"  δ at ε = 0: {leak.delta(epsilon=0):g}, so it is (0, 0.01)-DP, and a disaster now and then.")
    print(f"  δ at ε = 10: {leak.delta(epsilon=10):g}, so no larger ε helps.")
    print("\nPublish each row with probability δ: the probability that somebody is out, 1 - (1 - δ)^n")
    sizes = (100, 10_000, 1_000_000, 100_000_000)
    print("           " + "".join(f"n = {n:<13,}" for n in sizes))
    for delta in (1e-2, 1e-6, 1e-9, 1e-12):
        row = "".join(f"{someone_leaks(delta, n):<17.3g}" for n in sizes)
        print(f"  δ = {delta:<7g}{row}")
    print("\nThe slides call δ = 10⁻⁶ typical. It is far below 1/n only for n well under a million: with a")
    print(f"million people somebody is out with probability {someone_leaks(1e-6, 1e6):.3f}. Choose δ ≪ 1/n.")

    people = [10 ** (i / 10) for i in range(91)]
    curves = [
        line(people, [someone_leaks(delta, n) for n in people], name=name, index=i)
        for i, (name, delta) in enumerate({"δ = 10⁻³": 1e-3, "δ = 10⁻⁶": 1e-6, "δ = 10⁻⁹": 1e-9}.items())
    ]
    picture = Picture(
        title="A small δ is small only beside 1/n",
        subtitle="each row is published with probability δ; the probability that somebody's row is out",
        traces=curves,
        axes={"xaxis": log_axis("people n"), "yaxis": log_axis("Pr[somebody leaks]", range=[-6, 0.1])},
    )
    save(picture, chosen)


if __name__ == "__main__":
    main()
