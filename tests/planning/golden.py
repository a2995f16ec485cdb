"""The golden plans: for every accepted question, in words, what will happen to it."""

from fractions import Fraction
from pathlib import Path

from discreet.errors import DiscreetError
from planning.frozen import plan_of
from queries.bank import BANK
from queries.test_read import ACCEPTED

PLANS = Path(__file__).parent / "golden_plans.txt"


def written(text):
    """The plan of a question at epsilon 1, delta 1e-6; or why there is none."""
    try:
        return str(plan_of(text, BANK, epsilon=1, delta=Fraction(1, 10**6)))
    except DiscreetError as error:
        return f"{type(error).__name__}: {error.message}"


def read_plans():
    """What was kept: a question, its plan, an empty line."""
    blocks = PLANS.read_text(encoding="utf-8").strip().split("\n\n")
    return {text: plan for text, _, plan in (block.partition("\n") for block in blocks)}


if __name__ == "__main__":
    blocks = [f"{text}\n{written(text)}\n" for text in ACCEPTED]
    PLANS.write_text("\n".join(blocks), encoding="utf-8")
