"""The most common of k properties: publish all noisy counts, or only the index of the largest?

One person can have all k properties. All counts together have sensitivity k, so each needs noise of scale
k/ε; report noisy max publishes one index and gets by with scale 1/ε.
"""

import numpy as np
from command import options, save
from discreet.pictures import Picture
from discreet.pictures.theme import axis, dots

import discreet as dp

RUNS = 500
EPSILON = 1


def chance(k: int) -> tuple[float, float]:
    """How often each way finds the most common property, which leads by five people."""
    counts = [105] + [100] * (k - 1)
    publish = dp.Laplace(epsilon=EPSILON, sensitivity=k)
    noisy = publish.release(np.tile(np.array(counts), (RUNS, 1)))
    report = dp.NoisyMax(epsilon=EPSILON, sensitivity=1, scores="monotone")
    hits = sum(report.choose(range(k), counts) == 0 for _ in range(RUNS))
    return float(np.mean(noisy.argmax(axis=1) == 0)), hits / RUNS


def main() -> None:
    chosen = options(__doc__)
    sizes = (2, 5, 10, 20, 50)
    print(f"How often the most common property is found at ε = {EPSILON}: it leads by 5 people, {RUNS} runs")
    print("   k   scale k/ε, all counts   scale 1/ε, index only")
    found = [chance(k) for k in sizes]
    for k, (published, reported) in zip(sizes, found, strict=True):
        print(f"{k:4}   {100 * published:18.0f} %   {100 * reported:17.0f} %")
    print("\nThe scale 1/ε needs monotone counts and add/remove. Where a person is replaced, one count can")
    print("rise while another falls:")
    try:
        dp.NoisyMax(epsilon=1, sensitivity=1, scores="monotone", relation="replace")
    except dp.InvalidParameter as error:
        print(f"  refused: {error}")
    general = dp.NoisyMax(epsilon=1, sensitivity=1, relation="replace")
    print(f"  scale for general scores under replace: {float(general.scale):g}")

    names = ("all counts, scale k/ε", "index only, scale 1/ε")
    picture = Picture(
        title="Finding the most common property",
        subtitle=f"ε = {EPSILON}, a lead of 5 people, {RUNS} runs",
        traces=[
            dots(sizes, [pair[i] for pair in found], name=name, index=i, mode="lines+markers")
            for i, name in enumerate(names)
        ],
        axes={
            "xaxis": axis("number of properties k", type="log", tickvals=list(sizes)),
            "yaxis": axis("probability of the right answer", range=[0, 1.05]),
        },
    )
    save(picture, chosen)


if __name__ == "__main__":
    main()
