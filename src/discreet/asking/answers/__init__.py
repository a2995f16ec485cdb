"""Answers: a released table with its intervals and a receipt. All of it is post-processing."""

from discreet.asking.answers.answer import AddingUp, Adjusted, Answer, NonNegative
from discreet.asking.answers.chart import Drawable, draw_chart
from discreet.asking.answers.described import Described, describe
from discreet.asking.answers.line import columns_with_intervals
from discreet.asking.answers.receipt import FREE, Receipt
from discreet.asking.answers.stored import restore, store
from discreet.asking.answers.svg import COLOURS, FONT, MARGIN, Drawing, Theme
from discreet.asking.answers.wording import align, show_error, show_value, uneven_ends

__all__ = [
    "COLOURS",
    "FONT",
    "FREE",
    "MARGIN",
    "AddingUp",
    "Adjusted",
    "Answer",
    "Described",
    "Drawable",
    "Drawing",
    "NonNegative",
    "Receipt",
    "Theme",
    "align",
    "columns_with_intervals",
    "describe",
    "draw_chart",
    "restore",
    "show_error",
    "show_value",
    "store",
    "uneven_ends",
]
