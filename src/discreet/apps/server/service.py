"""The service: the data sets that are served, the users who may ask, and the limits for all."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Self

from discreet.apps.server.approvals import Approvals
from discreet.apps.server.dataset import Dataset
from discreet.apps.server.deadlines import FixedTimeExecutor
from discreet.apps.server.http_errors import busy, not_found, unauthenticated
from discreet.apps.server.journal import Journal
from discreet.apps.server.limits import Daily, Limits, Rate
from discreet.apps.server.people import People, Person
from discreet.apps.server.records import Records, open_records, secret_of
from discreet.asking.answers import Signer
from discreet.asking.curator import Curator
from discreet.asking.policy import from_policy, sibling_path
from discreet.errors import InvalidParameter


class Service:
    """Everything that an application serves.

    `datasets` are by name; `people` finds the user of a token; `admit` is the check of REST and pages alike.
    """

    def __init__(
        self,
        curators: Iterable[Curator],
        records: Records,
        *,
        limits: Limits | None = None,
        journal: Journal | None = None,
    ) -> None:
        self.limits, self.journal = limits or Limits(), journal or Journal()
        self.people, self._approvals, self._records = People(records), Approvals(records), records
        self._daily = Daily(records)
        self.signer = Signer(secret_of(records, "receipts"))
        self.executor = FixedTimeExecutor(self.limits)
        self.datasets: Mapping[str, Dataset] = self._open(curators)
        self._by_token, self._by_address = Rate(self.limits.token_per_s), Rate(self.limits.address_per_s)

    @classmethod
    def open(
        cls,
        policies: Sequence[str | Path],
        *,
        people: str | Path | None = None,
        limits: Limits | None = None,
        journal: Journal | None = None,
    ) -> Self:
        """Open the data sets of these policy files. Users are stored next to the first ledger by default."""
        if not policies:
            raise InvalidParameter("policies must name at least one file, got none.", parameter="policy")
        curators = [Curator.from_policy(policy) for policy in policies]
        records = open_records(people or people_of_policy(policies[0]))
        return cls(curators, records, limits=limits, journal=journal)

    def dataset(self, name: str) -> Dataset:
        """Return the data set of this name, or raise."""
        if name not in self.datasets:
            raise not_found()
        return self.datasets[name]

    def admit(self, token: str, *, address: str) -> Person:
        """Return the user of a token, within the rates, or raise the one error for all invalid tokens."""
        if not self._by_address.allows(address):
            raise busy()
        person = self.people.identify(token)
        if person is None:
            raise unauthenticated()
        if not self._by_token.allows(token):
            raise busy()
        return person

    def readmit(self, person: Person, *, address: str) -> Person | None:
        """Return the user of a token that was accepted before and is still valid; None if the rates say
        wait.
        """
        if not self._by_address.allows(address) or not self._by_token.allows(person.token):
            return None
        found = self.people.holder(person.token)
        if found is None:
            raise unauthenticated()
        return found

    def check_known(self, name: str) -> None:
        """Raise if there is no user of this name."""
        if self.people.find(name) is None:
            raise not_found()

    def open_all(self) -> Self:
        """Open every engine and ledger now, so that problems are reported before serving."""
        for dataset in self.datasets.values():
            dataset.open()
        return self

    async def close(self) -> None:
        """Finish what is running, then close files and connections."""
        await self.executor.close()
        for dataset in self.datasets.values():
            dataset.close()
        self._records.close()
        self.journal.close()

    def _open(self, curators: Iterable[Curator]) -> dict[str, Dataset]:
        datasets: dict[str, Dataset] = {}
        for curator in curators:
            dataset = Dataset(
                curator, self.executor, self._approvals, self._daily, self.limits, signer=self.signer
            )
            if dataset.name in datasets:
                raise InvalidParameter(
                    f"id must be different for each data set, got {dataset.name!r} twice.", parameter="id"
                )
            datasets[dataset.name] = dataset
        return datasets


def people_of_policy(policy: str | Path) -> str:
    """Return where a policy's users are stored: the ledger's database, or a file next to the ledger."""
    place = str(from_policy(policy).ledger.place)
    return place if "://" in place else str(sibling_path(policy, ".people"))
