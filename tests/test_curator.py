"""The wiring: charged first, run once, stored before it leaves, the same shape whatever the data."""

import inspect
import json
from fractions import Fraction

import pandas
import pytest

import discreet as dp
from discreet.asking import query_run

CANARY = "Zanzibar-4242"
SQL = "SELECT city, COUNT(*) AS n, SUM(debt) AS total FROM people GROUP BY city"


def frame(people=60, extra=()):
    rows = [(f"p{k}", ["Ottawa", "Toronto"][k % 2], 100.0 * k) for k in range(people)]
    return pandas.DataFrame([*rows, *extra], columns=["person", "city", "debt"])


def opened(folder, data=None, **more):
    declared = {
        "unit": "person",
        "budget": dp.ApproxDP(2, 1e-6),
        "keys": {"city": ["Ottawa", "Toronto"]},
        "bounds": {"debt": (0, 10_000)},
        **more,
    }
    return dp.Curator.open(
        frame() if data is None else data, name="people", ledger=folder / "people.ledger", **declared
    )


def test_a_question_is_answered_charged_and_found_again(tmp_path):
    with opened(tmp_path) as curator:
        answer = curator.ask(SQL, epsilon=0.5)
        again = curator.ask(SQL, epsilon=0.5)
        assert answer.rows == again.rows
        assert curator.remaining == dp.ApproxDP(Fraction(3, 2), 1e-6)
    with opened(tmp_path) as reopened:
        assert reopened.ask(SQL, epsilon=0.5).rows == answer.rows
        assert reopened.ask(SQL, epsilon=0.25).rows != answer.rows
        assert [record.kind for record in reopened.history].count("charge") == 2


@pytest.mark.parametrize("other", [{"budget": dp.ApproxDP(3, 1e-6)}, {"unit": dp.each_row}])
def test_opening_against_the_ledger_is_refused_at_once_and_writes_nothing(tmp_path, other):
    with opened(tmp_path) as curator:
        curator.ask(SQL, epsilon=0.5)
    kept = (tmp_path / "people.ledger").read_bytes()
    with pytest.raises(dp.LedgerConflict, match="ledger's own"):
        opened(tmp_path, **other)
    with opened(tmp_path, max_groups=2) as curator:
        curator.explain(SQL, epsilon=0.5)
    assert (tmp_path / "people.ledger").read_bytes() == kept


def test_a_plain_number_is_a_budget_in_epsilon(tmp_path):
    with opened(tmp_path, budget=1, per_analyst=0.5) as curator:
        assert curator.remaining == dp.PureDP(1)
        assert dict(curator.policy.per_analyst) == {"epsilon": Fraction(1, 2)}


@pytest.mark.parametrize(
    ("call", "wrong", "right"),
    [
        ("ask", "epsilom", "epsilon"),
        ("ask", "budget", "epsilon"),
        ("explain", "confidance", "confidence"),
        ("dry_run", "epsilom", "epsilon"),
        ("watch", "treshold", "threshold"),
        ("open", "epsilon", "budget"),
        ("open", "max_group", "max_groups"),
        ("from_policy", "analist", "analyst"),
    ],
)
def test_an_unknown_name_is_refused_with_the_one_that_was_meant(tmp_path, call, wrong, right):
    with opened(tmp_path) as curator:
        calls = {
            "watch": lambda **more: curator.watch(threshold=1, epsilon=0.1, **more),
            "open": lambda **more: opened(tmp_path, **more),
            "from_policy": lambda **more: dp.Curator.from_policy(tmp_path / "none.toml", **more),
        }
        ask = calls.get(call) or (lambda **more: getattr(curator, call)(SQL, **more))
        with pytest.raises(dp.InvalidParameter) as refused:
            ask(**{wrong: 0.1})
        assert str(refused.value) == f"unexpected {wrong}; did you mean {right}=?"
        assert "charge" not in [record.kind for record in curator.history]


def test_the_parameters_are_written_out_and_documented():
    for method in (dp.Curator.open, dp.Curator.ask, dp.Curator.watch):
        names = [name for name in inspect.signature(method).parameters if name not in ("self", "unknown")]
        assert len(names) >= 6
        documented = method.__doc__.partition("Parameters")[2].partition("Returns")[0]
        lines = {name for line in documented.splitlines() for name in line.strip().split(", ")}
        assert [name for name in names if name not in lines] == []


def test_every_public_key_is_shown_in_order_with_intervals(tmp_path):
    with opened(tmp_path) as curator:
        answer = curator.ask(SQL, epsilon=1)
    assert [row["city"] for row in answer.rows] == ["Ottawa", "Toronto"]
    assert all(interval["n"].lower <= row["n"] <= interval["n"].upper
               for row, interval in zip(answer.rows, answer.intervals, strict=True))  # fmt: skip
    table = answer.to_pandas(confidence=0.9)
    assert list(table.columns) == ["city", "n", "total", "n_lower", "n_upper", "total_lower", "total_upper"]
    assert answer.to_arrow().num_rows == 2


