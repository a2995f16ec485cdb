"""What a terminal shows: lines that fit it, and labels that it does not obey."""

import io
import sys

import pytest

from discreet.apps.cli.shared import fitted
from discreet.asking.answers import show_value


class Terminal(io.StringIO):
    def isatty(self):
        return True


SENTENCE = "  accounts.debt: no bounds -> SUM, AVG, VARIANCE, STDDEV, MEDIAN, MIN and MAX are refused"


def test_long_lines_are_broken_between_words_on_a_terminal_alone(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    assert fitted(SENTENCE) == SENTENCE
    monkeypatch.setattr(sys, "stdout", Terminal())
    lines = fitted(SENTENCE).split("\n")
    assert all(len(line) <= 40 for line in lines)
    assert " ".join(lines).split() == SENTENCE.split()


@pytest.mark.parametrize("label", ["\x1b[2J", "[/bold]", "\x07", "a\nb"])
def test_a_label_gives_a_terminal_no_orders(label):
    assert show_value(label).isprintable()
