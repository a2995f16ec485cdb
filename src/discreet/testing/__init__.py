"""What tests of discreet, and of code that uses it, need."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.apps.auditing import AuditReport, audit
from discreet.apps.auditing.datasets import Invented, Invention, Neighbours
from discreet.apps.auditing.people import Row, Write, Writer
from discreet.asking.dry_run import complete
from discreet.asking.policy import EachRow, Policy, Table, Value
from discreet.kernel.numerics import Real
from discreet.kernel.randomness.source import Words

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


# A tape of words in place of random ones, for tests alone.


class Tape:
    """A source that plays back given words and then raises: for tests of exactness, never for a release.

    >>> Tape([1, 2, 3]).words(2).tolist()
    [1, 2]
    """

    def __init__(self, words: Iterable[int]) -> None:
        self._words = list(words)
        self._played = 0

    @property
    def left(self) -> int:
        """How many words have not been played."""
        return len(self._words) - self._played

    def words(self, count: int) -> Words:
        """The next `count` words."""
        if count > self.left:
            raise EOFError(f"the tape has {self.left} words left, but {count} were asked for")
        self._played += count
        return np.array(self._words[self._played - count : self._played], dtype=np.uint64)

    def word(self) -> int:
        """The next word."""
        return int(self.words(1)[0])


# assert_private: an audit as one line of a test.


def assert_private(
    target: Any,
    *,
    claim: Any,
    neighbours: Iterable[Any] | None = None,
    confidence: Real = 1 - 1e-9,
    samples: int | None = 20_000,
    seconds: float = 30,
) -> AuditReport:
    """Fail if the claim of privacy is refuted; takes what `discreet.audit` takes, and returns its report.

    Accuracy: a correct target fails with probability at most 1 - confidence; `report.power` says what a
    passing test would have found.

    >>> assert_private(lambda data, n: [0] * n, claim=0, neighbours=(1, 2), samples=1000).verdict
    'not refuted'
    """
    __tracebackhide__ = True  # pytest then shows the caller's line
    report = audit(
        target, claim=claim, neighbours=neighbours, confidence=confidence, samples=samples, seconds=seconds
    )
    if report.violated:
        raise AssertionError(str(report))
    return report


# Neighbouring data sets of a policy as a hypothesis strategy: for property tests of questions.

MOST_ROWS = 8  # drawn for one person in one table, and then repeated
MOST_COPIES = 4
SOMEBODY = 9


def neighbouring(policy: Policy, literals: tuple[Value, ...] = ()) -> "SearchStrategy[Neighbours]":
    """Pairs of data sets that differ in one person under the policy's relation; the others are arbitrary.

    Values lie at the edges of their columns, beyond them, or are missing; rows repeat; tables may be empty.
    Needs hypothesis, of the extra [testing].
    """
    from hypothesis import strategies as st

    writer, whole = Writer(literals), complete(policy)
    named = frozenset(each.name for each in whole.tables if not isinstance(each.unit, EachRow))

    def rows_of(table: Table) -> "SearchStrategy[list[Row]]":
        columns: dict[str, Any] = {
            each.name: st.sampled_from(writer.odd_values(each)) for each in table.columns
        }
        rows = st.lists(st.fixed_dictionaries(columns), min_size=1, max_size=MOST_ROWS)
        return st.builds(_repeat, rows, st.integers(1, MOST_COPIES))

    somebody = st.fixed_dictionaries({table.name: rows_of(table) for table in whole.tables}).map(_writes)

    def pair(others: list[Write], first: Write, second: Write) -> Neighbours:
        invention = Invention(whole, writer)
        people = dict(enumerate(others, start=1))
        replaced = {} if policy.relation == "add/remove" else {SOMEBODY: second}
        sides: list[Invented] = [
            invention.write(words, people, more)
            for words, more in (("with somebody", {SOMEBODY: first}), ("without", replaced))
        ]
        return Neighbours(sides[0], sides[1], named)

    return st.builds(pair, st.lists(somebody, max_size=3), somebody, somebody)


def _repeat(rows: list[Row], copies: int) -> list[Row]:
    return [dict(row) for row in rows for _ in range(copies)]


def _writes(rows: dict[str, list[Row]]) -> Write:
    return lambda table: [dict(row) for row in rows[table.name]]


__all__ = ["Tape", "assert_private", "neighbouring"]