def test_sql_and_the_builder_ask_the_same_question(tmp_path):
    with opened(tmp_path) as curator:
        built = curator.table("people").where(dp.column("debt") > 0).group_by("city").count().sum("debt")
        text = curator.explain(built, epsilon=1).text
        assert curator.ask(built, epsilon=1).rows == curator.ask(text, epsilon=1).rows


def test_a_list_of_questions_is_one_charge(tmp_path):
    with opened(tmp_path) as curator:
        one, two = curator.ask([SQL, "SELECT COUNT(*) AS n FROM people"], epsilon=1)
        assert len(one.rows) == 2
        assert len(two.rows) == 1
        assert [record.kind for record in curator.history].count("charge") == 1
        assert curator.remaining.epsilon == 1


def test_explaining_charges_nothing_and_needs_no_data(tmp_path):
    curator = dp.Curator.open(
        tmp_path / "absent.parquet",
        unit="person",
        budget={"epsilon": 1},
        bounds={"debt": (0, 10)},
        max_rows=2,
    )
    plan = curator.explain("SELECT SUM(debt) AS s FROM absent", epsilon=0.5)
    assert plan.errors["s"] > 0
    assert "epsilon 0.5" in str(plan)
    assert not (tmp_path / "absent.ledger").exists()


def test_explaining_reads_the_header_and_no_row(tmp_path):
    (tmp_path / "people.csv").write_text("person,city,debt\n1,Ottawa\n,,,no strict CSV,\n")
    declared = {"unit": "person", "budget": {"epsilon": 1}, "max_rows": 2}
    curator = dp.Curator.open(tmp_path / "people.csv", bounds={"debt": (0, 10)}, **declared)
    question = "SELECT SUM(debt) AS s FROM people WHERE city = 'Ottawa'"
    assert curator.explain(question, epsilon=0.5).errors["s"] > 0
    with pytest.raises(dp.UnsupportedQuery, match="'cty' is not known"):
        curator.explain(question.replace("city", "cty"), epsilon=0.5)
    with pytest.raises(dp.PolicyViolation, match="strict CSV"):
        curator.ask(question, epsilon=0.5)
    for wrong in ({"bounds": {"dbt": (0, 10)}}, {"unit": "nobody"}):
        with pytest.raises(dp.PolicyViolation, match="must be"):
            dp.Curator.open(tmp_path / "people.csv", **{**declared, **wrong}).explain(question, epsilon=0.5)


def test_what_does_not_fit_is_refused_before_anything_is_read(tmp_path, monkeypatch):
    with opened(tmp_path) as curator:
        curator.ask(SQL, epsilon=2)
        monkeypatch.setattr(query_run, "release", lambda *_: pytest.fail("ran without a charge"))
        with pytest.raises(dp.BudgetExceeded):
            curator.ask(SQL, epsilon=0.1)


@pytest.mark.parametrize(
    "price",
    [
        {},
        {"epsilon": 0},
        {"epsilon": True},
        {"epsilon": "1"},
        {"epsilon": float("nan")},
        {"epsilon": 1, "rho": 1},
        {"within": 0},
        {"epsilon": 1, "delta": 1},
        {"epsilon": 1, "confidence": 1},
        {"rho": -1},
    ],
    ids=repr,
)
def test_bad_prices_are_refused_and_nothing_is_charged(tmp_path, price):
    with opened(tmp_path) as curator:
        with pytest.raises(dp.InvalidParameter):
            curator.ask(SQL, **price)
        assert curator.remaining.epsilon == 2


def test_a_failing_engine_keeps_the_charge_and_gives_a_constant_error(tmp_path, monkeypatch):
    with opened(tmp_path) as curator:
        engine = curator.resources.engine()
        monkeypatch.setattr(engine, "_rows", lambda statement: 1 / 0)
        with pytest.raises(dp.EngineFailure) as failure:
            curator.ask(SQL, epsilon=0.5)
        assert "division" not in str(failure.value)
        monkeypatch.undo()
        assert curator.remaining.epsilon == Fraction(3, 2)
        assert curator.history[-1].state == "failed"
        with pytest.raises(dp.EngineFailure, match="not run again"):  # the same question is the same failure
            curator.ask(SQL, epsilon=0.5)
        assert curator.remaining.epsilon == Fraction(3, 2)
        curator.ask(SQL, epsilon=0.25)
        assert curator.remaining.epsilon == Fraction(5, 4)


