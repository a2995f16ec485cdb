"""What a policy states is what its ledger keeps."""

import pytest

from discreet.asking.curator import Curator
from discreet.errors import BudgetExceeded, InvalidParameter, LedgerConflict
from discreet.kernel.ledger import FileAnchor
from discreet.kernel.losses import PureDP

ASKED = "SELECT COUNT(*) AS n FROM people"


@pytest.fixture
def write(tmp_path):
    """A policy with more lines in [dataset] and [ledger], beside its data."""
    (tmp_path / "people.csv").write_text("person\n1\n2\n3\n")

    def write(dataset="", ledger=""):
        path = tmp_path / "people.toml"
        path.write_text(
            f'[dataset]\nid = "people"\nbudget = {{ epsilon = 1 }}\n{dataset}\n'
            f'[tables.people]\nsource = "people.csv"\nunit = "person"\n[ledger]\n{ledger}\n'
        )
        return path

    return write


def test_an_analysts_budget_holds_for_each_of_them(write):
    with Curator.from_policy(write("per_analyst = { epsilon = 0.5 }")) as curator:
        alice, bob = curator.for_analyst("alice"), curator.for_analyst("bob")
        alice.ask(ASKED, epsilon=0.5)
        with pytest.raises(BudgetExceeded, match="analyst/alice"):
            alice.ask(ASKED, epsilon=0.1)
        bob.ask(ASKED, epsilon=0.25)
        ledger = curator.resources.ledger()
        assert (ledger.remaining_for("bob"), ledger.remaining) == (PureDP(0.25), PureDP(0.25))


def test_a_questions_budget_holds_at_every_price(write):
    with Curator.from_policy(write("per_question = { epsilon = 0.3 }")) as curator:
        curator.ask(ASKED, epsilon=0.2)
        with pytest.raises(BudgetExceeded, match="question/"):
            curator.ask(ASKED, epsilon=0.25)


@pytest.mark.parametrize(("switch", "cost"), [("share_answers = true", 0.25), ("", 0.5)])
def test_answers_are_shared_by_the_owners_switch_alone(write, switch, cost):
    with Curator.from_policy(write(switch)) as curator:
        answers = [curator.for_analyst(name).ask(ASKED, epsilon=0.25).rows for name in ("alice", "bob")]
        assert curator.remaining == PureDP(1 - cost)
        if switch:
            assert answers[0] == answers[1]


def test_after_a_budget_was_raised_what_was_answered_is_still_free(write):
    with Curator.from_policy(write()) as curator:
        first = curator.ask(ASKED, epsilon=0.25)
        curator.ledger.raise_budget(PureDP(2), reason="the second year")
    path = write("population = 3")
    path.write_text(path.read_text().replace("epsilon = 1", "epsilon = 2"))
    with Curator.from_policy(path) as curator:
        assert curator.ask(ASKED, epsilon=0.25).rows == first.rows
        assert curator.remaining == PureDP(1.75)
        curator.ask(ASKED, epsilon=0.5)  # another price is another question
        assert curator.remaining == PureDP(1.25)


def test_another_budget_by_analyst_is_refused_by_the_ledger(write):
    with Curator.from_policy(write("per_analyst = { epsilon = 0.5 }")) as curator:
        curator.ask(ASKED, epsilon=0.25)
    with pytest.raises(LedgerConflict, match="analysts' budget"):
        Curator.from_policy(write("per_analyst = { epsilon = 0.6 }"))


def test_place_anchor_and_key_are_the_policys(write, tmp_path):
    (tmp_path / "secret").write_bytes(b"k" * 32)
    stated = 'place = "kept.ledger"\nanchor = "kept.head"\nkey_file = "secret"'
    with Curator.from_policy(write(ledger=stated)) as curator:
        curator.ask(ASKED, epsilon=0.25)
    assert (tmp_path / "kept.ledger").is_file()
    assert FileAnchor(tmp_path / "kept.head").latest().sequence == 4
    unsealed = Curator.from_policy(write(ledger='place = "kept.ledger"'))
    with unsealed as curator, pytest.raises(LedgerConflict, match="seal"):
        curator.ask(ASKED, epsilon=0.25)


def test_a_key_file_that_cannot_be_read_is_an_error(write):
    keyless = Curator.from_policy(write(ledger='key_file = "none"'))
    with keyless as curator, pytest.raises(InvalidParameter, match="key_file"):
        curator.ask(ASKED, epsilon=0.25)


def test_an_opening_states_the_same(tmp_path):
    (tmp_path / "people.csv").write_text("person\n1\n2\n")
    ledger = {"place": tmp_path / "kept.ledger", "anchor": tmp_path / "head"}
    with Curator.open(
        tmp_path / "people.csv",
        unit="person",
        budget={"epsilon": 1},
        per_analyst={"epsilon": 0.25},
        ledger=ledger,
    ) as curator:
        curator.ask(ASKED, epsilon=0.25)
        with pytest.raises(BudgetExceeded, match="analyst/owner"):
            curator.ask(ASKED, epsilon=0.1)
    assert (tmp_path / "head").is_file()
