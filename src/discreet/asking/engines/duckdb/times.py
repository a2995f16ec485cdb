"""Times as other programs write them: 31/12/2024, where the policy declares it by that example."""

import re
from collections.abc import Mapping

from sqlglot import exp

from discreet.asking.engines.sql import call, text, when

_PARTS: Mapping[str, tuple[str, str]] = {  # of an example -> for strptime, as a regular expression
    "2024": ("%Y", "[0-9]{4}"),
    "31": ("%d", "[0-9]{1,2}"),
    "12": ("%m", "[0-9]{1,2}"),
    "23": ("%H", "[0-9]{1,2}"),
    "58": ("%M", "[0-9]{2}"),
    "59": ("%S", "[0-9]{2}"),
}


def read_example(written: str) -> tuple[str, str]:
    """Return what strptime calls an example, and the texts that are written like it.

    >>> read_example("31/12/2024")
    ('%d/%m/%Y', '[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}')
    >>> read_example("20241231")
    ('%Y%m%d', '[0-9]{4}[0-9]{2}[0-9]{2}')
    """
    form, pattern = "", ""
    for part in re.findall("2024|31|12|23|58|59|[^0-9]", written):
        code, digits = _PARTS.get(part, (part, re.escape(part)))
        form, pattern = form + code, pattern + digits
    return form, pattern if re.search(r"\D", written[:5]) else pattern.replace("{1,2}", "{2}")


def as_iso(raw: exp.Expression, written: str) -> exp.Expression:
    """Return a text that is written like the example as ISO writes it; NULL for any other text."""
    form, pattern = read_example(written)
    iso = "%Y-%m-%dT%H:%M:%S" if "%H" in form else "%Y-%m-%d"
    read = call("strftime", call("try_strptime", raw.copy(), text(form)), text(iso))
    return when((call("regexp_full_match", raw.copy(), text(pattern)), read))
