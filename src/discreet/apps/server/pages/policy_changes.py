"""What an owner changes later: a raised budget, a new version, limits; the policy file says it too.

Who is protected, what is promised of columns and what analysts may spend alone are fixed by the ledger.

Tested by: tests/server/pages/test_policy_changes.py
"""

import asyncio
import hashlib
import json
from collections.abc import Iterator, Mapping
from decimal import Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.apps.server.data_folder import Setting
from discreet.apps.server.dataset import Dataset
from discreet.apps.server.service import Service
from discreet.asking.policy import EachRow, from_toml, read_budget, read_decimal
from discreet.errors import InvalidParameter


async def write_raised(service: Service, name: str, numbers: Mapping[str, Any]) -> bool:
    """Write a raised budget into the policy file, and return whether that was possible.

    The ledger holds it already, and the file is for the next start, where a budget that is not the ledger's
    is refused.
    """
    file, budget = service.policy_file(name), read_budget(numbers)
    if file is None:
        return False
    stated = {part: as_decimal(number) for part, number in reversed(budget)}
    async with service.writing:
        try:
            text = await asyncio.to_thread(file.with_settings, [(("dataset",), "budget", stated)])
            if from_toml(text).budget != budget:
                return False
            await asyncio.to_thread(file.write, text)
        except InvalidParameter:  # the file says it in another way, or cannot be written
            return False
    return True


async def change_policy(service: Service, name: str, form: Mapping[str, str]) -> bool:
    """Change what a form changes in a policy file, serve the data set by it, and return whether it does."""
    file, dataset = service.policy_file(name), service.dataset(name)
    if form.get("seen", digest := digest_of_changeable(dataset)) != digest:
        raise InvalidParameter(
            "the policy must be as this page showed it, and it was changed since. Look again."
        )
    settings = list(settings_of(dataset, form))
    if file is None or not settings:
        return False
    sources = [value for _, setting, value in settings if setting == "source"]
    if sources and "version" not in [setting for _, setting, _ in settings]:
        raise InvalidParameter("version must change with the file: its answers are other answers.")
    if not {*sources} <= {*files_to_choose(service, name)}:
        raise InvalidParameter("file must be one of the server's folder.", parameter="source")
    async with service.writing:  # of two owners at once, the second changes what the first wrote
        await service.reopen(name, await asyncio.to_thread(file.with_settings, settings))
    return True


def settings_of(dataset: Dataset, form: Mapping[str, str]) -> Iterator[Setting]:
    """Yield the settings that a form changes; an emptied one is taken out."""
    before = changeable(dataset)
    for field, given in form.items():
        text = given.strip()[:200]
        if field not in before or text == before[field]:
            continue
        section, _, name = field.rpartition(".")
        table = section.removeprefix("tables.")
        yield (section,) if table == section else ("tables", table), name, _value(dataset, name, text)


def _value(dataset: Dataset, name: str, text: str) -> Any:
    if not text:
        return None
    if name in ("version", "source") or (name, text) == ("limit", "auto"):
        return text
    number = read_decimal(text, name)
    if name in ("approve_above", "daily"):
        delta = dict(dataset.policy.budget).get("delta")
        return {"epsilon": number, **({"delta": as_decimal(delta)} if delta else {})}
    return number


def changeable(dataset: Dataset) -> dict[str, str]:
    """Return what an owner may change of a policy, by section and name, as text."""
    policy = dataset.policy
    serving = policy.serving
    found = {
        "dataset.version": policy.version,
        "dataset.population": "" if policy.population is None else str(policy.population),
        "server.deadline_s": f"{serving.deadline_s:g}",
    }
    if "epsilon" in dict(policy.budget):
        for name, part in (("approve_above", serving.approve_above), ("daily", serving.daily)):
            known = None if part is None else dict(part).get("epsilon")
            found[f"server.{name}"] = "" if known is None else f"{as_decimal(known):f}"
    for table in policy.tables:
        if not isinstance(table.unit, EachRow):
            found[f"tables.{table.name}.limit"] = "" if table.limit is None else str(table.limit)
        if isinstance(table.source, str) and "://" not in policy.engine:
            found[f"tables.{table.name}.source"] = Path(table.source).name
    return found


def digest_of_changeable(dataset: Dataset) -> str:
    """Return by what a form names the settings that its page showed: of two owners, one must not undo the
    other's change unseen."""
    return hashlib.sha256(json.dumps(changeable(dataset)).encode()).hexdigest()


def files_to_choose(service: Service, name: str) -> list[str]:
    """Return the files that a data set may be read from: those of the server's folder, if it is there."""
    file, folder = service.policy_file(name), service.folder
    return folder.files() if file and folder and file.path.parent == folder.place else []


def as_decimal(number: Fraction) -> Decimal:
    """Return a policy's number as it is written: all of them are decimals.

    >>> as_decimal(Fraction(1, 8))
    Decimal('0.125')
    """
    return Context(prec=100).divide(*map(Decimal, number.as_integer_ratio()))
