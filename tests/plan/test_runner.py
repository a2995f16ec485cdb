"""The runner draws what was promised before the charge, and stops before anything else."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import pytest

from discreet.errors import InternalError
from discreet.kernel.losses import GDP, ZCDP, ApproxDP, PureDP
from discreet.kernel.mechanisms import Gaussian
from discreet.kernel.plan import Output, Promise, Released, run_charged, run_invented, unfold
from plan.toys import Count, Query, Scaled, laplace, permit

ONE, TWO = Query("one"), Query("two")
TABLES = {"one": (1000,), "two": (50, 60)}
FIRST, SECOND = Count(ONE, laplace(1)), Count(TWO, laplace(Fraction(1, 2)), column=1)
STOPPED = "the release would cost more than was charged. Nothing was released."


class Engine:
    """A toy engine that writes down what it was asked for."""

    def __init__(self):
        self.read = []

    def __call__(self, query):
        self.read.append(query.name)
        return TABLES[query.name]


def run(plans, paid=None):
    engine = Engine()
    try:
        return run_charged(plans, paid or permit(*plans), lambda: engine), engine.read
    except InternalError as error:
        return str(error), engine.read


def test_every_stage_of_every_plan_is_drawn_once():
    (one, two), read = run([(FIRST, SECOND), (SECOND,)])
    assert [len(each.output.numbers) for each in (*one, *two)] == [1, 2, 2]
    assert read == ["one", "two", "two"]


def test_a_table_that_several_stages_of_a_plan_read_is_computed_once():
    again = Count(replace(ONE), laplace(1), column=1)
    _, read = run([(FIRST, again)])
    assert read == ["one"]


PLANTED = {
    "a larger sensitivity": lambda stage: replace(stage, query=replace(stage.query, most=2)),
    "less noise": lambda stage: replace(stage, mechanism=laplace(2)),
    "Gaussian for Laplace": lambda stage: replace(
        stage, mechanism=Gaussian(epsilon=1, delta=Fraction(1, 10**6), sensitivity=1, step=1)
    ),
    "another relation": lambda stage: replace(stage, mechanism=laplace(1, relation="replace")),
    "other rows": lambda stage: replace(stage, query=replace(stage.query, rows="everything")),
}


@pytest.mark.parametrize("name", PLANTED)
@pytest.mark.parametrize("place", [0, 1])
def test_a_stage_that_was_changed_after_the_charge_stops_all_plans_before_a_draw(name, place):
    paid = permit((FIRST,), (FIRST,))
    plans = [(FIRST,), (FIRST,)]
    plans[place] = (PLANTED[name](FIRST),)
    assert run(plans, paid) == (STOPPED, [])


@pytest.mark.parametrize("plans", [[(FIRST, FIRST)], [()], [(FIRST,), (FIRST,)], []])
def test_more_or_fewer_stages_than_were_paid_for_are_stopped(plans):
    assert run(plans, permit((FIRST,))) == (STOPPED, [])


def test_a_later_stage_depends_on_what_was_released_and_its_price_does_not():
    scaled = Scaled(TWO, Fraction(1, 2))
    (ran,), read = run([(FIRST, scaled)])
    limit = max(1, ran[0].output.numbers[0])
    assert ran[1].draw.mechanism.sensitivity == limit
    assert read == ["one", "two"]
    assert Promise.of(scaled).loss == PureDP(Fraction(1, 2)).loss


@dataclass(frozen=True)
class Greedy(Scaled):
    """A later stage that becomes something else than it promised."""

    become: ClassVar[tuple] = ()

    def ready(self, released):
        return self.become


LATER = {
    "more epsilon": (SECOND, SECOND),
    "a Gaussian": (
        Count(TWO, Gaussian(epsilon=Fraction(1, 2), delta=Fraction(1, 100), sensitivity=1, step=1)),
    ),
    "a larger sensitivity": (replace(SECOND, query=replace(TWO, most=3)),),
    "other rows": (replace(SECOND, query=replace(TWO, rows="all")),),
    "a later one that promises more": (Scaled(TWO, Fraction(3, 4)),),
    "two later ones that promise more together": (Scaled(TWO, Fraction(1, 4)), Scaled(TWO, Fraction(1, 3))),
}


@pytest.mark.parametrize("name", LATER)
def test_a_later_stage_that_becomes_more_than_it_promised_is_stopped_before_it_reads(name, monkeypatch):
    greedy = Greedy(TWO, Fraction(1, 2))
    monkeypatch.setattr(Greedy, "become", (SECOND,))
    assert run([(FIRST, greedy)])[0] != STOPPED
    monkeypatch.setattr(Greedy, "become", LATER[name])
    assert run([(FIRST, greedy)]) == (STOPPED, ["one"])


def test_a_price_may_be_split_by_what_was_released_if_the_parts_add_up(monkeypatch):
    monkeypatch.setattr(Greedy, "become", (Scaled(TWO, Fraction(1, 3)), Scaled(TWO, Fraction(1, 6))))
    (ran,), _ = run([(FIRST, Greedy(TWO, Fraction(1, 2)))])
    assert len(ran) == 3


def gaussian(**price):
    return Count(TWO, Gaussian(**price, sensitivity=1, step=1))


@pytest.mark.parametrize(
    ("price", "honest", "greedy"),
    [
        (ApproxDP(1, 1e-6), gaussian(epsilon=1, delta=1e-6), gaussian(epsilon=1, delta=2e-6)),
        (ZCDP(Fraction(1, 8)), gaussian(sigma=2), gaussian(sigma=Fraction(19, 10))),
        (GDP(Fraction(1, 2)), gaussian(sigma=2), gaussian(sigma=Fraction(19, 10))),
        (PureDP(1), Count(TWO, laplace(1)), gaussian(sigma=100)),
    ],
)
def test_every_notion_covers_what_keeps_it_and_stops_what_does_not(price, honest, greedy):
    promise = Promise(price, "people")
    promise.check([honest])
    with pytest.raises(InternalError, match="more than was charged"):
        promise.check([greedy])
    with pytest.raises(InternalError, match="more than was charged"):
        promise.check([honest, honest])


def test_a_stage_that_could_keep_what_it_saw_is_stopped():
    class Keeping(Count):
        def __init__(self, query, mechanism):
            for name, value in {"query": query, "mechanism": mechanism, "part": 0, "column": 0}.items():
                object.__setattr__(self, name, value)

    Keeping.__dataclass_params__ = type("Parameters", (), {"frozen": False})
    stage = Keeping(ONE, laplace(1))
    assert run([(stage,)]) == (STOPPED, [])


def test_stored_outputs_unfold_a_plan_as_it_ran():
    outputs = {"one": Output(numbers=(7,)), "two": Output(numbers=(1, 2))}
    ran = unfold((FIRST, Scaled(TWO, Fraction(1, 2))), lambda draw, _: outputs[draw.query.name])
    assert [each.output for each in ran] == list(outputs.values())
    assert ran[1].draw.mechanism.sensitivity == 7


def test_invented_people_need_no_permit():
    engine = Engine()
    assert len(run_invented((FIRST, SECOND), engine)) == 2
    assert Released().outputs == ()
