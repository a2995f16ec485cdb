"""The pictures of the course: the privacy loss as a random variable, its tail, densities, losses by output.

Prints the numbers that the pictures show; --plot saves the loss variable, --folder saves all of them.
"""

import math
from pathlib import Path

from command import parser, save

import discreet as dp

FINE = 2**-10  # a step too fine to see
PICTURES = {
    "density": lambda: dp.pictures.density(
        *(dp.Laplace(scale=b, sensitivity=1, step=FINE) for b in (0.5, 1, 2)),
        dp.Gaussian(sigma=1.5, sensitivity=1, step=FINE),
    ),
    "privacy_loss": lambda: dp.pictures.privacy_loss(
        *(dp.Laplace(scale=b, sensitivity=1, step=FINE) for b in (0.5, 1, 2))
    ),
    "loss_variable": lambda: dp.pictures.loss_variable(dp.losses.laplace(scale=1, sensitivity=1)),
    "loss_variable_whole": lambda: dp.pictures.loss_variable(dp.Laplace(epsilon=1, sensitivity=1)),
    "tail": lambda: dp.pictures.tail(dp.Gaussian(sigma=2, sensitivity=1), epsilon=1),
    "composition": lambda: dp.pictures.composition(dp.Laplace(epsilon=0.1, sensitivity=1)),
    "truth_probability": dp.pictures.truth_probability,
    "accuracy": dp.pictures.accuracy,
}


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--folder", metavar="DIR", type=Path, help="save all pictures as pages")
    chosen = options.parse_args()

    textbook = dp.losses.laplace(scale=1, sensitivity=1)
    print("Continuous Laplace noise, ε = 1: the loss has atoms and a density between them.")
    print(f"  Pr[L = +1] = 1/2, Pr[L = -1] = e⁻¹/2 = {math.exp(-1) / 2:.4f}, mean e⁻¹ = {math.exp(-1):.4f}")
    print(f"  {dp.pictures.loss_variable(textbook).subtitle}")
    whole = dp.Laplace(epsilon=1, sensitivity=1)
    atoms = dp.pictures.loss_variable(whole).to_json()["data"][0]
    shown = ", ".join(f"Pr[L = {x:+g}] = {y:.3f}" for x, y in zip(atoms["x"], atoms["y"], strict=True))
    print(f"Whole-number Laplace noise, ε = 1: two atoms. {shown}")

    gaussian = dp.Gaussian(sigma=2, sensitivity=1)
    print(f"\nGaussian noise, σ = 2: {dp.pictures.tail(gaussian, epsilon=1).subtitle}.")
    print(
        "(A slide calls the tail and (ε, δ)-DP equivalent. The tail implies it; the exact δ is never larger."
    )
    print("Another has x where Pr[X = x] belongs: H(X) = -Σ Pr[X = x]·log Pr[X = x].)")

    if chosen.folder:
        chosen.folder.mkdir(parents=True, exist_ok=True)
        for name, picture in PICTURES.items():
            print(picture().save(chosen.folder / f"{name}.html"))
    save(PICTURES["loss_variable"](), chosen)


if __name__ == "__main__":
    main()
