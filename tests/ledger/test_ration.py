"""An analyst who fails on purpose is stopped after the allowance: in Python and on the command line."""

import json

import pandas
import pytest

import discreet as dp
from discreet.apps.cli import main
from discreet.asking.engines import DuckDBEngine
from discreet.errors import EngineFailure, Finished, InternalError, PolicyViolation, Rationed

NUMBERS = range(100)


def question(number):
    return f"SELECT COUNT(*) AS n FROM people WHERE debt > {number}"


def opened(folder, **more):
    data = pandas.DataFrame({"person": range(60), "debt": range(60)})
    declared = {"unit": "person", "budget": dp.PureDP(2), "types": {"debt": "integer"}, **more}
    return dp.Curator.open(data, name="people", ledger=folder / "people.ledger", **declared)


@pytest.fixture
def broken(monkeypatch):
    """An engine that fails whatever it is asked; `mend` ends it."""

    class Fault:
        error: BaseException = EngineFailure("the engine's own words")
        mend = monkeypatch.undo

    def run(self, plan):
        raise Fault.error

    monkeypatch.setattr(DuckDBEngine, "run", run)
    return Fault


def fail(ask, times=3, kind=EngineFailure):
    for number in range(times):
        with pytest.raises(kind):
            ask(question(number))


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (EngineFailure("its words"), EngineFailure),
        (ZeroDivisionError(), InternalError),
        (KeyboardInterrupt(), KeyboardInterrupt),
        (MemoryError(), InternalError),
    ],
    ids=lambda part: getattr(part, "__name__", type(part).__name__),
)
def test_whatever_ends_a_charged_question_is_counted_before_its_error_leaves(tmp_path, broken, error, kind):
    broken.error = error
    with opened(tmp_path) as curator:
        ann = curator.for_analyst("ann")
        fail(lambda text: ann.ask(text, epsilon=0.1), kind=kind)
        assert curator.ledger.failures("ann") == 3
        broken.mend()
        spent = curator.ledger.spent
        with pytest.raises(Rationed):
            ann.ask(question(50), epsilon=0.1)
        assert curator.ledger.spent == spent
        assert curator.for_analyst("bob").ask(question(50), epsilon=0.1).receipt.facts["failures"] == 0
        curator.ledger.release_failures(reason="looked", analyst="ann")
        ann.ask(question(50), epsilon=0.1)
        curator.ledger.verify()


def test_lists_fail_as_one_and_the_receipt_says_how_many_count(tmp_path, broken):
    with opened(tmp_path) as curator:
        with pytest.raises(EngineFailure):
            curator.ask([question(1), question(2)], epsilon=0.1)
        broken.mend()
        answer = curator.ask(question(3), epsilon=0.1)
        assert answer.receipt.facts["failures"] == 1
        assert "failed before it, and count: 1" in str(answer.receipt)
        with pytest.raises(EngineFailure, match="not run again"):  # the same again is the same failure
            curator.ask([question(1), question(2)], epsilon=0.1)
        assert curator.ledger.failures() == 1


def test_an_outage_that_is_found_before_the_charge_costs_and_counts_nothing(tmp_path, monkeypatch):
    with opened(tmp_path) as curator:
        curator.ask(question(1), epsilon=0.1)

        def unreachable(self):
            raise EngineFailure("out of reach")

        monkeypatch.setattr(DuckDBEngine, "reach", unreachable)
        for number in range(5):
            with pytest.raises(EngineFailure, match="out of reach"):
                curator.ask(question(10 + number), epsilon=0.1)
        with pytest.raises(EngineFailure, match="out of reach"):
            curator.watch(threshold=1, epsilon=0.1)
        assert (curator.ledger.failures(), curator.ledger.spent) == (0, dp.PureDP(0.1))


def test_a_watch_test_that_fails_counts_and_ends_its_watch(tmp_path, broken):
    with opened(tmp_path) as curator:
        for number in range(3):
            watch = curator.watch(threshold=1, epsilon=0.1)
            with pytest.raises(EngineFailure):
                watch.test(question(number))
            with pytest.raises(Finished, match="failed"):
                watch.test(question(number))
        broken.mend()
        assert curator.ledger.failures() == 3
        with pytest.raises(Rationed):
            curator.ask(question(9), epsilon=0.1)
        with pytest.raises(Rationed):
            curator.watch(threshold=1, epsilon=0.1)
        curator.ledger.verify()


def test_a_watch_has_so_many_tests_and_no_more(tmp_path):
    with opened(tmp_path, ration={"watch_tests": 5}) as curator:
        watch = curator.watch(threshold=1000, epsilon=0.1)
        for number in range(5):
            watch.test(question(number))
        with pytest.raises(Finished, match="as often as the policy allows"):
            watch.test(question(6))
        assert curator.ledger.failures() == 0


def test_an_open_watch_is_not_under_way(tmp_path):
    with opened(tmp_path) as curator:
        watches = [curator.watch(threshold=1000, epsilon=0.1) for _ in range(5)]
        watches[0].test(question(1))
    with opened(tmp_path) as curator:
        assert curator.ledger.failures() == 0
        curator.ask(question(1), epsilon=0.1)


@pytest.mark.parametrize(
    "ask",
    [
        lambda curator, price: curator.ask(question(1), epsilon=price),
        lambda curator, price: curator.ask([question(1), question(2)], epsilon=price),
        lambda curator, price: curator.watch(threshold=1, epsilon=price),
    ],
    ids=["question", "list", "watch"],
)
def test_a_price_below_the_least_is_refused_unpaid(tmp_path, ask):
    with opened(tmp_path) as curator:
        with pytest.raises(PolicyViolation, match="at least"):
            ask(curator, 1e-4)
        assert curator.ledger.spent.epsilon == 0
        ask(curator, 2e-4)


