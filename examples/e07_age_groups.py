"""A histogram of age groups: one person is in one group, so all groups together cost what one count costs."""

from itertools import pairwise

import numpy as np
from command import options, save
from discreet.pictures import Picture
from discreet.pictures.theme import axis, bars

import discreet as dp

EDGES = [0, 15, 30, 45, 60, 75, 120]
EPSILON = 0.5


def main() -> None:
    chosen = options(__doc__)
    ages = np.clip(np.random.default_rng(1).gamma(4, 10, 800), 0, 119).astype(int)  # invented people
    truth, _ = np.histogram(ages, EDGES)
    released = dp.histogram(ages, edges=EDGES, epsilon=EPSILON)
    names = [f"{low} to {high}" for low, high in pairwise(EDGES)]

    print(f"{len(ages)} people at ε = {EPSILON}; all intervals hold at once with 95 %")
    print("age           true   released   interval")
    for name, true, estimate in zip(names, truth, released.values(), strict=True):
        low, high = estimate.interval
        print(f"{name:12}{true:6}{estimate.value:11.0f}   {low:.0f} to {high:.0f}")

    print("\nSensitivity of all groups together (l1), and the scale of the noise:")
    for relation, moves in (("add/remove", 1), ("replace", 2)):
        mechanism = dp.Laplace(epsilon=EPSILON, sensitivity=moves, relation=relation)
        print(f"  {relation:10}: {moves}; scale {float(mechanism.scale):g}")
    print("A person who is added enters one group; a person who is replaced may leave one and enter another.")
    print("Six counts by themselves would have cost six times as much: ε = 3, or noise six times as wide.")

    estimates = list(released.values())
    reach = [estimate.interval.upper - estimate.value for estimate in estimates]
    noisy = bars(names, [estimate.value for estimate in estimates], name="released", index=1)
    noisy["error_y"] = {"type": "data", "array": reach, "color": "@ink", "thickness": 1.5}
    picture = Picture(
        title="Age groups, released privately",
        subtitle=f"{len(ages)} invented people, ε = {EPSILON}; the bars hold all at once with 95 %",
        traces=[bars(names, truth, name="true"), noisy],
        axes={"xaxis": axis("age (years)"), "yaxis": axis("people", rangemode="tozero")},
    )
    save(picture, chosen)


if __name__ == "__main__":
    main()
