"""Make the kept ledgers anew: `python make.py FOLDER`, by the version whose ledgers shall be kept.

Writes into FOLDER the data, and for each case a ledger, as the SQL text that makes it, and what it said when
it was made. Run once for each version whose ledgers must stay readable.
"""

import json
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from discreet import Curator
from discreet.kernel.ledger import FileAnchor, Ledger, LedgerFile, Request
from discreet.kernel.losses import ApproxDP, PureDP
from ledger.kept.cases import ASKED, DATA, KEY, opening_of
from servers.postgres import PostgresServer, _binary


def make_data(path: Path) -> None:
    """Invented people; drawn anew each time, for nothing hangs on them."""
    lines = ["person,age,income,job,city,kind,debt,opened"]
    for person in range(60):
        age, income = random.randint(18, 90), random.randint(1000, 90_000)
        city, job = random.choice(["Ottawa", "Toronto"]), random.choice(["baker", "nurse", "clerk"])
        for kind in ("card", "loan"):
            debt, day = random.randint(0, 1200), random.randint(1, 4)
            lines.append(f"{person},{age},{income},{job},{city},{kind},{debt},2020-01-{day:02}")
    path.write_text("\n".join(lines) + "\n")


def make_asked(folder: Path, name: str, place: Any) -> None:
    opening, questions = opening_of(name), ASKED[name][1]
    asked = []
    with Curator.open(folder / DATA, ledger=place, **opening) as curator:
        for analyst in ("owner", "ann") if name == "per_analyst" else ("owner",):
            for question, terms in questions:
                given = curator.for_analyst(analyst).ask(question, **terms)
                answers = given if isinstance(given, tuple) else (given,)
                asked.append({"analyst": analyst, "answers": [each.to_json() for each in answers]})
        if name == "watched":
            watch = curator.watch(threshold=1_000_000, epsilon=0.5, delta=0.001, count=2, key="a watch")
            watch.test("SELECT COUNT(*) FROM people")
    keep(folder, name, place, asked)


def keep(folder: Path, name: str, place: Any, asked: list[Any] | None = None) -> None:
    """What the ledger says of itself, before anything else opens it."""
    where = place if isinstance(place, dict) else {"place": place}
    anchors = [FileAnchor(where["anchor"])] if "anchor" in where else []
    key = Path(where["key_file"]).read_bytes() if "key_file" in where else None
    with LedgerFile(where["place"], anchors=anchors, key=key) as file:
        (dataset,) = file.datasets
        said = {
            "dataset": dataset,
            "verification": vars(file.verify()),
            "balances": [each.to_json() for each in file.balances()],
            "history": [each.to_json() for each in file.history(dataset)],
            "asked": asked or [],
        }
    (folder / f"{name}.json").write_text(json.dumps(said, indent=1, sort_keys=True) + "\n")


def ask(number: int, epsilon: float = 0.1, **more: Any) -> Request:
    return Request(loss=PureDP(epsilon), question=f"SELECT {number}", **more)


def make_amended(place: Path) -> None:
    with Ledger.open(place, dataset="people", budget=PureDP(1), unit="person") as ledger:
        ledger.answer(ledger.charge(ask(1)), b"one")
        ledger.raise_budget(PureDP(3), reason="more was granted")
        ledger.amend(reason="new data", version="2")
        ledger.answer(ledger.charge(ask(1)), b"one again")
        ledger.amend(reason="households are protected", unit="household")
        ledger.answer(ledger.charge(ask(2)), b"two")


def make_shares(place: Path) -> None:
    with Ledger.open(place, dataset="people", budget=PureDP(2), unit="person") as ledger:
        ledger.answer(ledger.charge(ask(1)), b"one")
        ledger.reserve("ann", PureDP(1), reason="her study")
        ledger.answer(ledger.charge(ask(1, 0.5, analyst="ann")), b"hers")
        ledger.reserve("ann", PureDP(0.75), reason="less is enough")
        ledger.answer(ledger.charge(ask(2, 0.2, analyst="bob")), b"his")


def make_ended(place: Path) -> None:
    """A charge given up, and two whose process ended: one of them under a key."""
    with Ledger.open(place, dataset="people", budget=PureDP(2), unit="person") as ledger:
        ledger.abandon(ledger.charge(ask(1, key="given up")))
        ledger.charge(ask(2))
        ledger.charge(ask(3, key="unfinished"))


def as_text(path: Path) -> str:
    """The statements that make this SQLite file, its numbers of application and version included."""
    with sqlite3.connect(path) as connection:
        numbers = [
            f"PRAGMA {name} = {connection.execute(f'PRAGMA {name}').fetchone()[0]};"
            for name in ("application_id", "user_version")
        ]
        return "\n".join([*numbers, *connection.iterdump()]) + "\n"


def make_served(folder: Path) -> None:
    """The ledger of a server, as pg_dump writes it."""
    with PostgresServer() as server:
        address = f"{server.url()}?schema=kept"
        with Ledger.open(address, dataset="people", budget=ApproxDP(2, 0.01), unit="person") as ledger:
            ledger.answer(ledger.charge(ask(1, key="first")), b"one")
            ledger.abandon(ledger.charge(ask(2)))
            ledger.reserve("ann", ApproxDP(1, 0.001), reason="her study")
            ledger.raise_budget(ApproxDP(3, 0.01), reason="more was granted")
            ledger.answer(ledger.charge(ask(3, 0.5, analyst="ann")), b"hers")
        keep(folder, "postgres", address)
        command = [_binary("pg_dump"), "--schema=kept", "--inserts", "--no-owner", "--no-privileges"]
        dumped = subprocess.run([*command, server.url()], capture_output=True, text=True, check=True).stdout
    lines = (line for line in dumped.splitlines() if line and not line.startswith(("--", "\\")))
    (folder / "postgres.sql").write_text("\n".join(lines) + "\n")


def main(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    make_data(folder / DATA)
    with tempfile.TemporaryDirectory() as made:
        scratch = Path(made)
        for name in ASKED:
            where: Any = scratch / f"{name}.ledger"
            if name == "sealed":
                (scratch / "key").write_bytes(KEY)
                where = {"place": where, "anchor": scratch / "sealed.anchor", "key_file": scratch / "key"}
                where = {word: str(path) for word, path in where.items()}
            make_asked(folder, name, where)
        makers = {"amended": make_amended, "shares": make_shares, "ended": make_ended}
        for name, maker in makers.items():
            maker(scratch / f"{name}.ledger")
            keep(folder, name, scratch / f"{name}.ledger")
        for path in scratch.glob("*.ledger"):
            (folder / f"{path.stem}.sql").write_text(as_text(path))
        shutil.copy(scratch / "sealed.anchor", folder)
    make_served(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
