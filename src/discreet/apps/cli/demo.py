"""discreet demo: three private questions about an invented table, from price to receipt."""

import json as json_module
import tempfile
from pathlib import Path

import discreet
from discreet.apps.cli.ask import show
from discreet.apps.cli.shared import Flag

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
        bounds={"age": (18, 100), "income": (0, 250_000), "debt": (0, 500_000)},
        max_groups=3,
        max_rows=3,
        population=30_000,
        ledger=ledger,
    )
