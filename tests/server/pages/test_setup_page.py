"""An owner opens a data set from a file: what is sent, what is promised, what is refused, and what stays."""

import stat

import httpx
import pytest

from discreet.errors import InvalidParameter
from server.pages.visiting import Visitor
from server.running import UNHURRIED, running, write_policy

HEADER = "patient,age,clinic\n"
ROWS = "".join(f"{n // 2},{n % 90},{('North', 'South')[n % 2]}\n" for n in range(400))
FIELDS = {
    "file": "visits.csv",
    "id": "visits",
    "unit": "patient",
    "limit": "2",
    "population": "200",
    "version": "1",
    "epsilon": "10",
    "delta": "0.000001",
    "per_analyst": "4",
    "approve_above": "3",
    "type.0": "text",
    "type.1": "integer",
    "low.1": "0",
    "high.1": "90",
    "type.2": "text",
    "keys.2": "North, South",
}


@pytest.fixture
def house(tmp_path):
    with running(None, folder=tmp_path / "house", limits=UNHURRIED) as served:
        (served.folder / "visits.csv").write_text(HEADER + ROWS)
        yield served


@pytest.fixture
def olga(house):
    with Visitor(house) as visitor:
        yield visitor.signed_in("olga")


def opened(visitor, **changed):
    return visitor.send_form("/owner/new", seen_at="/owner", **{**FIELDS, **changed})


def sent(visitor, name, content, **headers):
    given = {"x-csrf": visitor.csrf("/owner"), **headers}
    return visitor.put(f"/owner/files/{name}", content=content, headers=given)


def test_from_a_file_to_an_answer_with_the_limits_that_were_typed(house, olga):
    there = olga.get("/owner/new")
    assert "visits.csv" in there.text
    form = olga.get("/owner/new", params={"file": "visits.csv"})
    assert 'value="patient" selected' in form.text  # guessed from its name, to be changed
    reply = opened(olga)
    assert reply.status_code == 303, reply.text
    assert reply.headers["location"].startswith("/datasets/visits/ask?sql=SELECT+clinic")
    asked = {"sql": "SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic", "epsilon": 2}
    answer = house.send("POST", "/api/datasets/visits/ask", who="ann", body=asked).json
    assert [row["clinic"] for row in answer["rows"]] == ["North", "South"]
    left = house.send("GET", "/api/datasets/visits/budget", who="ann").json
    assert left["remaining"]["epsilon"] == 2  # 4 of her own
    waits = house.send("POST", "/api/datasets/visits/ask", who="bob", body={**asked, "epsilon": 3.5})
    assert waits.status == 202


def test_what_was_opened_is_served_again_after_a_restart(tmp_path):
    folder = tmp_path / "house"
    with running(None, folder=folder, limits=UNHURRIED) as served:
        (folder / "visits.csv").write_text(HEADER + ROWS)
        token = served.tokens["olga"]
        with Visitor(served) as olga:
            assert opened(olga.signed_in("olga")).status_code == 303
    with running(None, folder=folder, limits=UNHURRIED) as again:
        assert list(again.service.datasets) == ["visits"]
        assert again.service.people.identify(token).name == "olga"
    assert stat.S_IMODE((folder / "visits.toml").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_before_it_is_opened_nothing_is_said_that_depends_on_a_row(house, olga):
    seen = []
    for rows in (ROWS, "one,two,three\n"):  # the second is not even of the types that are promised
        (house.folder / "visits.csv").write_text(HEADER + rows)
        found = olga.post("/owner/new/look", data={"csrf": olga.csrf("/owner"), **FIELDS}).json()
        assert found.pop("tried")  # drawn anew each time
        seen.append(found)
    assert seen[0] == seen[1]
    assert "in at most all of 100 cases" in seen[0]["odds"]
    assert seen[0]["question"].startswith("SELECT clinic")
    assert not house.service.datasets


def test_without_a_script_the_form_shows_what_it_means(olga):
    looked = opened(olga, do="look")
    assert looked.status_code == 200
    assert "guesses right" in looked.text
    assert "<svg" in looked.text
    assert 'value="90"' in looked.text  # what was typed stays


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"high.1": ""}, "two ends"),
        ({"epsilon": "much"}, "epsilon must be a number"),
        ({"unit": "nobody"}, "unit must be a column"),
        ({"id": "a/b"}, "id must be letters"),
        ({"type.0": "boolean"}, None),  # of the person's own column nothing is promised
        ({"type.2": "integer", "keys.2": "", "low.2": "0", "high.2": "1"}, "clinic"),  # not in the data
    ],
)
def test_what_cannot_be_is_refused_in_words_and_nothing_of_it_stays(house, olga, changed, said):
    reply = opened(olga, **changed)
    if said is None:
        assert reply.status_code == 303
        return
    assert 400 <= reply.status_code < 500
    assert said in reply.text
    assert "North" not in reply.text.replace("North, South", "")  # the promise that was typed, no value
    assert not list(house.folder.glob("*.toml"))
    assert opened(olga).status_code == 303  # the name is still free


