"""Plans of questions, frozen before anything is asked: for tests."""

from fractions import Fraction

from discreet.asking.planning import Price, make_plan
from discreet.asking.queries import read_question, read_sql, to_sql
from queries.bank import BANK


def plan_of(text, policy=BANK, *, confidence=None, **price):
    level = Fraction(95, 100) if confidence is None else Fraction(confidence)
    question = read_question(text, policy)
    return make_plan(
        to_sql(read_sql(text)), question, policy, Price.read(**price), confidence=level, part=Fraction(1)
    )
