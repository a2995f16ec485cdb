"""Public tables are there to be seen; private ones are not."""

import html

from server.pages.visiting import Visitor
from server.running import promptly, write_policy

PUBLIC = """
[public.places]
source = "places.csv"
key = "city"
"""


def test_the_first_rows_of_a_public_table_are_shown_and_none_of_a_private_one(tmp_path):
    policy = write_policy(tmp_path / "town")
    policy.write_text(policy.read_text() + PUBLIC)
    places = [f"place{n},<b>region{n}</b>" for n in range(30)]
    (policy.parent / "places.csv").write_text("\n".join(["city,region", *places]) + "\n")
    with promptly(policy) as served, Visitor(served) as ann:
        page = ann.signed_in("ann").get("/datasets/town").text
        assert "<b>region" not in page
        shown = html.unescape(page)
        assert "<td>place0</td><td><b>region0</b></td>" in shown
        assert "place19" in shown
        assert "place20" not in shown
        assert "shop0" not in shown