def test_the_same_columns_open_a_second_budget_for_other_people_alone(house, olga):
    assert opened(olga).status_code == 303
    (house.folder / "copy.csv").write_text(HEADER + ROWS)
    refused = opened(olga, file="copy.csv", id="copy")
    assert refused.status_code == 403
    assert "Why these are other people" in refused.text
    assert "copy" not in house.service.datasets
    taken = opened(olga, file="copy.csv", id="copy", other_people="another hospital")
    assert taken.status_code == 303
    assert set(house.service.datasets) == {"visits", "copy"}


def test_a_name_is_given_once(house, olga):
    assert opened(olga).status_code == 303
    again = opened(olga)
    assert again.status_code == 400
    assert "must be new" in again.text
    assert (house.folder / "visits.toml").exists()


def test_a_file_is_kept_whole_under_a_new_name_for_the_owner_alone(house, olga):
    assert sent(olga, "more.csv", HEADER + ROWS).status_code == 201
    kept = house.folder / "more.csv"
    assert kept.read_text() == HEADER + ROWS
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert sent(olga, "more.csv", "other").status_code == 400
    assert kept.read_text() == HEADER + ROWS
    for name in ("visits.toml", "folder.ledger", ".hidden.csv", "..%2Fup.csv", "x.exe", "x.csv%00.toml"):
        assert sent(olga, name, "x").status_code in (400, 404)
    assert sent(olga, "word.csv", "x", **{"x-csrf": "wrong"}).status_code == 403
    assert {path.name for path in house.folder.iterdir() if path.suffix in (".csv", ".part", ".toml")} == {
        "visits.csv",
        "more.csv",
    }
    assert not (house.folder.parent / "up.csv").exists()


def test_a_file_that_is_too_large_is_not_kept(tmp_path):
    few = type(UNHURRIED)(token_per_s=1e6, address_per_s=1e6, upload_bytes=1000)
    with running(None, folder=tmp_path / "house", limits=few) as served, Visitor(served) as olga:
        olga.signed_in("olga")
        assert sent(olga, "large.csv", b"x" * 1001).status_code == 413
        assert not list(served.folder.glob("*.csv")) + list(served.folder.glob("*.part"))
        assert sent(olga, "small.csv", b"x" * 1000).status_code == 201


def test_only_an_owner_opens_and_only_where_there_is_a_folder(house, tmp_path):
    with Visitor(house) as ann:
        ann.signed_in("ann")
        assert ann.get("/owner/new").status_code == 403
        assert ann.post("/owner/new", data={"csrf": ann.csrf("/datasets"), **FIELDS}).status_code == 403
        assert ann.put("/owner/files/x.csv", content="x", headers={"x-csrf": "x"}).status_code == 403
    assert not house.service.datasets
    assert httpx.get(f"{house.url}/owner/new").status_code == 303
    with running(write_policy(tmp_path / "town"), limits=UNHURRIED) as town, Visitor(town) as owner:
        owner.signed_in("olga")
        assert owner.get("/owner/new").status_code == 404
        assert sent(owner, "x.csv", "x").status_code == 404
        assert "/owner/new" not in owner.get("/owner").text


