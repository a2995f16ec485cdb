"""The documentation site: docs/ and the code's own words as pages that need no network and no inline script.

    pages = build_site(commands={"ask": "Usage: ..."}, openapi={...})  # address -> bytes

`discreet serve` sends them under /docs, `make docs` writes them into a folder. The generator is our own:
pages are sent under a content policy that common themes do not keep (`style-src 'self'`), an installed
package has them without a step of its own, and formulas become MathML, without a script. It is
markdown-it, Pygments and these files.

- `formulas.py` sets mathematics, `markdown.py` makes pages, `reference.py` reads docstrings, help and
  OpenAPI, `contents.py` knows which pages there are; `page.html`, `site.css`, `site.js` are how they look.

Tested by: tests/site
"""

from discreet.apps.site.build import build_site
from discreet.apps.site.contents import folder
from discreet.apps.site.formulas import typeset
from discreet.apps.site.markdown import slug

__all__ = ["build_site", "folder", "slug", "typeset"]
