from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

import discreet as dp
from discreet.apps.server import people as people_module
from discreet.apps.server.people import People, Person
from discreet.apps.server.records import SqliteRecords


@pytest.fixture
def people(tmp_path):
    records = SqliteRecords(tmp_path / "service.people")
    yield People(records)
    records.close()


def test_a_token_names_its_person(people):
    token = people.add("ann", "analyst")
    assert people.identify(token) == Person("ann", "analyst")


def test_only_the_digest_of_a_token_is_on_disk(people, tmp_path):
    token = people.add("ann", "analyst")
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"ann" in kept
    assert token.encode() not in kept
    assert token[3:].encode() not in kept


@pytest.mark.parametrize("text", ["", "dp_", "x" * 46, "dp_" + "A" * 43, "dp_" + "é" * 43, "a" * 100_000])
def test_any_other_text_names_nobody(people, text):
    people.add("ann", "analyst")
    assert people.identify(text) is None


def near_misses(people, token):
    """Who is named by a token when the kept digest is another one: one digit changed, or cut, or longer."""
    digest = people_module._digest(token)
    others = [digest[:i] + ("0" if digest[i] != "0" else "1") + digest[i + 1 :] for i in range(len(digest))]
    others += [digest[:i] for i in range(1, len(digest))] + [digest + "0", digest.upper(), " " + digest, "%"]
    for other in others:
        people._records.change("UPDATE tokens SET digest = ?", other)
        yield people.identify(token)
    people._records.change("UPDATE tokens SET digest = ?", digest)


def test_a_token_is_compared_by_every_digit_of_its_digest(people):
    token = people.add("olga", "owner")
    assert set(near_misses(people, token)) == {None}
    assert people.identify(token) == Person("olga", "owner")


@pytest.mark.parametrize("digits", [8, 63])
def test_the_comparison_is_seen_to_stop_early(people, monkeypatch, digits):
    """A planted fault: only the first digits count, in the query and after it."""
    token, rows = people.add("olga", "owner"), people._records.rows
    start = f"substr(tokens.digest, 1, {digits}) = substr(?, 1, {digits})"
    loose = partial(
        lambda ask, statement, *values: ask(statement.replace("tokens.digest = ?", start), *values), rows
    )
    monkeypatch.setattr(people._records, "rows", loose)
    monkeypatch.setattr(people_module.hmac, "compare_digest", lambda a, b: a[:digits] == b[:digits])
    assert Person("olga", "owner") in set(near_misses(people, token))


def test_a_revoked_token_names_nobody_and_others_go_on(people):
    first, second = people.add("ann", "analyst"), people.new_token("ann")
    (kept, _) = people.tokens("ann")
    assert people.revoke("ann", token=kept.id) == 1
    assert sorted([people.identify(first) is None, people.identify(second) is None]) == [False, True]
    assert people.revoke("ann") == 1
    assert people.identify(first) is people.identify(second) is None


def test_a_token_ends_with_its_days(people, monkeypatch):
    token = people.add("ann", "analyst", days=1)
    later = datetime.now(UTC) + timedelta(days=1, seconds=1)
    monkeypatch.setattr(people_module, "now", lambda: people_module._time(later))
    assert people.identify(token) is None


NAMES = ["Zoë Müller", "O'Brien", "Анна", "山田太郎", "हिन्दी", "قسم", "a", "ann@x.org", "2nd"]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_may_be_in_any_script(people, name):
    assert people.identify(people.add(name, "analyst")).name == name


REFUSED = [
    "",
    " ann",
    "a/b",
    "a" * 65,
    "a\nb",
    None,
    3,
    "ann ",
    "a  b",
    "-a",
    "\u0301a",
    "a\u202eb",
    "e\u0301",
]


@pytest.mark.parametrize("name", REFUSED)
def test_a_name_that_could_mean_something_else_is_refused(people, name):
    with pytest.raises(dp.InvalidParameter):
        people.add(name, "analyst")
    assert people.everyone() == ()


@pytest.mark.parametrize("days", [0, -1, True, 1.5, "9", 10**9])
def test_days_are_a_whole_number_within_reason(people, days):
    with pytest.raises(dp.InvalidParameter):
        people.add("ann", "analyst", days=days)
    assert people.everyone() == ()


def test_a_taken_name_and_an_unknown_role_are_refused(people):
    people.add("ann", "analyst")
    with pytest.raises(dp.InvalidParameter, match="taken"):
        people.add("ann", "owner")
    with pytest.raises(dp.InvalidParameter, match="role"):
        people.add("bob", "king")
    assert people.everyone() == (Person("ann", "analyst"),)


def test_two_processes_worth_of_people_see_each_other_at_once(tmp_path):
    records = [SqliteRecords(tmp_path / "service.people") for _ in range(2)]
    one, other = map(People, records)
    token = one.add("ann", "analyst")
    assert other.identify(token) == Person("ann", "analyst")
    other.revoke("ann")
    assert one.identify(token) is None
    for each in records:
        each.close()


def test_only_the_owner_of_the_file_may_read_it(people, tmp_path):
    assert (tmp_path / "service.people").stat().st_mode & 0o077 == 0


def test_the_last_owner_keeps_a_token_whatever_is_revoked(people):
    people.add("olga", "owner")
    people.add("ann", "analyst")
    (first,) = people.tokens("olga")
    for more in ({}, {"token": first.id}):
        with pytest.raises(dp.PolicyViolation, match="last owner"):
            people.revoke("olga", **more)
    people.new_token("olga")
    assert people.revoke("olga", token=first.id) == 1
    with pytest.raises(dp.PolicyViolation, match="last owner"):
        people.revoke("olga")
    assert people.revoke("ann") == 1
    people.add("otto", "owner")
    assert people.revoke("olga") == 1
    with pytest.raises(dp.PolicyViolation, match="last owner"):
        people.revoke("otto")


def test_an_owner_whose_tokens_are_over_does_not_count(people, monkeypatch):
    people.add("olga", "owner", days=1)
    people.add("otto", "owner", days=9)
    later = datetime.now(UTC) + timedelta(days=2)
    monkeypatch.setattr(people_module, "now", lambda: people_module._time(later))
    with pytest.raises(dp.PolicyViolation, match="last owner"):
        people.revoke("otto")
    assert people.revoke("olga") == 1
