"""The secret society picks a city to meet in: the exponential mechanism.

Members live in four of seven cities. The city nearest to their mean position would give them away; the
exponential mechanism prefers near cities without saying who lives where. What is a safe measure of "near"?
"""

import math
from fractions import Fraction

from command import options, save

import discreet as dp

CITIES = {
    "Ottawa": (45, -75),
    "Toronto": (43, -79),
    "New York": (40, -74),
    "Washington": (38, -77),
    "Memphis": (35, -90),
    "Los Angeles": (34, -118),
    "La Habana": (23, -82),
}
MEMBERS = {"Alice": "Los Angeles", "Bob": "New York", "Charlie": "Washington", "Xander": "Toronto"}
Place = tuple[Fraction | int, Fraction | int]


def squared(a: Place, b: Place) -> Fraction:
    return Fraction((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2)


def mean(homes: list[Place]) -> Place:
    return tuple(Fraction(sum(column)) / len(homes) for column in zip(*homes, strict=True))


def scores(homes: list[Place]) -> list[Fraction]:
    """Minus the sum of squared distances: greatest for the city nearest to the mean, 0 for an empty table."""
    return [-sum((squared(home, city) for home in homes), Fraction(0)) for city in CITIES.values()]


# One person more lowers every score, by at most the largest squared distance on the map.
SENSITIVITY = max(squared(a, b) for a in CITIES.values() for b in CITIES.values())


def main() -> None:
    chosen = options(__doc__)
    homes = [CITIES[city] for city in MEMBERS.values()]
    middle = mean(homes)
    nearest = min(CITIES, key=lambda city: squared(CITIES[city], middle))
    print(f"Mean position: ({float(middle[0])}, {float(middle[1])}); nearest city: {nearest}.")
    print("(The slide has (36, -88) for the mean, which is a slip; Memphis is the nearest either way.)")

    print("\nUtility 1/distance has no sensitivity. One person lives d degrees from Memphis:")
    for d in (1, Fraction(1, 10), Fraction(1, 1000)):
        print(f"  d = {float(d):5}: a second person in Toronto who leaves changes it by {change(d):7.2f}")

    mechanism = dp.Exponential(epsilon=1, sensitivity=SENSITIVITY, scores="monotone")
    print(f"\nUtility -Σ distance² has sensitivity {SENSITIVITY} on this map. Probabilities at ε = 1:")
    print("  city          nobody  one person   the four   40 members")
    tables = [[], homes[:1], homes, homes * 10]
    laws = [mechanism.probabilities(scores(table)) for table in tables]
    for city, *row in zip(CITIES, *laws, strict=True):
        print(f"  {city:12}" + "".join(f"{100 * probability:9.1f} %" for probability in row))
    print(f"\nThis time the society meets in {mechanism.choose(list(CITIES), scores(homes * 10))}.")

    people = {city: CITIES[city] for city in MEMBERS.values()}
    law = dict(zip(CITIES, laws[3], strict=True))
    picture = dp.pictures.city_map(CITIES, law, people=people, middle=(float(middle[0]), float(middle[1])))
    save(picture, chosen)


def change(d: Fraction | int) -> float:
    """How much the utility of Memphis moves when the second of two people leaves."""
    memphis = CITIES["Memphis"]
    first = (memphis[0] + d, memphis[1])
    both = mean([first, CITIES["Toronto"]])
    return abs(1 / math.sqrt(squared(first, memphis)) - 1 / math.sqrt(squared(both, memphis)))


if __name__ == "__main__":
    main()
