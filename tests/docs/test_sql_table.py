"""The page of SQL that people write says what becomes of each: accepted, or refused for a reason."""

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "make-sql-table"))
LEAST = 109  # that are accepted; the others are refused for what they would tell of a person


def test_the_page_says_what_becomes_of_every_construct():
    page = (ROOT / "docs" / "sql-constructs.md").read_text(encoding="utf-8")
    assert page == SCRIPT["render"](), "run scripts/make-sql-table"


def test_most_of_what_people_write_is_accepted():
    listed = SCRIPT["constructs"]()
    refused = {name: reason for name, sql in listed if (reason := SCRIPT["verdict"](sql)) is not None}
    assert len(listed) == 135
    assert len(listed) - len(refused) >= LEAST
    for name, reason in refused.items():
        assert "is not one of the allowed" not in reason, name
        assert "must begin with" not in reason, name