def test_an_error_inside_the_release_says_nothing_of_the_data(tmp_path, monkeypatch):
    with opened(tmp_path) as curator:

        def broken(*_):
            raise ValueError(CANARY)

        monkeypatch.setattr("discreet.asking.release.run_charged", broken)
        with pytest.raises(dp.InternalError) as failure:
            curator.ask(SQL, epsilon=0.5)
        assert CANARY not in repr(failure.value)
        assert failure.value.__cause__ is None


def test_a_person_changes_nothing_but_the_noisy_numbers(tmp_path):
    """D against D without one person: plan, price, shape, order, types and words are the same."""
    seen = []
    for name, extra in (("with", [(CANARY, CANARY, 1e300)]), ("without", [])):
        folder = tmp_path / name
        folder.mkdir()
        with opened(
            folder, frame(extra=extra), limit=2
        ) as curator:  # one that is found is a noisy number, too
            answer = curator.ask(SQL, epsilon=1)
            chosen = curator.ask("SELECT MEDIAN(debt) AS m, MAX(debt) AS x FROM people", epsilon=0.5)
            words = [
                str(answer.receipt),
                repr(answer),
                str(curator.explain(SQL, epsilon=1)),
                json.dumps(chosen.receipt.to_json()),
            ]
            shape = [
                [(key, type(value)) for key, value in row.items()] for row in (*answer.rows, *chosen.rows)
            ]
            keys = [row["city"] for row in answer.rows]
            seen.append((shape, keys, curator.remaining, answer.receipt.facts, chosen.receipt.facts))
            assert not any(CANARY in text for text in words)
        assert CANARY.encode() not in (folder / "people.ledger").read_bytes()
    assert seen[0] == seen[1]


def test_private_keys_are_selected_and_cost_delta(tmp_path):
    crowd = [(f"q{k}", "Regina", 5.0) for k in range(200)]
    data = frame(extra=[*crowd, ("lonely", "Nowhere", 1.0)])
    with opened(tmp_path, data, keys={}) as curator:
        answer = curator.ask("SELECT city, COUNT(*) AS n FROM people GROUP BY city", epsilon=1)
        assert "Regina" in [row["city"] for row in answer.rows]
        assert "Nowhere" not in [row["city"] for row in answer.rows]  # shown with probability 6.25e-8
        assert curator.remaining.delta == Fraction(15, 16) / 10**6


def test_private_keys_need_delta(tmp_path):
    with opened(tmp_path, keys={}, budget=dp.PureDP(1)) as curator, pytest.raises(dp.PolicyViolation):
        curator.ask("SELECT city, COUNT(*) AS n FROM people GROUP BY city", epsilon=0.5)


def test_within_finds_the_least_price(tmp_path):
    with opened(tmp_path, max_groups=1) as curator:
        plan = curator.explain("SELECT COUNT(*) AS n FROM people", within=10)
        assert plan.errors["n"] <= 10
        dearer = Fraction(plan.share.epsilon) * Fraction(9, 10)
        assert curator.explain("SELECT COUNT(*) AS n FROM people", epsilon=dearer).errors["n"] > 10
        with pytest.raises(dp.UnsupportedQuery):
            curator.explain("SELECT MEDIAN(debt) AS m FROM people", within=10)


@pytest.mark.parametrize(
    ("budget", "price"),
    [
        ({"rho": 1}, {"rho": 0.5}),
        ({"mu": 1}, {"rho": 0.125}),
        ({"rho": 1}, {"epsilon": 0.5}),
        ({"mu": 2}, {"epsilon": 0.5}),
    ],
    ids=repr,
)
def test_concentrated_and_gaussian_budgets_are_spent(tmp_path, budget, price):
    with opened(tmp_path, budget=budget) as curator:
        curator.ask(SQL, **price)
        (name,) = budget
        assert 0 < getattr(curator.remaining, name) < budget[name]


@pytest.mark.parametrize("relation", ["add/remove", "replace"])
@pytest.mark.parametrize(
    ("budget", "price"),
    [
        ({"epsilon": 5, "delta": 0.016}, {"epsilon": 5}),
        ({"rho": 2, "delta": 0.016}, {"rho": 2}),
        ({"rho": 4, "delta": 0.016}, {"epsilon": 2}),
    ],
    ids=repr,
)
def test_private_keys_are_paid_for_under_every_budget_with_delta(tmp_path, relation, budget, price):
    with opened(tmp_path, keys={}, budget=budget, relation=relation) as curator:
        answer = curator.ask("SELECT city, COUNT(*) AS n FROM people GROUP BY city", **price)
        assert {row["city"] for row in answer.rows} == {"Ottawa", "Toronto"}
        assert curator.remaining.delta == pytest.approx(0.015)
        main = next(iter(budget))
        assert getattr(curator.remaining, main) < budget[main]


def test_private_keys_without_delta_are_refused(tmp_path):
    with opened(tmp_path, keys={}, budget={"rho": 1}) as curator, pytest.raises(dp.PolicyViolation):
        curator.ask("SELECT city, COUNT(*) AS n FROM people GROUP BY city", rho=0.5)


