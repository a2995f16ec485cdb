"""Every allowed function, applied to columns of the accounts table: what an engine must give row by row."""

from itertools import cycle

from engines.people import crowd

WHOLES = ("age", "children", "-(age)", "id")
NUMBERS = ("debt", "income", "debt / 7 - age")
TEXTS = ("city", "job", "code")
PAIRS = (("age", "children"), ("debt", "income"), ("city", "code"), ("opened", "DATE '2020-03-01'"),
         ("seen", "TIMESTAMP '2020-03-01 10:20:30.5'"))  # fmt: skip
JOINED = (("city", "code"), ("code", "'x'"), ("code", "age"))
MIXED = ("debt, income, 5", "age, debt", "seen, opened", "age, NULL, id")
FORMATS = ("%Y-%m", "%d.%m.%y", "%Y-%m-%d", "%A %B", "%a, %b %%")
DAYS = ("year", "quarter", "month", "day", "dow", "isodow", "doy")
CLOCK = ("hour", "minute", "second")
UNITS = ("year", "quarter", "month", "week", "day")
NUMBERS_AS_TEXT = ["5", "+7", "-0", "007", "1e3", "-12.5e3", ".5", "5.", "1e999", "1e-999", "1_0", "0x1", "٣",
                   "NaN", "inf", *map(str, (2**63 - 1, 2**63, -(2**63)))]  # fmt: skip
TIMES_AS_TEXT = ["2020-02-29", "2019-02-29", "2020-2-9", "0000-01-01", "9999-12-31", "2020-02-29 10:20:30.25",
                 "2020-02-29T23:59:59", "2020-02-29 24:00:00", "2020-02-29 10:20"]  # fmt: skip
CODES = [*NUMBERS_AS_TEXT, *TIMES_AS_TEXT, " 1", "1 ", "true", "TRUE", "t", "yes", "Ottawa", "ottawA",
         "  ottawa ", "Éé🦆", "ﬀ", "a\n", "", None]  # fmt: skip


def _infix(words, pairs):
    return [f"{left} {word} {right}" for word in words for left, right in pairs]


def _calls(names, arguments):
    return [f"{name}({argument})" for name in names for argument in arguments]


EXPRESSIONS = [
    # Sums of whole numbers may be wide: they are compared, or brought back by a remainder.
    *(f"({left} {word} {right}) % 1000003" for word in "+-*"
      for left, right in [("age", "children"), ("age", "id")]),
    *_infix("+-*/", [("debt", "income"), ("debt", "age"), ("income", "0.5")]),
    *_infix(["/", "//", "%"], [("age", "children"), ("children", "-3"), ("age", "id")]),
    "opened - DATE '2020-03-01'",
    *(f"{call} % 1000003" for call in _calls(["ABS", "-"], WHOLES)),
    *_calls(["ABS", "-", "SIGN", "FLOOR", "CEIL", "ROUND"], NUMBERS),
    *_calls(["SIGN", "FLOOR", "CEIL", "ROUND"], ["age"]),
    *_infix(["=", "<>", "<", "<=", ">", ">="], PAIRS),
    "active AND debt > 0", "active OR debt > 0", "NOT active", "income IS NULL", "code IS NULL",
    "age IN (4, 11, 18)", "city NOT IN ('', '5', 'Québec')", "debt IN (0.5, 1000)",
    "code LIKE 'O%a_a'", "code LIKE '_'", "city NOT LIKE '%5%'",
    "COALESCE(debt, income, 0.5)", "COALESCE(city, code)", "COALESCE(opened, DATE '2020-01-01')",
    *_calls(["LOWER", "UPPER", "LENGTH"], TEXTS),
    *(f"SUBSTR({text}, {places})" for text in TEXTS for places in ("1", "2, 2", "1, 0", "3, 99")),
    *(f"{left} || {right}" for left, right in [*JOINED, ("active", "opened || city")]),
    "CONCAT(city, code, 'é')", "CONCAT(code, age)",
    *_calls(["TRIM", "LTRIM", "RTRIM"], ["code", "' ' || code || '  '", "city"]),
    *_calls(["REPLACE"], ["code, '0', 'zero'", "code, 'a', ''", "city, 't', 'é🦆'", "code, '20', '%_'"]),
    *_calls(["SPLIT_PART"], ["code, '-', 2", "code, 'a', 1", "city, 'tt', 3", "code, '.', 1"]),
    *_calls(["LEAST", "GREATEST"], [*map(", ".join, PAIRS[:2]), *map(", ".join, PAIRS[3:]), *MIXED]),
    *_calls(["SQRT"], [*NUMBERS, "age"]),
    "IF(age > 3, code, city)", "NULLIF(age, 4)", "NULLIF(city, code)", "code IS DISTINCT FROM city",
    "code ILIKE 'OTT%'", "active IS TRUE", "active IS NOT FALSE", "LEFT(code, 3)", "STARTS_WITH(code, '20')",
    "CONTAINS(code, 'tt')", "ROUND(debt, 2)", "ROUND(income, -3)", "ROUND(age, 1)", "POWER(income, 2)",
    *(f"STRFTIME({time}, '{form}')" for time in ("opened", "seen") for form in FORMATS),
    "STRFTIME(seen, '%H:%M:%S')", "TO_CHAR(seen, 'YYYY/MM/DD HH24')",
    "DAYNAME(opened)", "MONTHNAME(seen)", "DAYOFWEEK(seen)",
    *(f"DATE_DIFF('{unit}', opened, DATE '2020-03-01')" for unit in UNITS),
    *(f"DATE_DIFF('{unit}', seen, TIMESTAMP '2020-03-01 10:20:30')" for unit in ("day", "week", *CLOCK)),
    "opened + INTERVAL 3 DAY > DATE '2020-03-01'", "seen - INTERVAL 1 WEEK <= '2020-03-01'",
    "WIDTH_BUCKET(debt, -10, 1000.5, 7)", "WIDTH_BUCKET(age, 0, 120, 12)",
    *(f"CAST({text} AS {kind})" for text in ("code", "city")
      for kind in ("BIGINT", "DOUBLE", "BOOLEAN", "DATE", "TIMESTAMP")),
    *(f"CAST({number} AS BIGINT)" for number in NUMBERS), "CAST(active AS BIGINT)", "CAST(age AS DOUBLE)",
    *(f"CAST({value} AS VARCHAR)" for value in ("age", "active", "opened", "code")),
    "CAST(seen AS DATE)", "CAST(opened AS TIMESTAMP)",
    *(f"EXTRACT({part} FROM {time})" for part in DAYS for time in ("opened", "seen")),
    *(f"EXTRACT({part} FROM seen)" for part in CLOCK),
    *(f"DATE_TRUNC('{unit}', {time})" for unit in UNITS for time in ("opened", "seen")),
    *(f"DATE_TRUNC('{unit}', seen)" for unit in ("hour", "minute")),
    "CASE WHEN age < 18 THEN 'child' WHEN debt > 0 THEN code ELSE city END",
]  # fmt: skip
QUESTION = "SELECT COUNT(*) AS n FROM (SELECT id AS place, {} FROM accounts) AS s".format(
    ", ".join(f"{expression} AS e{index}" for index, expression in enumerate(EXPRESSIONS))
)


def rows():
    """A crowd whose codes are every text that a cast may meet."""
    made = crowd(3, size=3 * len(CODES))
    for row, code in zip(made["accounts"], cycle(CODES), strict=False):
        row["code"] = code
    return made
