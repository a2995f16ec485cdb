"""The house: the data sets that are served, the people who may come in, and the limits for all."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Self

from discreet.curator import Curator
from discreet.errors import InvalidParameter
from discreet.server.approvals import Approvals
from discreet.server.dataset import Dataset
from discreet.server.deadlines import Desk
from discreet.server.journal import Journal
from discreet.server.limits import Limits, Rate
from discreet.server.people import People, Person
from discreet.server.records import Records, open_records
from discreet.server.refusals import busy, not_found, unauthenticated
from discreet.tables import from_policy, sibling_path


class House:
    """Everything that an application serves.

    `datasets` are by name; `people` says whose token it is; `admit` is the door of REST and pages alike.
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
        self.desk = Desk(self.limits)
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
        """The house of these policy files; people are kept beside the first one's ledger unless told
        otherwise.
        """
        if not policies:
            raise InvalidParameter("a house must serve at least one policy, got none.", parameter="policy")
        curators = [Curator.from_policy(policy) for policy in policies]
        records = open_records(people or people_beside(policies[0]))
        return cls(curators, records, limits=limits, journal=journal)

    def dataset(self, name: str) -> Dataset:
        """The data set of this name."""
        if name not in self.datasets:
            raise not_found()
        return self.datasets[name]

    def admit(self, token: str, *, address: str) -> Person:
        """Whose token this is, within the rates; one constant refusal for every token that is not valid."""
        if not self._by_address.allows(address):
            raise busy()
        person = self.people.identify(token)
        if person is None:
            raise unauthenticated()
        if not self._by_token.allows(token):
            raise busy()
        return person

    def open_all(self) -> Self:
        """Open every engine and ledger now: what is wrong with a policy or its data shows before serving."""
        for dataset in self.datasets.values():
            dataset.open()
        return self

    async def close(self) -> None:
        """Finish what is under way, then give back files and connections."""
        await self.desk.close()
        for dataset in self.datasets.values():
            dataset.close()
        self._records.close()
        self.journal.close()

    def _open(self, curators: Iterable[Curator]) -> dict[str, Dataset]:
        datasets: dict[str, Dataset] = {}
        for curator in curators:
            dataset = Dataset(curator, self.desk, self._approvals, self.limits)
            if dataset.name in datasets:
                raise InvalidParameter(
                    f"data sets of one house must differ in id, got {dataset.name!r} twice.", parameter="id"
                )
            datasets[dataset.name] = dataset
        return datasets


def people_beside(policy: str | Path) -> str:
    """Where the people of a policy's house are kept: in the ledger's database, or in a file beside it."""
    place = str(from_policy(policy).ledger.place)
    return place if "://" in place else str(sibling_path(policy, ".people"))