def test_a_watch_answers_until_its_count_is_used_up(tmp_path):
    with opened(tmp_path, frame(people=2000)) as curator:
        watch = curator.watch(threshold=1000, epsilon=1, count=1)
        assert curator.remaining.epsilon == 1
        assert watch.test("SELECT COUNT(*) FROM people WHERE debt < 0") is False
        assert watch.test("SELECT COUNT(*) FROM people") is True
        assert watch.finished
        with pytest.raises(dp.Finished):
            watch.test("SELECT COUNT(*) FROM people")


def test_a_watch_takes_one_plain_count_or_sum(tmp_path):
    with opened(tmp_path) as curator:
        watch = curator.watch(threshold=1000, epsilon=1)
        for text in (SQL, "SELECT AVG(debt) FROM people", "SELECT COUNT(*), SUM(debt) FROM people"):
            with pytest.raises(dp.UnsupportedQuery):
                watch.test(text)


def test_an_answer_is_saved_with_its_receipt_and_a_dictionary(tmp_path):
    with opened(tmp_path) as curator:
        curator.ask(SQL, epsilon=1).save(tmp_path / "out")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"answer.csv", "receipt.json", "receipt.txt", "dictionary.md"}
    assert (tmp_path / "out" / "answer.csv").read_text().splitlines()[2].startswith("city,n,total,n_lower")


def test_a_label_that_looks_like_a_formula_is_defused_in_csv(tmp_path):
    with opened(tmp_path, keys={"city": ["=1+1", "Ottawa"]}) as curator:
        assert "\n'=1+1," in curator.ask(SQL, epsilon=1).to_csv()


def test_a_key_makes_a_retry_safe_and_stands_for_one_request(tmp_path):
    with opened(tmp_path) as curator:
        first = curator.ask(SQL, epsilon=0.5, key="a")
        assert curator.ask(SQL, epsilon=0.5, key="a").rows == first.rows
        with pytest.raises(dp.LedgerConflict):
            curator.ask(SQL, epsilon=0.25, key="a")


def test_an_answer_that_cannot_be_stored_is_not_shown(tmp_path, monkeypatch):
    def full(*_):
        raise dp.LedgerConflict("the disk is full")

    with opened(tmp_path) as curator:
        monkeypatch.setattr("discreet.kernel.ledger.Ledger.answer", full)
        with pytest.raises(dp.LedgerConflict):
            curator.ask(SQL, epsilon=0.5)
        assert curator.remaining.epsilon == Fraction(3, 2)


def test_having_order_and_limit_are_free_and_on_noisy_values(tmp_path):
    with opened(tmp_path, frame(people=2000)) as curator:
        text = "SELECT city, COUNT(*) AS n FROM people GROUP BY city HAVING n > 5000 ORDER BY n DESC LIMIT 1"
        assert curator.ask(text, epsilon=1).rows == ()
        kept = curator.ask(text.replace("n > 5000", "n > 10"), epsilon=1).rows
        assert len(kept) == 1


def test_missing_bounds_are_underlined_in_the_question(tmp_path):
    with opened(tmp_path, bounds={}) as curator, pytest.raises(dp.UnsupportedQuery) as refused:
        curator.explain("SELECT COUNT(*) AS n,\n SUM(debt) AS total FROM people", epsilon=1)
    assert refused.value.message.splitlines()[1:] == ["   SUM(debt) AS total FROM people", "   ^^^^^^^^"]


def test_a_public_table_joins_on_its_first_column_unless_told(tmp_path):
    (tmp_path / "cities.csv").write_text("city,province\nOttawa,ON\nToronto,ON\n", encoding="utf-8")
    sql = "SELECT COUNT(*) AS n FROM people JOIN cities ON people.city = cities.city WHERE province = 'ON'"
    for public in (tmp_path / "cities.csv", (tmp_path / "cities.csv", "city")):
        with opened(tmp_path, public={"cities": public}) as curator:
            assert curator.explain(sql, epsilon=1).price == dp.PureDP(1)
    with (
        opened(tmp_path, public={"cities": (tmp_path / "cities.csv", "province")}) as curator,
        pytest.raises(dp.PolicyViolation, match="differ in every row"),
    ):
        curator.ask(sql, epsilon=1)


def test_a_choice_says_how_far_it_may_be_from_the_best(tmp_path):
    with opened(tmp_path) as curator:
        median = str(curator.explain("SELECT MEDIAN(debt) AS m FROM people", epsilon=1))
        assert "Expected error of m: a rank at most 17.06 from the asked one" in median
        mode = str(curator.explain("SELECT MODE(city) AS top FROM people", epsilon=1))
        assert "Expected error of top: a label with at most 2.996 rows fewer" in mode  # ln 20 = 2.99573
