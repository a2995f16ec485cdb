"""Every example runs, says its facts, draws its picture, and explains itself."""

import json
import runpy
import sys
from pathlib import Path

import plotly.graph_objects as go
import pytest

import discreet as dp

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("e*.py"))

# What each example must print, whatever the noise was.
FACTS = {
    "e01_hospital": ["So Alice takes drugs: True", "2.718 times, in both directions", "replace: ε = 1"],
    "e02_bank_debts": ["2,807,799.56 €", "ε = 2,800,798 when Alice leaves", "but 3.5704", "ε = 1 for every"],
    "e03_meeting_city": [
        "Mean position: (38.75, -87.0)",
        "(36, -88)",
        "999.85",
        "sensitivity 1972",
        "62.3 %",
    ],
    "e04_auction_price": ["1.00    4.00", "so it is 4, and 1 is the best", "61.2 %", "100.0 %"],
    "e05_most_common": ["refused: scores must be", "general scores under replace: 2"],
    "e06_socks": ["600000 are expected", "ln 3 = 1.0986", "1/n = 1e-06", "a factor of 672.8"],
    "e07_age_groups": ["add/remove: 1; scale 2", "replace   : 2; scale 4"],
    "e08_skipped_lectures": ["noise of scale 15", "sensitivity is 15", "0.6708          0.5132     0.021"],
    "e09_drug_use": [
        "0.7311   1.0000",
        "0.6667   0.6931",
        "0.7143   0.9163",
        "0.7500   1.0986",
        "0.3 for a mean",
    ],
    "e10_extreme_deltas": ["δ at ε = 0: 0.01", "probability 0.632"],
    "e11_pictures": ["mean 0.3679; at most 1", "[L = -1] = 0.269", "[L = +1] = 0.731", "δ = 0.00683"],
    "e12_exercises": [
        "is at most 1, so",
        "0.9999 ≤ 1",
        "at most 3, so",
        "ratios 1, 1/3, 3",
        "θ = 1/10: its mean is 3/8",
    ],
}


def with_more(mechanism, **changed):
    """A mechanism whose parameters are tampered with: each change is a function of the parameter given."""

    def make(**given):
        return mechanism(
            **{name: changed[name](value) if name in changed else value for name, value in given.items()}
        )

    return make


class Lazy(dp.RandomizedResponse):
    """Answers truthfully less often than it says."""

    linear = dp.RandomizedResponse.quadratic


# A fault for each example, planted in what it uses: its facts must notice.
FAULTS = {
    "e01_hospital": ("discreet.Laplace", with_more(dp.Laplace, epsilon=lambda e: 2 * e)),
    "e02_bank_debts": (
        "discreet.losses.laplace",
        with_more(dp.losses.laplace, sensitivity=lambda _: 1),
    ),
    "e03_meeting_city": ("discreet.Exponential", with_more(dp.Exponential, sensitivity=lambda s: s / 2)),
    "e04_auction_price": ("discreet.Exponential", with_more(dp.Exponential, sensitivity=lambda s: s / 2)),
    "e05_most_common": ("discreet.NoisyMax", with_more(dp.NoisyMax, relation=lambda _: "add/remove")),
    "e06_socks": ("discreet.RandomizedResponse", with_more(dp.RandomizedResponse, truth=lambda t: t - 0.05)),
    "e07_age_groups": ("discreet.Laplace", with_more(dp.Laplace, sensitivity=lambda _: 1)),
    "e08_skipped_lectures": (
        "discreet.local.number",
        with_more(dp.local.number, bounds=lambda _: (0, 1)),
    ),
    "e09_drug_use": ("discreet.RandomizedResponse", Lazy),
    "e10_extreme_deltas": ("discreet.losses.channel", lambda rows: dp.losses.pure(epsilon=1)),
    "e11_pictures": ("discreet.Laplace", with_more(dp.Laplace, epsilon=lambda e: 2 * e)),
    "e12_exercises": ("discreet.Exponential", with_more(dp.Exponential, epsilon=lambda e: 2 * e)),
}


def run(example, monkeypatch, *arguments):
    monkeypatch.syspath_prepend(str(example.parent))
    monkeypatch.setattr(sys, "argv", [str(example), *map(str, arguments)])
    runpy.run_path(str(example), run_name="__main__")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_its_facts_and_draws_a_labelled_picture(example, monkeypatch, capsys, tmp_path):
    run(example, monkeypatch, "--plot", tmp_path / "picture.json")
    printed = capsys.readouterr().out
    assert [fact for fact in FACTS[example.stem] if fact not in printed] == []
    figure = json.loads((tmp_path / "picture.json").read_text(encoding="utf-8"))
    layout = go.Figure(figure).layout  # valid Plotly
    assert layout.title.text
    assert layout.xaxis.title.text
    assert layout.yaxis.title.text


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_the_facts_of_an_example_notice_a_planted_fault(example, monkeypatch, capsys):
    place, fault = FAULTS[example.stem]
    monkeypatch.setattr(place, fault)
    run(example, monkeypatch)
    printed = capsys.readouterr().out
    assert [fact for fact in FACTS[example.stem] if fact not in printed]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_explains_itself(example, monkeypatch, capsys):
    with pytest.raises(SystemExit) as end:
        run(example, monkeypatch, "--help")
    assert end.value.code == 0
    assert "--plot FILE" in capsys.readouterr().out


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_stays_short_and_is_listed(example):
    assert len(example.read_text(encoding="utf-8").splitlines()) <= 90
    assert f"({example.name})" in (example.parent / "README.md").read_text(encoding="utf-8")
