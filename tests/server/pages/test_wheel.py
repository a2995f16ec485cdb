"""Everything that the pages need is in the wheel, so that they work offline."""

import zipfile
from pathlib import Path

from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).parents[3]


def test_the_wheel_carries_templates_static_files_documents_and_the_drawing_script(tmp_path):
    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    names = set(zipfile.ZipFile(wheel).namelist())
    server = ROOT / "src" / "discreet" / "apps" / "server"
    for folder in ("templates", "static"):
        expected = {f"discreet/apps/server/{folder}/{path.name}" for path in (server / folder).iterdir()}
        assert expected <= names
    docs = ROOT / "docs"
    assert {f"discreet/docs/{path.relative_to(docs)}" for path in docs.rglob("*.md")} <= names
    assert {f"discreet/docs/{name}.md" for name in ("ARCHITECTURE", "SECURITY", "CHANGELOG")} <= names
    assert not [name for name in names if "sheet-" in name or name.endswith("plotly.min.js")]
    assert {f"discreet/apps/site/{name}" for name in ("page.html", "site.css", "site.js")} <= names
    assert {"discreet/apps/pictures/plotly.min.js.gz", "discreet/apps/pictures/plotly.LICENSE.txt"} <= names
