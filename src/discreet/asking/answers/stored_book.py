"""What the ledger keeps of a book: the measured tables, compressed, and the receipt.

Everything else of a book follows from these and the plan. Each table is kept with the scale of its noise, so
that a book is read by what it was measured with, whatever a later version would measure.
"""

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.asking.answers.book import Book
from discreet.asking.answers.receipt import Receipt
from discreet.asking.planning import BookPlan, Columns, Whole


def store_book(plan: BookPlan, measured: Mapping[Columns, Whole], receipt: Receipt) -> bytes:
    """Return what the ledger keeps."""
    return as_stored(_packed(plan, measured), dict(receipt.facts))


def as_stored(released: list[dict[str, Any]], receipt: Mapping[str, Any]) -> bytes:
    """Return what the ledger keeps, from packed tables."""
    kept = {"sets": [], "receipt": dict(receipt), "book": released}
    return json.dumps({"format": 1, "answers": [kept]}, sort_keys=True, allow_nan=False).encode()


def measured(found: Book) -> list[dict[str, Any]]:
    """Return the measured tables of a book, packed."""
    return _packed(found.plan, found.measured)


def _packed(plan: BookPlan, tables: Mapping[Columns, Whole]) -> list[dict[str, Any]]:
    scales = plan.noise.scales
    return [
        {"columns": list(columns), "scale": str(scales[columns]), "cells": pack(table)}
        for columns, table in tables.items()
    ]


def restore_book(plan: BookPlan, stored: bytes, *, charged: bool = True) -> Book:
    """Return the book that `store_book` wrote, read by the plan of the same question."""
    (facts,) = json.loads(stored)["answers"]
    sizes = plan.noise.workload.sizes
    measured = {
        tuple(each["columns"]): unpack(each["cells"]).reshape([sizes[one] for one in each["columns"]])
        for each in facts["book"]
    }
    scales = {tuple(each["columns"]): Fraction(each["scale"]) for each in facts["book"] if "scale" in each}
    if scales and scales != plan.noise.scales:
        plan = replace(plan, noise=plan.noise.scaled(scales))
    return Book(plan, measured, Receipt(facts["receipt"], charged=charged))


def pack(table: NDArray[Any]) -> str:
    """Return whole numbers as text: bytes of the same place together, compressed.

    >>> unpack(pack(np.array([3, -2**40, 0]))).tolist()
    [3, -1099511627776, 0]
    """
    whole = np.ascontiguousarray(table, dtype="<i8").reshape(-1)
    # Small numbers of both signs get small bytes: 0, -1, 1, -2 become 0, 1, 2, 3.
    folded = (whole << 1) ^ (whole >> 63)
    return base64.b64encode(zlib.compress(folded.view(np.uint8).reshape(-1, 8).T.tobytes(), 6)).decode()


def unpack(text: str) -> Whole:
    """Return the numbers that `pack` wrote."""
    plain = np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype=np.uint8)
    folded = np.ascontiguousarray(plain.reshape(8, -1).T).view("<u8").reshape(-1)
    return (folded >> np.uint64(1)).astype(np.int64) ^ -(folded & np.uint64(1)).astype(np.int64)
