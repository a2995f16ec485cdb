"""How many of 15 lectures did you skip? Every student adds noise before telling; only the mean is learnt."""

import numpy as np
from command import options, save
from discreet.pictures import Picture
from discreet.pictures.theme import line, log_axis

import discreet as dp

LECTURES, EPSILON = 15, 1
STUDENTS = 1_000_000
SIZES = [10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, STUDENTS]


def main() -> None:
    chosen = options(__doc__)
    skipped = np.random.default_rng(2).binomial(LECTURES, 0.3, STUDENTS)  # invented
    print(f"{skipped.size:,} students skipped {skipped.mean():.3f} of {LECTURES} lectures on average")

    textbook = dp.local.number(bounds=(0, LECTURES), epsilon=EPSILON, noise="laplace")
    scale = float(textbook.noise.scale)
    print(f"\nLaplace noise of scale {scale:g} on each answer: the only record may be replaced, so the")
    print(f"sensitivity is {LECTURES}. A student who skipped 3 might report {textbook.randomize(3):.1f}.")
    print(f"  mean of all reports: {textbook.estimate(textbook.randomize(skipped.tolist()))}")

    best = dp.local.number(bounds=(0, LECTURES), epsilon=EPSILON)
    print(f"\nA better report for the same ε: {best.describe()}")
    print(f"  mean of all reports: {best.estimate(best.randomize_many(skipped))}")

    spread = dp.local.distribution(bounds=(0, LECTURES + 1), epsilon=EPSILON, bins=LECTURES + 1)
    found = spread.collect(spread.randomize_many(skipped))
    median, interval = found.quantile(0.5)
    print("\nThe whole distribution, from reports that cost the same:")
    print(f"  median {median:.1f}, 95 % interval {interval.lower:g} to {interval.upper:g}")
    print(f"  skipped less than 3: {found.shares[:3].sum():.3f}, in truth {(skipped < 3).mean():.3f}")

    print("\nThe price of trusting nobody: standard error of the mean, beside a trusted curator's")
    print("  students     Laplace   better report   curator")
    rows = [(textbook.compare(people=n), best.compare(people=n)) for n in SIZES]
    for n, (first, second) in zip(SIZES, rows, strict=True):
        print(f"  {n:9,}{first.local:11.4f}{second.local:16.4f}{second.central:10.2g}")

    picture = Picture(
        title="How well the mean number of skipped lectures is known",
        subtitle=f"standard error from noise at ε = {EPSILON}, without and with a trusted curator",
        traces=[
            line(SIZES, [first.local for first, _ in rows], name="Laplace noise on each answer"),
            line(SIZES, [second.local for _, second in rows], name="the best report", index=1),
            line(SIZES, [second.central for _, second in rows], name="a trusted curator", index=2),
        ],
        axes={"xaxis": log_axis("students"), "yaxis": log_axis("standard error (lectures)")},
    )
    save(picture, chosen)


if __name__ == "__main__":
    main()
