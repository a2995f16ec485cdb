"""Each stage of a plan draws what it releases: without random bits it releases nothing."""

import pandas
import pytest

import discreet as dp
from discreet.asking.planning.book_stages import AddNoiseToTable
from discreet.asking.planning.choices import ChooseLabel, ChooseQuantile
from discreet.asking.planning.clamping import ChooseEnd
from discreet.asking.planning.limit_stages import AddNoiseToAll, ChooseLimit, CountAbove
from discreet.asking.planning.spill import MeasureSpill
from discreet.asking.planning.stages import AddNoise, CountAndShow, FindBounds, SelectKeys, TableStage

BOUNDED, LIMITED = {"max_groups": 1}, {"limit": "auto"}
MANY = {**LIMITED, "keys": {"city": list("abcdefghijklmnopqrst")}}
STAGES = {
    AddNoise: ("SELECT COUNT(*) AS n FROM t", BOUNDED, {}),
    CountAndShow: ("SELECT job, COUNT(DISTINCT person) AS n FROM t GROUP BY job", BOUNDED, {}),
    SelectKeys: ("SELECT job, MEDIAN(age) AS m FROM t GROUP BY job", {"relation": "replace", **BOUNDED}, {}),
    FindBounds: ("SELECT SUM(debt) AS s FROM t", BOUNDED, {"bounds": "auto"}),
    ChooseLabel: ("SELECT MODE(city) AS m FROM t", BOUNDED, {}),
    ChooseQuantile: ("SELECT MEDIAN(age) AS m FROM t", BOUNDED, {}),
    ChooseLimit: ("SELECT COUNT(*) AS n FROM t", LIMITED, {}),
    CountAbove: ("SELECT COUNT(*) AS n FROM t", LIMITED, {}),
    MeasureSpill: ("SELECT city, COUNT(*) AS n FROM t GROUP BY city", MANY, {}),
    AddNoiseToAll: ("SELECT COUNT(*) AS n FROM t", LIMITED, {}),
    AddNoiseToTable: (["city"], BOUNDED, {}),
    ChooseEnd: ("SELECT AVG(age) AS m FROM t", LIMITED, {}),
}


class NoBits:
    """A source that has none, and knows whether it was asked."""

    asked = False

    def __getattr__(self, name):
        type(self).asked = True
        raise AttributeError(name)


def drawing(kind=TableStage):
    """Every stage that has a draw of its own."""
    own = {kind} if "draw" in vars(kind) else set()
    return own.union(*map(drawing, kind.__subclasses__()))


def test_every_stage_is_here():
    assert drawing() == set(STAGES)


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.__name__)
def test_no_stage_releases_anything_without_random_bits(stage, tmp_path, monkeypatch):
    sql, declared, price = STAGES[stage]
    frame = pandas.DataFrame(
        {"person": range(60), "job": "clerk", "city": "Rome", "age": [30, 40, 50] * 20, "debt": 5.0}
    )
    told = {"unit": "person", "budget": dp.ApproxDP(9, 1e-3), "keys": {"city": ["Rome", "Oslo"]}}
    told |= {"bounds": {"age": (0, 100)}, **declared}
    real, reached = stage.draw, []

    def draw(self, given, source):
        reached.append(self)
        return real(self, given, NoBits())

    monkeypatch.setattr(stage, "draw", draw)
    monkeypatch.setattr(NoBits, "asked", False)
    curator = dp.Curator.open(frame, name="t", engine="memory", ledger=tmp_path / "t.ledger", **told)
    ask = curator.ask if isinstance(sql, str) else curator.book
    with curator, pytest.raises((dp.DiscreetError, AttributeError)):
        ask(sql, epsilon=1, delta=1e-5, **price)
    assert reached
    assert NoBits.asked
