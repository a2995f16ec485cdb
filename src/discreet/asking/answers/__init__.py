"""Answers: a released table with its intervals and a receipt. All of it is post-processing."""

from discreet.asking.answers.answer import AddingUp, Adjusted, Answer, NonNegative
from discreet.asking.answers.book import REST, Book, BookTable
from discreet.asking.answers.chart import WIDTH, Drawable, draw_chart
from discreet.asking.answers.described import Described, describe
from discreet.asking.answers.receipt import (
    FREE,
    Checked,
    Receipt,
    Signer,
    check_receipt,
    digest_of_rows,
    fingerprint,
)
from discreet.asking.answers.shown import Shown
from discreet.asking.answers.stored import bounds_of, kept_answers, released, restore, store
from discreet.asking.answers.stored_book import as_stored, measured, restore_book, store_book
from discreet.asking.answers.svg import COLOURS, FONT, MARGIN, Drawing, Theme, elide, text_width, ticks
from discreet.asking.answers.tidy import check_tidy
from discreet.asking.answers.wording import (
    align,
    as_csv,
    columns_with_intervals,
    show_error,
    show_value,
    uneven_ends,
)

__all__ = [
    "COLOURS",
    "FONT",
    "FREE",
    "MARGIN",
    "REST",
    "WIDTH",
    "AddingUp",
    "Adjusted",
    "Answer",
    "Book",
    "BookTable",
    "Checked",
    "Described",
    "Drawable",
    "Drawing",
    "NonNegative",
    "Receipt",
    "Shown",
    "Signer",
    "Theme",
    "align",
    "as_csv",
    "as_stored",
    "bounds_of",
    "check_receipt",
    "check_tidy",
    "columns_with_intervals",
    "describe",
    "digest_of_rows",
    "draw_chart",
    "elide",
    "fingerprint",
    "kept_answers",
    "measured",
    "released",
    "restore",
    "restore_book",
    "show_error",
    "show_value",
    "store",
    "store_book",
    "text_width",
    "ticks",
    "uneven_ends",
]
