"""A count that gives Alice away, and the same count with differential privacy.

A hospital publishes how many of its 100 patients take illegal drugs. Who knows the answers of all others
learns Alice's. Then the count gets noise: whatever is published, it is nearly as likely without Alice.
"""

import math

from command import options, save

import discreet as dp

# name, year in hospital, age, illegal drug use; 96 more patients answer no
PATIENTS = [
    ("Alice", 2024, 32, True),
    ("Bob", 2020, 21, False),
    ("Charlie", 2023, 45, False),
    ("Xander", 2020, 31, True),
] + [(f"patient {i}", 2021, 40, False) for i in range(5, 101)]


def probability(output: int, truth: int, epsilon: float) -> float:
    """Pr[truth + noise = output] for whole-number Laplace noise of scale 1/epsilon."""
    return math.tanh(epsilon / 2) * math.exp(-epsilon * abs(output - truth))


def main() -> None:
    chosen = options(__doc__)
    total = sum(takes_drugs for *_, takes_drugs in PATIENTS)
    others = sum(takes_drugs for name, *_, takes_drugs in PATIENTS if name != "Alice")
    print(f"The exact answer: {total} of {len(PATIENTS)} patients take drugs.")
    print(f"Xander admits it, the others are known not to: {others}. So Alice takes drugs: {total > others}.")

    mechanism = dp.Laplace(epsilon=1, sensitivity=1)
    print(
        f"\nThe private answer: {mechanism.release(total)} (and {mechanism.release(total)} if asked again)."
    )
    print("51 people with Alice, 50 without. How much likelier is an output with her than without?")
    for output in range(48, 54):
        ratio = probability(output, 51, 1) / probability(output, 50, 1)
        print(f"  output {output}: {ratio:.3f} times as likely; without her {1 / ratio:.3f} times")
    worst = math.exp(mechanism.loss.epsilon(delta=0))
    print(f"Never more than e^ε = {worst:.3f} times, in both directions, for every output.")

    print("\nA remark on the slide: it calls n = 100 public, then removes Alice. With n public nobody can be")
    print(
        "removed; the neighbour is a table where her row is replaced. A count moves by at most 1 either way:"
    )
    fixed = dp.Laplace(epsilon=1, sensitivity=1, relation="replace")
    print(
        f"  add/remove: ε = {mechanism.loss.epsilon(delta=0):g}; replace: ε = {fixed.loss.epsilon(delta=0):g}"
    )

    save(dp.pictures.neighbours(mechanism), chosen)


if __name__ == "__main__":
    main()
