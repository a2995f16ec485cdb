"""discreet ask and explain: a private answer from a table, and what it would cost."""

import json as json_module
import sys
import tempfile
from pathlib import Path
from typing import Any

import discreet
from discreet.apps.cli.shared import (
    DataOptions,
    Flag,
    PriceOptions,
    check_there,
    fitted,
    open_curator,
    waiting,
)
from discreet.errors import DiscreetError, InvalidParameter

_DATA, _PRICE = DataOptions(), PriceOptions()


def ask(
    data: Path,
    question: str,
    *,
    opened: DataOptions = _DATA,
    priced: PriceOptions = _PRICE,
    json: Flag = False,
    csv: Flag = False,
    save: Path | None = None,
    plot: Path | None = None,
) -> None:
    """Ask a question in SQL and get a private answer, with its error and its price.

    Example: discreet ask accounts.csv "SELECT city, COUNT(DISTINCT person) AS people FROM accounts GROUP
    BY city"
    --unit person --epsilon 0.5

    Parameters
    ----------
    data
        A policy (.toml), or a data file (.csv, .tsv, .parquet, .duckdb).
    question
        The question, in SQL. The table's name is the file's stem.
    json
        Print JSON: rows, intervals and receipt.
    csv
        Print CSV, with the ends of the intervals next to the values.
    save
        Write the table, its receipt and a data dictionary into this folder.
    plot
        Draw the answer with error bars, into this file.
    """
    from discreet.asking.answers import Described

    check_there(data, opened.engine)
    curator, note = open_curator(data, opened)
    if note and not (json or csv):
        print(note, file=sys.stderr)
    with curator:
        if plot is not None:
            _check_plot(plot, curator.explain(question, **priced.terms()))
        with waiting("Budget charged; running the query ..."):
            answer = curator.ask(question, **priced.terms())
        if json:
            print(json_module.dumps(answer.to_json()))
        elif csv:
            print(answer.to_csv(), end="")
        elif isinstance(answer, Described):
            print(answer)
        else:
            show(answer)
    keep(answer, save, plot)


def explain(
    data: Path,
    question: str,
    *,
    opened: DataOptions = _DATA,
    priced: PriceOptions = _PRICE,
    json: Flag = False,
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
    if json:
        print(json_module.dumps(plan.to_json()))
        return
    print(fitted(str(plan)))
    unknown = [name for name, error in plan.errors.items() if error is None and name not in plan.missed]
    if unknown:
        remedy = "" if plan.policy.population else ", for averages until you state the population"
        print(fitted(f"Error of {', '.join(unknown)}: not known before the answer{remedy}."))


def _check_plot(plot: Path, plan: Any) -> None:
    """Raise if the picture cannot be drawn, before anything is charged."""
    from discreet.apps.pictures import check_answer, check_file

    check_file(plot)
    check_answer(plan)


def keep(answer: Any, save: Path | None, plot: Path | None) -> None:
    """Write the files. The answer was printed before, because it was paid for, even if writing fails."""
    sys.stdout.flush()
    try:
        if save is not None:
            answer.save(save)
        if plot is not None:
            from discreet.apps.pictures import answer as draw

            draw(answer).save(plot)
    except (DiscreetError, OSError) as error:
        reason = error.message if isinstance(error, DiscreetError) else error.strerror
        print(f"error: the answer is above, but not all files were written: {reason}", file=sys.stderr)
        sys.exit(error.exit_code if isinstance(error, DiscreetError) else InvalidParameter.exit_code)


def show(answer: Any) -> None:
    """Print the answer as a table with ± columns, its price and what is left."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from discreet.asking.answers import FREE, show_error, show_value

    noisy = [name for name in answer.columns if any(row[name] is not None for row in answer.intervals)]
    table = Table(box=SIMPLE_HEAD, header_style="bold")
    for name in answer.columns:
        numeric = any(isinstance(row[name], int | float) for row in answer.rows)
        table.add_column(Text(name), justify="right" if numeric else "left")
        if name in noisy:
            table.add_column("±", style="dim")
    for row, intervals in zip(answer.rows, answer.intervals, strict=True):
        cells = []
        for name in answer.columns:
            interval = intervals[name]
            cells.append(show_value(row[name], interval))
            if name in noisy:
                cells.append("" if interval is None else show_error(row[name], interval))
        table.add_row(*map(Text, cells))  # labels are plain text, not markup
    console = Console()
    console.print(table)
    spent, left = answer.receipt.in_words("price"), answer.receipt.in_words("remaining")
    confidence = f"± at {float(answer.plan.confidence):.0%} confidence · " if noisy else ""
    paid = f"price {spent} · remaining {left}"
    if not answer.charged:
        paid = f"{FREE} · price then {spent} · remaining then {left}"
    console.print(f"[dim]{confidence}{paid}[/dim]")
    for remark in (*answer.notes, *answer.remarks):
        console.print(Text(remark, style="dim"))


# discreet demo: three private questions about an invented table, from price to receipt.

CITIES = ["Calgary", "Edmonton", "Halifax", "Moncton", "Montreal", "Ottawa", "Quebec", "Regina", "Toronto",
          "Vancouver", "Whitehorse", "Winnipeg"]  # fmt: skip
QUESTIONS = (
    ("How many people live in each city?", 0.2,
     "SELECT city, COUNT(DISTINCT person) AS people FROM people GROUP BY city ORDER BY people DESC"),
    ("What do they owe, by kind of account?", 0.4,
     "SELECT kind, COUNT(*) AS accounts, AVG(debt) AS mean_debt FROM people WHERE debt > 0 GROUP BY kind"),
    ("What is the median income of people under 40?", 0.2,
     "SELECT MEDIAN(income) AS median_income FROM people WHERE age < 40"),
)  # fmt: skip


def demo(
    *,
    json: Flag = False,
    plot: Path | None = None,
    keep: Path | None = None,
) -> None:
    """Ask three questions of a bundled table: 30,000 invented people and their accounts.

    Example: discreet demo --plot cities.html

    Parameters
    ----------
    json
        Print the answers as JSON.
    plot
        Draw the first answer with error bars, into this file.
    keep
        Keep the ledger in this folder; by default it is thrown away, as the people are invented.
    """
    from rich.console import Console

    console = Console()
    with tempfile.TemporaryDirectory() as folder:
        curator = open_demo(Path(keep or folder) / "demo.ledger")
        answers = []
        for title, epsilon, sql in QUESTIONS:
            answer = curator.ask(sql, epsilon=epsilon)
            answers.append(answer)
            if not json:
                console.print(f"\n[bold]{title}[/bold]\n[cyan]{sql}[/cyan]")
                show(answer)
        if plot is not None:
            discreet.apps.pictures.answer(answers[0]).save(plot)
        if json:
            print(json_module.dumps([answer.to_json() for answer in answers]))
        else:
            spent = 1 - float(curator.remaining.epsilon)
            console.print(
                f"\nSpent epsilon {spent:.2g} of 1. Ask your own: [bold]discreet ask --help[/bold]\n"
            )
        curator.close()


def open_demo(ledger: Path) -> discreet.Curator:
    """Open the bundled table with the demo's policy."""
    return discreet.Curator.open(
        Path(discreet.__file__).parent / "demo" / "people.parquet",
        unit="person",
        budget={"epsilon": 1, "delta": 1e-6},
        keys={"city": CITIES, "kind": ["card", "loan", "car", "mortgage"]},
        bounds={"age": (18, 100), "income": (0, 250_000), "debt": (0, 1_000_000)},
        limit="auto",
        max_rows=3,
        population=30_000,
        ledger=ledger,
    )
