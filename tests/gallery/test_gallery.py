"""Every broken mechanism is refuted, all of them within the time stated."""

import time
from pathlib import Path

import pytest
from tests.gallery.broken import GALLERY
from tests.gallery.mutants import MUTANTS

import discreet as dp

SECONDS = 90
ALL = [*GALLERY, *MUTANTS]
spent = []


@pytest.mark.parametrize("entry", ALL, ids=lambda entry: entry.name)
def test_a_broken_mechanism_is_refuted(entry):
    started = time.process_time()
    report = dp.audit(entry.target, claim=entry.claim, neighbours=entry.neighbours, seconds=600)
    spent.append(time.process_time() - started)
    assert report.violated, report
    assert entry.true is None or report.lower_bound <= entry.true
    assert sum(spent) <= SECONDS


def test_the_gallery_is_large_and_its_names_are_unique():
    assert len(GALLERY) >= 25
    assert len(MUTANTS) >= 10
    assert len({entry.name for entry in ALL}) == len(ALL)


def test_the_guide_shows_every_entry():
    page = (Path(__file__).parents[2] / "docs" / "guide" / "gallery.md").read_text()
    assert [entry.name for entry in ALL if f"`{entry.name}` | {entry.fault}" not in page] == []
