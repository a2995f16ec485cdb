"""The ledger of a policy: what the owner declares there is what the ledger keeps."""

import json
from pathlib import Path

from discreet.ledger.ledger import Ledger
from discreet.planning import budget_of
from discreet.tables import Policy


def open_ledger(policy: Policy, path: str | Path, *, other_people: str | None = None) -> Ledger:
    """Open, or make, the ledger of a policy's data set; what it knows of the data set must agree."""
    columns = {table.name: sorted(column.name for column in table.columns) for table in policy.tables}
    return Ledger.open(
        path,
        dataset=policy.id,
        budget=budget_of(policy),
        filter=policy.filter,
        relation=policy.relation,
        unit="; ".join(f"{table.name}: {table.unit}" for table in policy.tables),
        schema=json.dumps(columns, sort_keys=True),
        limits={each.name: f"{each.max_groups} groups, {each.max_rows} rows" for each in policy.tables},
        version=policy.version,
        other_people=other_people,
    )
