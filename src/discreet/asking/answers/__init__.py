"""Answers: a released table with its intervals and a receipt. All of it is post-processing."""

from discreet.asking.answers.answer import AddingUp, Adjusted, Answer, NonNegative
from discreet.asking.answers.described import Described, describe
from discreet.asking.answers.line import columns_with_intervals
from discreet.asking.answers.receipt import FREE, Receipt
from discreet.asking.answers.stored import restore, store
from discreet.asking.answers.wording import align, show_error, show_value, uneven_ends

__all__ = [
    "FREE",
    "AddingUp",
    "Adjusted",
    "Answer",
    "Described",
    "NonNegative",
    "Receipt",
    "align",
    "columns_with_intervals",
    "describe",
    "restore",
    "show_error",
    "show_value",
    "store",
    "uneven_ends",
]
