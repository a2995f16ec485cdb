"""Total debt at a bank: how much noise is enough?

Each customer owes at most 10,000,000 €. Noise for a count is far too little; noise scaled to the largest debt
in the table fails on another table; noise scaled to the largest debt that the rules allow holds for all.
"""

import math

from command import options, save
from discreet.pictures import Picture
from discreet.pictures.theme import axis, dots, log_axis

import discreet as dp

CENT = 100  # the sum is counted in whole cents, so that nothing is rounded
DEBTS = {"Alice": 280079800, "Bob": 700000, "Charlie": 156, "Xander": 0}
LARGEST = 10_000_000 * CENT
EPSILON = 1


def euros(cents: int) -> str:
    return f"{cents / CENT:,.2f} €"


def real_epsilon(scale: int, change: int) -> float:
    """The ε of Laplace noise of this scale, when one person changes the sum by so much."""
    return dp.losses.laplace(scale=scale, sensitivity=change).epsilon(delta=0)


def main() -> None:
    chosen = options(__doc__)
    total = sum(DEBTS.values())
    print(f"Total debt: {euros(total)}. Without one person it changes by:")
    for name, debt in DEBTS.items():
        print(f"  {name:8} {euros(debt):>16}")

    own = max(DEBTS.values())
    print(f"\nWhat ε = {EPSILON} becomes:")
    naive = real_epsilon(scale=1 * CENT, change=own)
    print(f"  noise of scale 1 €, as for a count: ε = {naive:,.0f} when Alice leaves. No privacy at all.")
    here, there = real_epsilon(own, own), real_epsilon(own, LARGEST)
    print(f"  scale {euros(own)}, the table's own maximum: ε = {here:g} here, but {there:.4f} for a table")
    print("    whose fourth person owes 10,000,000 €. And the scale itself tells what Alice owes.")
    every = real_epsilon(LARGEST, LARGEST)
    print(f"  scale {euros(LARGEST)}, the largest debt allowed: ε = {every:g} for every table.")

    found = dp.auditing.check_sensitivity(sum, sensitivity=own, bounds=(0, LARGEST))
    print(f"\nA search for neighbours that move the sum by more than {euros(own)}: {found.verdict},")
    print(f"  {euros(round(found.lower_bound))} is reached.")

    mechanism = dp.Laplace(epsilon=EPSILON, sensitivity=LARGEST)
    noisy = mechanism.release(total)
    print(
        f"\nReleased: {euros(noisy)}, give or take {euros(round(mechanism.error(confidence=0.95)))} (95 %)."
    )
    print("Four customers are too few to say anything about. With a million of them that error is small:")
    print(f"  {mechanism.error(confidence=0.95) / CENT / 1_000_000:.2f} € for each.")

    bounds = {
        "1 €<br>this table": naive,
        "this table's maximum<br>this table": here,
        "this table's maximum<br>another table": there,
        "largest debt allowed<br>every table": every,
    }
    shown = [f"{math.ceil(100 * bound) / 100:,.10g}" for bound in bounds.values()]  # rounded up
    marks = dots([0] * len(bounds), list(bounds.values()), name="real ε", text=shown)
    picture = Picture(
        title="What ε = 1 becomes when the scale is wrong",
        subtitle="Laplace noise on the total debt: the scale of the noise, and the table it is used on",
        traces=[{**marks, "x": list(bounds), "mode": "markers+text", "textposition": "top center"}],
        axes={"xaxis": axis("scale of the noise"), "yaxis": log_axis("real ε", range=[-0.5, 7.5])},
    )
    save(picture, chosen)


if __name__ == "__main__":
    main()