def test_a_watch_with_a_delta_is_charged_what_was_asked(tmp_path):
    with opened(tmp_path, budget=dp.ApproxDP(0.5, 1e-5)) as curator:
        curator.watch(threshold=50, epsilon=0.5, delta=1e-6, count=400)
        assert curator.ledger.spent == dp.ApproxDP(0.5, 1e-6)


@pytest.mark.parametrize("budget", [dp.ZCDP(2), dp.ZCDP(2, 1e-5), dp.GDP(3)], ids=str)
def test_a_watch_is_charged_its_rounds_where_losses_are_moments(tmp_path, budget):
    with opened(tmp_path, budget=budget) as curator:
        curator.watch(threshold=50, epsilon=0.5, delta=1e-6, count=20)
        assert getattr(curator.ledger.spent, "delta", 0) == 0


# --- the guard against a second budget for the same people ------------------------------------------------


def csv(folder, name):
    path = folder / name
    path.write_text("person,debt\n" + "".join(f"{k},{k}\n" for k in range(50)))
    return path


def refused():
    return pytest.raises(PolicyViolation, match="other_people")


def test_a_renamed_copy_asks_for_the_owners_word(tmp_path):
    kept = {"unit": "person", "budget": dp.PureDP(1), "ledger": tmp_path / "all.ledger"}
    with dp.Curator.open(csv(tmp_path, "people.csv"), **kept) as curator:
        curator.ask("SELECT COUNT(*) AS n FROM people", epsilon=0.5)
    with dp.Curator.open(csv(tmp_path, "citizens.csv"), **kept) as copy, refused():
        copy.ask("SELECT COUNT(*) AS n FROM citizens", epsilon=0.5)
    with dp.Curator.open(csv(tmp_path, "december.csv"), **kept, other_people="those of December") as month:
        month.ask("SELECT COUNT(*) AS n FROM december", epsilon=0.5)
    with dp.Curator.open(tmp_path / "people.csv", **kept) as curator:  # the first is as it was
        assert curator.remaining == dp.PureDP(0.5)


@pytest.mark.parametrize("types", [{"debt": "integer"}, {"debt": "number"}], ids=str)
def test_declaring_columns_otherwise_does_not_hide_a_copy(tmp_path, types):
    kept = {"unit": "person", "budget": dp.PureDP(1), "ledger": tmp_path / "all.ledger"}
    with dp.Curator.open(csv(tmp_path, "people.csv"), **kept) as curator:
        curator.ask("SELECT COUNT(*) AS n FROM people", epsilon=0.5)
    with dp.Curator.open(csv(tmp_path, "copy.csv"), types=types, **kept) as copy, refused():
        _ = copy.remaining


def test_a_copy_among_several_tables_is_known(tmp_path):
    kept = {"budget": dp.PureDP(1), "ledger": tmp_path / "all.ledger"}
    with dp.Curator.open(csv(tmp_path, "people.csv"), unit="person", **kept) as curator:
        curator.ask("SELECT COUNT(*) AS n FROM people", epsilon=0.5)
    other = tmp_path / "other.csv"
    other.write_text("person,shop\n1,a\n")
    sources = {"a": csv(tmp_path, "a.csv"), "b": other}
    units = {"a": "person", "b": "person"}
    with dp.Curator.open(sources, name="two", unit=units, **kept) as both, refused():
        _ = both.remaining


def test_a_file_out_of_reach_changes_no_label(tmp_path):
    kept = {"unit": "person", "budget": dp.PureDP(1), "ledger": tmp_path / "all.ledger"}
    path = csv(tmp_path, "people.csv")
    with dp.Curator.open(path, **kept) as curator:
        entries = curator.ledger.verify().entries
    path.unlink()
    with dp.Curator.open(path, **kept) as curator:
        assert curator.remaining == dp.PureDP(1)
        assert curator.ledger.verify().entries == entries


# --- the command line -------------------------------------------------------------------------------------


def run(capsys, *words):
    code = 0
    try:
        main([str(word) for word in words])
    except SystemExit as end:
        code = end.code or 0
    out, err = capsys.readouterr()
    return code, out, err


def test_on_the_command_line_asking_stops_with_its_own_exit_code(tmp_path, capsys, broken):
    path, ledger = csv(tmp_path, "people.csv"), tmp_path / "people.ledger"

    def ask(number):
        words = ("--unit", "person", "--types", "debt=integer", "--epsilon", "0.01", "--budget", "2")
        return run(capsys, "ask", path, question(number), *words)

    assert [ask(number)[0] for number in range(3)] == [9, 9, 9]
    broken.mend()
    code, _, error = ask(50)
    assert (code, "owner has looked" in error) == (12, True)
    assert "3 of owner's questions to data set 'people' failed" in run(capsys, "budget", ledger)[1]
    told = json.loads(run(capsys, "budget", ledger, "--json")[1])
    assert told["failures"] == {"people": {"owner": 3}}
    assert run(capsys, "ledger", "release", ledger)[0] != 0  # without a reason
    code, out, _ = run(capsys, "ledger", "release", ledger, "--reason", "a broken disk")
    assert (code, out) == (0, "3 failures of data set 'people' are no longer counted.\n")
    assert ask(50)[0] == 0
    assert run(capsys, "ledger", "verify", ledger)[0] == 0