def test_a_new_version_is_read_from_a_new_file_and_the_old_answers_stay(house, olga):
    assert opened(olga).status_code == 303
    asked = {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": 2}
    first = house.send("POST", "/api/datasets/visits/ask", who="olga", body=asked).json
    assert sent(olga, "visits-2.csv", HEADER + ROWS * 3).status_code == 201
    change = {"tables.visits.source": "visits-2.csv", "tables.visits.limit": "6"}
    alone = olga.send_form("/owner/datasets/visits/policy", seen_at="/owner", **change)
    assert alone.status_code == 400
    assert "version must change with the file" in alone.text
    both = {**change, "dataset.version": "2"}
    assert olga.send_form("/owner/datasets/visits/policy", seen_at="/owner", **both).status_code == 303
    second = house.send("POST", "/api/datasets/visits/ask", who="olga", body=asked).json
    assert second["charged"]
    assert second["rows"][0]["n"] - first["rows"][0]["n"] > 500  # 1200 rows and 400, each with its noise
    kept = olga.get(f"/datasets/visits/answers/{first['receipt']['charge']}.json").json()
    assert kept["rows"] == first["rows"]
    for wrong in ("../visits.csv", "folder.ledger", "none.csv"):
        form = {"tables.visits.source": wrong, "dataset.version": "3"}
        refused = olga.send_form("/owner/datasets/visits/policy", seen_at="/owner", **form)
        assert refused.status_code == 400
    assert 'source = "visits-2.csv"' in (house.folder / "visits.toml").read_text()


@pytest.mark.parametrize(
    "name", ["\U00020000" * 90 + ".csv", "\u00e9" * 101 + ".csv"], ids=["four bytes", "two"]
)
def test_a_name_that_is_too_long_for_the_disk_is_refused_in_words(house, olga, name):
    reply = sent(olga, name, "x")
    assert reply.status_code == 400
    assert "letters, digits" in reply.text


def test_an_ending_in_capitals_is_an_ending(house, olga):
    assert sent(olga, "MORE.CSV", HEADER + ROWS).status_code == 201
    assert opened(olga, file="MORE.CSV", id="more").status_code == 303


def test_labels_on_two_lines_and_a_deep_file_are_no_failure_of_the_server(house, olga):
    (house.folder / "deep.jsonl").write_text("[" * 100_000)
    assert olga.get("/owner/new", params={"file": "deep.jsonl"}).status_code == 403
    assert opened(olga, **{"keys.2": "North\nSouth"}).status_code == 303


def test_another_file_leads_to_no_second_budget_for_the_same_people(house, olga):
    (house.folder / "few.csv").write_text("patient,clinic\n1,North\n")
    few = {
        "file": "few.csv",
        "id": "few",
        "type.1": "text",
        "keys.1": "",
        "type.2": "",
        "low.1": "",
        "high.1": "",
    }
    assert opened(olga).status_code == 303
    assert opened(olga, **few).status_code == 303
    change = {"tables.few.source": "visits.csv", "dataset.version": "2"}
    refused = olga.send_form("/owner/datasets/few/policy", seen_at="/owner", **change)
    assert refused.status_code == 403
    assert "second budget for the same people" in refused.text
    assert "other_people" not in refused.text
    assert 'source = "few.csv"' in (house.folder / "few.toml").read_text()


def test_a_file_of_settings_that_is_no_policy_is_named(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[build-system]\n")
    with pytest.raises(InvalidParameter, match=r"^pyproject\.toml: "), running(None, folder=tmp_path):
        pass
