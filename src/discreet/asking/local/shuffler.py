"""A party between people and collector: it forgets who sent what, so that people hide one another."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.errors import InvalidParameter
from discreet.kernel.losses import ApproxDP, shuffled
from discreet.kernel.numerics import Real, exact_delta, exact_whole
from discreet.kernel.randomness import Source, fresh_source, uniform_below

STRIPPED = frozenset({"token", "address", "time", "order"})


@dataclass(frozen=True, init=False)
class Shuffler:
    """Holds reports back until `people` of them are there, then passes on what they say in random order.

    It must be run by another party than the collector, and strip sender tokens, addresses, times and order:
    without any of these the collector can still tell who sent what, and epsilon is what a report costs.

    Privacy: `loss`, (ε, δ)-DP under "replace" for what the collector holds of one batch, by the certified
    amplification of docs/theory/shuffling.md; every report is from one protocol and each person sends one.
    The shuffler itself sees each report with its sender: against it epsilon is that of the protocol, and
    neither covers people who send the same kept bytes in several batches, which link them.

    >>> from discreet.asking.local.choice import Choice
    >>> socks = Choice(values=["yes", "no"], epsilon=1)
    >>> strips = {"token", "address", "time", "order"}
    >>> relay = Shuffler(
    ...     socks, people=10_000, delta=1e-8, run_by="relay", collector="office", strips=strips
    ... )
    >>> float(relay.loss.epsilon) < 0.1
    True
    """

    protocol: Any
    people: int
    delta: Fraction

    def __init__(
        self,
        protocol: Any,
        *,
        people: Real,
        delta: Real,
        run_by: str,
        collector: str,
        strips: Iterable[str],
    ) -> None:
        if not hasattr(protocol, "check"):
            raise InvalidParameter("protocol must be a local protocol.", parameter="protocol")
        parties = [run_by, collector]
        if not all(isinstance(party, str) and party.strip() for party in parties) or len(
            {party.strip().casefold() for party in parties}
        ) < len(parties):
            raise InvalidParameter(
                "run_by must name another party than the collector. A collector who receives reports itself "
                "sees who sent what.",
                parameter="run_by",
            )
        kept = sorted(STRIPPED - set(strips))
        if kept:
            raise InvalidParameter(
                f"strips must name all of {', '.join(sorted(STRIPPED))}; {', '.join(kept)} would stay.",
                parameter="strips",
            )
        object.__setattr__(self, "protocol", protocol)
        object.__setattr__(self, "people", exact_whole(people, name="people", least=1))
        object.__setattr__(self, "delta", exact_delta(delta))

    @property
    def loss(self) -> ApproxDP:
        """What the collector learns of one person from a batch of at least `people` reports."""
        return shuffled(epsilon=self.protocol.epsilon, people=self.people, delta=self.delta)

    def mix(self, messages: Iterable[tuple[str, bytes | str]]) -> list[Any]:
        """Return the reports of a batch of (sender, bytes of a client), and nothing else, in random order.

        A sender's later messages are left out: a second report would not be covered. A message that is no
        report of this protocol is left out too, whoever sent it. If fewer than `people` are left, nothing is
        passed on.
        """
        first: dict[str, Any] = {}
        for sender, message in messages:
            if sender not in first:
                report = self._read(message)
                if report is not None:
                    first[sender] = report
        if len(first) < self.people:
            raise InvalidParameter(
                f"messages must be of at least {self.people} people. Wait for more.", parameter="messages"
            )
        return _shuffle(list(first.values()), fresh_source())

    def _read(self, message: bytes | str) -> Any:
        """The report in a message, or None."""
        try:
            report = json.loads(message)["report"]
            self.protocol.check(report)
        except (ValueError, TypeError, KeyError, RecursionError, InvalidParameter):
            return None
        return report


def _shuffle(items: list[Any], source: Source) -> list[Any]:
    """Every order is as likely (Fisher and Yates)."""
    for i in range(len(items) - 1, 0, -1):
        j = uniform_below(source, i + 1)
        items[i], items[j] = items[j], items[i]
    return items
