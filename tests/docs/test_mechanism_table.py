"""The table of mechanisms is the registry's."""

import runpy
from pathlib import Path

from discreet.kernel.mechanisms import ALL

ROOT = Path(__file__).parents[2]


def test_the_table_is_generated_from_the_registry():
    script = runpy.run_path(str(ROOT / "scripts" / "make-mechanism-table"))
    page = (ROOT / "docs" / "mechanisms.md").read_text(encoding="utf-8")
    assert page == script["render"](), "run scripts/make-mechanism-table"
    assert page.count("\n| `") == len(ALL)
