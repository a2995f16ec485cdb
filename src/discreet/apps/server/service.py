"""The service: the data sets that are served, the users who may ask, and the limits for all."""

import asyncio
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Self

from discreet.apps.server.approvals import Approvals
from discreet.apps.server.data_folder import DataFolder, PolicyFile
from discreet.apps.server.dataset import Dataset
from discreet.apps.server.deadlines import FixedTimeExecutor
from discreet.apps.server.http_errors import busy, not_found, unauthenticated
from discreet.apps.server.journal import Journal
from discreet.apps.server.limits import Daily, Limits, Rate
from discreet.apps.server.people import People, Person
from discreet.apps.server.policy_in_force import PolicyInForce
from discreet.apps.server.records import Records, open_records, secret_of
from discreet.asking.answers import Signer
from discreet.asking.curator import Curator
from discreet.asking.policy import from_policy, from_toml, sibling_path
from discreet.errors import DiscreetError, InvalidParameter

RETIRES_S = 30.0  # from when a data set is opened anew to when the old one takes no more questions


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
        folder: DataFolder | None = None,
    ) -> None:
        self.folder, self._files = folder, dict[str, PolicyFile]()
        self.limits, self.journal = limits or Limits(), journal or Journal()
        self.people, self._approvals, self._records = People(records), Approvals(records), records
        self._daily = Daily(records)
        self.signer = Signer(secret_of(records, "receipts"))
        self.executor = FixedTimeExecutor(self.limits)
        self.datasets: Mapping[str, Dataset] = {}
        self._adding, self.writing = threading.Lock(), asyncio.Lock()  # `writing`: who changes a policy file
        self._retired: dict[PolicyInForce, asyncio.Task[None]] = {}
        for curator in curators:
            name = curator.policy.id
            if name in self.datasets:
                raise InvalidParameter(
                    f"id must be different for each data set, got {name!r} twice.", parameter="id"
                )
            self._add(self._make(curator))
        self._by_token, self._by_address = Rate(self.limits.token_per_s), Rate(self.limits.address_per_s)

    @classmethod
    def open(
        cls,
        policies: Sequence[str | Path],
        *,
        people: str | Path | None = None,
        limits: Limits | None = None,
        journal: Journal | None = None,
        folder: str | Path | None = None,
    ) -> Self:
        """Open the data sets of these policy files, and of those in a folder where owners open more.

        Users are stored in the folder, or else next to the first ledger, by default.
        """
        if not policies and folder is None:
            raise InvalidParameter("policies must name at least one file, got none.", parameter="policy")
        kept = None if folder is None else DataFolder(folder)
        files = [*map(Path, policies), *([] if kept is None else kept.policies())]
        curators = [_open(policy) for policy in files]
        records = open_records(people or (kept.people if kept else people_of_policy(files[0])))
        service = cls(curators, records, limits=limits, journal=journal, folder=kept)
        named = zip(service.datasets, files, strict=True)
        service._files.update({name: PolicyFile(path) for name, path in named})
        return service

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
        for task in self._retired.values():
            task.cancel()
        for before in self._retired:
            before.close()
        for dataset in self.datasets.values():
            dataset.close()
        self._records.close()
        self.journal.close()

    # --- what owners open and change ------------------------------------------------------------------------

    def open_new(self, name: str, text: str, *, other_people: str | None = None) -> Dataset:
        """Open a new data set by its policy's text, which is written to the folder; on failure, nothing is.

        The data is read once, as an engine does that opens it. It may take a while: call it from a thread.
        """
        assert self.folder is not None
        if name in self.datasets:
            raise InvalidParameter("id must be new, and there is a data set of this name.", parameter="id")
        path = self.folder.add_policy(name, text)
        try:
            dataset = self._make(Curator.from_policy(path, other_people=other_people))
            try:
                dataset.open()
            except BaseException:
                dataset.close()
                raise
        except BaseException:
            path.unlink()
            raise
        self._files[name] = PolicyFile(path)
        return self._add(dataset)

    def policy_file(self, name: str) -> PolicyFile | None:
        """Return the file that a data set's policy is in, if the service was opened by files."""
        return self._files.get(name)

    def prepare(self, name: str, text: str) -> PolicyInForce:
        """Write a data set's policy anew and open it; on failure, all stays as it was.

        It reads the data: call it from a thread.
        """
        file, dataset = self._files[name], self.datasets[name]
        if from_toml(text).id != name:
            raise InvalidParameter("a data set's id must stay what it is.", parameter="id")
        kept = file.read()
        file.write(text)
        try:
            return dataset.reopened(Curator.from_policy(file.path))
        except BaseException:
            file.write(kept)
            raise

    async def reopen(self, name: str, text: str) -> None:
        """Serve a data set by another policy. What was asked before is answered by the old one."""
        dataset = self.datasets[name]
        with dataset.changing():
            opened = await asyncio.to_thread(self.prepare, name, text)
            before = dataset.put_in_force(opened)
        self._retired[before] = asyncio.ensure_future(self._close_later(before))

    async def _close_later(self, before: PolicyInForce) -> None:
        await asyncio.sleep(RETIRES_S)
        await self.executor.settle()
        self._retired.pop(before, None)
        before.close()

    def _make(self, curator: Curator) -> Dataset:
        return Dataset(curator, self.executor, self._approvals, self._daily, self.limits, signer=self.signer)

    def _add(self, dataset: Dataset) -> Dataset:
        """Serve a data set; the mapping is replaced, for another thread may be reading it."""
        with self._adding:
            self.datasets = {**self.datasets, dataset.name: dataset}
        return dataset


def _open(policy: Path) -> Curator:
    """Open the data set of a policy file; an error says of which, for a folder may hold several."""
    try:
        return Curator.from_policy(policy)
    except DiscreetError as error:
        raise type(error)(f"{policy.name}: {error.message}", **error.fields) from error


def people_of_policy(policy: str | Path) -> str:
    """Return where a policy's users are stored: the ledger's database, or a file next to the ledger."""
    place = str(from_policy(policy).ledger.place)
    return place if "://" in place else str(sibling_path(policy, ".people"))
