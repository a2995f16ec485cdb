"""discreet explain: what a question would do, cost and err by."""

import json as json_module
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from discreet.cli.options import Opened, open_curator
from discreet.cli.price import Priced
from discreet.cli.shared import fitted

_DEFAULTS = Opened(), Priced()


def explain(
    data: Path,
    question: str,
    *,
    opened: Opened = _DEFAULTS[0],
    priced: Priced = _DEFAULTS[1],
    json: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Explain a question before asking it: bounding, noise, expected error and price. Nothing is charged.

    Example: discreet explain accounts.toml "SELECT AVG(debt) FROM accounts" --epsilon 0.5

    Parameters
    ----------
    data
        A policy (.toml), or a data file (.csv, .tsv, .parquet, .duckdb). The data itself need not exist.
    question
        The question, in SQL.
    json
        Print JSON.
    """
    curator, _ = open_curator(data, opened)
    with curator:
        plan = curator.explain(question, **priced.terms())
    print(json_module.dumps(plan.to_json()) if json else fitted(str(plan)))
