"""Spent, left and kept are one truth on every page, over REST and in the terminal, whatever was asked before.

What they should be is counted here, from what was asked and reserved alone.
"""

import html
import json
import random
import re
from dataclasses import dataclass, field
from fractions import Fraction

import pytest

from discreet.apps.cli.budget import budget as budget_command
from server.pages.test_gauge import GAUGE, PAGES
from server.pages.visiting import COUNT, Visitor
from server.running import promptly, write_policy

WHOLE, EACH, STEPS = Fraction(8), Fraction(3), 6
NAMES = ("ann", "bob", "olga")
ROW = re.compile(
    r'<th scope="row">([^<]+)</th><td data-label="Rule">[^<]*</td>' + 3 * r"<td[^>]*>([^<]*)</td>"
)


@dataclass
class Books:
    """What was spent and kept, counted again."""

    each: Fraction | None  # the limit of every analyst, if there is one
    spent: dict = field(default_factory=lambda: dict.fromkeys(NAMES, Fraction(0)))
    shares: dict = field(default_factory=dict)
    before: dict = field(default_factory=dict)  # what was spent when the share was reserved

    @property
    def everybody(self):
        return sum(self.spent.values())

    def accounts(self, name):
        """The accounts that bind a person, by the words of the gauge: the limit and what is left of it."""
        found = {("spent by all", "of"): (WHOLE, WHOLE - self.everybody)}
        if self.each is not None:
            found["you spent", "of your own limit,"] = (self.each, self.each - self.spent[name])
        if name in self.shares:
            used = self.spent[name] - self.before[name]
            found["you spent", "of your share,"] = (self.shares[name], self.shares[name] - used)
        elif self.shares:
            found["spent, or kept for others", "of"] = (WHOLE, self.rest())
        return found

    def rest(self):
        free = sum(self.spent[name] if name not in self.shares else self.before[name] for name in self.spent)
        return WHOLE - free - sum(self.shares.values())

    def left(self, name):
        return min(left for _, left in self.accounts(name).values())

    def labels(self, name):
        """What the gauge may say: of the accounts with least left, one's own."""
        every = self.accounts(name)
        tight = [words for words in every if every[words][1] == self.left(name)]
        own = [words for words in tight if words[0] == "you spent"] or tight
        return {
            f"{gone} {short(every[gone, of][0] - every[gone, of][1])}; "
            f"{short(every[gone, of][1])} {of} ε {short(every[gone, of][0])} left"
            for gone, of in own
        }


def short(number):
    return f"{float(number):.6g}"


def eighths(most):
    """A price that fits, of a size that every way of writing holds exactly."""
    return Fraction(random.SystemRandom().randint(1, min(6, int(most * 8))), 8)


@pytest.mark.parametrize("limited", [True, False], ids=["with limits", "without"])
@pytest.mark.parametrize("shared", [True, False], ids=["with a share", "without"])
def test_every_place_says_what_was_spent_left_and_kept(tmp_path, capsys, limited, shared):
    each = EACH if limited else None
    dataset = f"per_analyst = {{ epsilon = {EACH}, delta = 1e-6 }}" if limited else ""
    books = Books(each)
    with promptly(write_policy(tmp_path, epsilon=float(WHOLE), dataset=dataset)) as town:
        for step in range(STEPS):
            if shared and step == 2:
                books.shares["bob"], books.before["bob"] = Fraction(1), books.spent["bob"]
                share = {"analyst": "bob", "budget": {"epsilon": 1, "delta": 1e-8}, "reason": "a study"}
                assert town.send("POST", "/api/datasets/town/shares", who="olga", body=share).status < 300
            name = random.SystemRandom().choice(NAMES)
            if books.left(name) >= Fraction(1, 8):
                price = eighths(books.left(name))
                # a threshold of its own makes every question a new one
                sql = f"SELECT COUNT(*) AS n FROM town WHERE debt < {step + 1}"
                assert town.ask(sql, who=name, epsilon=float(price)).status == 200
                books.spent[name] += price
        compare(town, books, capsys)


def compare(town, books, capsys):
    for name in NAMES:
        over_rest = town.send("GET", "/api/datasets/town/budget", who=name).json
        assert Fraction(str(over_rest["remaining"]["epsilon"])) == books.left(name)
        with Visitor(town) as visitor:
            visitor.signed_in(name)
            for page in PAGES:
                said = html.unescape(GAUGE.search(visitor.get(page).text)[1])
                if page.endswith("history") and name == "olga":  # an owner sees everybody's charges there
                    assert said == f"spent by all {short(books.everybody)}; " + (
                        f"{short(WHOLE - books.everybody)} of ε {short(WHOLE)} left"
                    )
                else:
                    assert said in books.labels(name), (name, page)
            after = visitor.ask(COUNT, path="explain", epsilon=0.125).json()["gauge"]["texts"]["label"]
            assert after in books.labels(name)
    with Visitor(town) as olga:
        page = olga.signed_in("olga").get("/owner").text
    shown = {html.unescape(name): tuple(numbers) for name, *numbers in ROW.findall(page)}
    budget_command(str(town.folder / "town.ledger"), json=True)
    printed = {
        each["account"]: tuple(
            Fraction(str(each[part]["epsilon"])) for part in ("budget", "spent", "remaining")
        )
        for each in json.loads(capsys.readouterr().out)["accounts"]
    }
    facts = town.send("GET", "/api/datasets/town/budget", who="olga").json["accounts"]
    for account in facts:
        mine = tuple(Fraction(str(account[part]["epsilon"])) for part in ("budget", "spent", "remaining"))
        assert printed[account["account"]] == mine
    assert printed["town"] == (WHOLE, books.everybody, WHOLE - books.everybody)
    if len(printed) > 1:
        assert shown["everyone together"] == tuple(map(short, printed["town"]))
    if books.each is not None:
        for name in (each for each in NAMES if books.spent[each]):
            assert printed[f"town/analyst/{name}"] == (EACH, books.spent[name], EACH - books.spent[name])
            assert shown[f"limit of {name}"] == tuple(map(short, printed[f"town/analyst/{name}"]))
    if books.shares:
        used = books.spent["bob"] - books.before["bob"]
        assert printed["town/share/bob"] == (1, used, 1 - used)
        assert shown["kept for bob"] == tuple(map(short, printed["town/share/bob"]))
        assert printed["town/rest"] == (WHOLE, WHOLE - books.rest(), books.rest())
        assert shown["free for all"] == tuple(map(short, printed["town/rest"]))
