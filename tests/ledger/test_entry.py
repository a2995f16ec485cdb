"""The chain: what can be said in it, and that nothing can be unsaid."""

from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from discreet.kernel.ledger import entry
from discreet.kernel.ledger.entry import Entry, Head, canonical

FACTS = st.dictionaries(st.text(max_size=8), st.text(max_size=8) | st.integers() | st.none(), max_size=4)


def chain(*facts):
    head, entries = Head.at_origin(), []
    for each in facts:
        entries.append(Entry.after(head, each))
        head = entries[-1].head
    return entries


@pytest.mark.slow
@given(st.lists(FACTS, min_size=1, max_size=5))
def test_a_chain_follows_itself_and_is_read_back(facts):
    entries = [Entry.from_line(entry.to_line()) for entry in chain(*facts)]
    heads = [Head.at_origin(), *(entry.head for entry in entries)]
    assert all(entry.follows(head) for entry, head in zip(entries, heads, strict=False))
    assert [entry.facts for entry in entries] == facts


@pytest.mark.parametrize(
    "change", [{"sequence": 3}, {"previous": "1" * 64}, {"body": "{}"}, {"digest": "0" * 64}]
)
def test_every_part_of_an_entry_is_bound(change):
    first, second = chain({"kind": "a"}, {"kind": "b"})
    assert not replace(second, **change).follows(first.head)


def rewritten():
    """A forger's chain: the middle entry says something else, its digest is made anew, the last names it."""
    first, _, third = chain({"kind": "a"}, {"kind": "b"}, {"kind": "c"})
    forged = Entry.after(first.head, {"kind": "other"})
    return first, forged, replace(third, previous=forged.digest)


def test_a_consistent_rewrite_in_the_middle_breaks_what_follows():
    first, forged, third = rewritten()
    assert forged.follows(first.head)
    assert not third.follows(forged.head)


def test_a_hash_without_its_predecessor_would_not_notice(monkeypatch):
    monkeypatch.setattr(entry, "_digest", lambda sequence, previous, body: str(hash((sequence, body))))
    first, forged, third = rewritten()
    assert forged.follows(first.head)
    assert third.follows(forged.head)


def test_equal_facts_have_one_text_and_no_nan():
    assert canonical({"b": 1, "a": 2}) == canonical({"a": 2, "b": 1})
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical({"cost": float("nan")})
