"""What one person can change in counted keys, by enumeration: both directions, every small neighbour."""

from functools import cache
from itertools import product

import numpy as np


def key_law(noise, threshold, count):
    """One key's law as an array: not shown, then every value above the threshold. An absent key is not
    shown, whatever the noise."""
    law = np.zeros(1 + 3 * max(noise) + 2)
    for x, p in noise.items():
        value = count + x
        law[value - threshold if count and value > threshold else 0] += float(p)
    return law


def divergence(p, q, epsilon):
    """The hockey-stick divergence of two laws over the same outcomes, the larger of both directions."""
    grow = np.exp(epsilon)
    return max(np.maximum(p - grow * q, 0).sum(), np.maximum(q - grow * p, 0).sum())


def worst(noise, threshold, *, epsilon, groups, rows):
    """The largest divergence between tables of `groups` keys that one person tells apart, who adds up to
    `rows` to each: all counts up to where every key is surely shown."""
    most = threshold + max(noise) + 1

    @cache
    def law(count):
        return key_law(noise, threshold, count)

    def joint(counts):
        table = law(counts[0])
        for count in counts[1:]:
            table = np.multiply.outer(table, law(count))
        return table

    moves = [move for move in product(range(rows + 1), repeat=groups) if any(move)]
    return max(
        divergence(joint(fewer), joint([n + extra for n, extra in zip(fewer, move, strict=True)]), epsilon)
        for fewer in product(range(most - rows + 1), repeat=groups)
        for move in moves
    )
