"""The best price in an auction: noise on the answer destroys it, the exponential mechanism does not.

Goods are abundant; everyone who bids at least the price buys. Four bids: 1, 1, 1 and 3.01 pounds.
"""

from fractions import Fraction

import numpy as np
from command import options, save
from discreet.pictures import Picture
from discreet.pictures.theme import axis, bars

import discreet as dp

BIDS = [Fraction(1), Fraction(1), Fraction(1), Fraction("3.01")]
PRICES = [Fraction(i, 4) for i in range(1, 13)] + [Fraction("3.01"), Fraction("3.02")]
HIGHEST = max(PRICES)


def revenue(price: Fraction, bids: list[Fraction]) -> Fraction:
    return price * sum(bid >= price for bid in bids)


def expected(law: tuple[float, ...], bids: list[Fraction]) -> float:
    return sum(p * float(revenue(price, bids)) for p, price in zip(law, PRICES, strict=True))


def main() -> None:
    chosen = options(__doc__)
    print("price   revenue")
    for price in (Fraction(1), Fraction(3), Fraction("3.01"), Fraction("3.02")):
        print(f"{float(price):5.2f}   {float(revenue(price, BIDS)):5.2f}")
    print("(The slide has 3 at price 1. All four buy at 1, so it is 4, and 1 is the best price.)")
    print("A penny more than 3.01 sells nothing: noise on the price is not noise on the revenue.")

    # One bidder more raises the revenue at any price by at most that price, and never lowers it.
    mechanism = dp.Exponential(epsilon=1, sensitivity=HIGHEST, scores="monotone")
    # The best price can jump by as much as the highest; 1000 simulated releases are of one number each.
    noise = dp.Laplace(epsilon=1, sensitivity=HIGHEST, step=Fraction(1, 128), dimension=1)
    traces = []
    for index, (crowd, name) in enumerate([(1, "4 bidders"), (100, "400 bidders")]):
        bids = BIDS * crowd
        best = float(revenue(Fraction(1), bids))
        law = mechanism.probabilities([revenue(price, bids) for price in PRICES])
        noisy = np.clip(noise.release(np.ones(1000)), 0, None)
        lost = np.mean([float(revenue(Fraction(float(price)), bids)) for price in noisy])
        share = expected(law, bids) / best
        print(f"\n{name}: best revenue {best:g}")
        blind = expected((1 / len(PRICES),) * len(PRICES), bids) / best
        print(f"  exponential mechanism over prices: {100 * share:.1f} % of it on average")
        print(f"  a price drawn blindly:             {100 * blind:.1f} %")
        print(f"  noise on the best price:           {100 * lost / best:.0f} % (simulated)")
        traces.append(bars([f"{float(price):.2f}" for price in PRICES], law, name=name, index=index))
    print("\nFour bidders show nothing at ε = 1; a crowd does.")

    picture = Picture(
        title="A price chosen by the exponential mechanism",
        subtitle="ε = 1; three in four bid 1 pound, one in four 3.01",
        traces=traces,
        axes={"xaxis": axis("price (pounds)", type="category"), "yaxis": axis("probability of the price")},
    )
    save(picture, chosen)


if __name__ == "__main__":
    main()
