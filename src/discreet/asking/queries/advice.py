"""What to write instead: the reason and the sentence for each common thing that is refused.

Anything that is neither read nor listed here is refused all the same; this page only makes refusals helpful.
"""

_CLOCK = ("clock", "The time of asking is no part of the data. Write the date out, as DATE '2026-11-15'.")
_RANDOM = ("randomness", "Random functions are not allowed: discreet draws the noise. Leave it out.")
_WINDOW = (
    "window",
    "Before the noise a window would mix the rows of many people. Put it around aggregates, as "
    "SUM(COUNT(*)) OVER (), or group by the unit in a subquery.",
)
_SUBQUERY = (
    "subquery",
    "Before the noise a subquery may be in FROM only: one person's row could decide for all. "
    "Select from what was released, WITH t AS (...), or join on the unit.",
)
_ONE_ROW = (
    "single_row",
    "An aggregate that returns one person's row is not allowed. Use QUANTILE, MIN or MAX.",
)
_REGEX = (
    "pattern",
    "How long a regular expression takes depends on one person's text, and time tells. Use LIKE 'Ott%'.",
)
_LISTS = (
    "nested_value",
    "Lists make many rows of one person's, beyond their limit. Ask about plain columns.",
)
_COLLECT = (
    "collects_rows",
    "An aggregate that collects values would print the data. Use GROUP BY and COUNT(*).",
)
_SYSTEM = ("system_function", "Functions that read files, settings or other tables are not allowed.")
_BITS = ("unknown_function", "Bit operators are not allowed. Use arithmetic, // and %.")
_POWER = ("unknown_function", "Powers and roots of rows are x * x, POWER(x, 2) and SQRT(x). Any are of "
          "aggregates, as POWER(AVG(x), 3.5).")  # fmt: skip
_PARAMETER = ("parameter", "Parameters are not bound here. Write the value into the question.")
_LOGICAL = (
    "unknown_function",
    "Whether one row holds is one person's secret. Write COUNT_IF(...) and compare it with the noise.",
)

ADVICE: dict[str, tuple[str, str]] = {
    "now": _CLOCK,
    "CurrentDate": _CLOCK,
    "CurrentTimestamp": _CLOCK,
    "CurrentTime": _CLOCK,
    "Localtimestamp": _CLOCK,
    "Localtime": _CLOCK,
    "get_current_timestamp": _CLOCK,
    "Rand": _RANDOM,
    "Randn": _RANDOM,
    "Uuid": _RANDOM,
    "setseed": _RANDOM,
    "gen_random_uuid": _RANDOM,
    "Window": _WINDOW,
    "RowNumber": _WINDOW,
    "Rank": _WINDOW,
    "Lag": _WINDOW,
    "Lead": _WINDOW,
    "Subquery": _SUBQUERY,
    "Exists": _SUBQUERY,
    "Select": _SUBQUERY,
    "Any": _SUBQUERY,
    "All": _SUBQUERY,
    "First": _ONE_ROW,
    "Last": _ONE_ROW,
    "AnyValue": _ONE_ROW,
    "IgnoreNulls": _ONE_ROW,
    "ArgMax": _ONE_ROW,
    "ArgMin": _ONE_ROW,
    "arbitrary": _ONE_ROW,
    "RegexpLike": _REGEX,
    "RegexpFullMatch": _REGEX,
    "RegexpExtract": _REGEX,
    "RegexpReplace": _REGEX,
    "SimilarTo": _REGEX,
    "Glob": _REGEX,
    "Escape": ("pattern", "ESCAPE is not allowed in LIKE."),
    "Array": _LISTS,
    "Struct": _LISTS,
    "Bracket": _LISTS,
    "Dot": _LISTS,
    "Map": _LISTS,
    "Lambda": _LISTS,
    "Explode": _LISTS,
    "Unnest": _LISTS,
    "Tuple": _LISTS,
    "GenerateSeries": _LISTS,
    "JSONExtract": _LISTS,
    "ArrayAgg": _COLLECT,
    "GroupConcat": _COLLECT,
    "histogram": _COLLECT,
    "query": _SYSTEM,
    "query_table": _SYSTEM,
    "read_text": _SYSTEM,
    "getenv": _SYSTEM,
    "current_setting": _SYSTEM,
    "error": _SYSTEM,
    "stats": _SYSTEM,
    "version": _SYSTEM,
    "CurrentUser": _SYSTEM,
    "BitwiseAnd": _BITS,
    "BitwiseOr": _BITS,
    "BitwiseXor": _BITS,
    "BitwiseNot": _BITS,
    "BitwiseLeftShift": _BITS,
    "BitwiseRightShift": _BITS,
    "Repeat": ("unknown_function", "Texts are not repeated. Join them with ||."),
    "Cbrt": _POWER,
    "Logarithm": (
        "unknown_function",
        "Logarithms, exponentials and powers of rows differ between engines in the last digit. Take them of "
        "an aggregate, as LN(AVG(x)), or count in buckets: WIDTH_BUCKET(x, low, high, count).",
    ),
    "Placeholder": _PARAMETER,
    "Parameter": _PARAMETER,
    "LogicalOr": _LOGICAL,
    "LogicalAnd": _LOGICAL,
    "Grouping": (
        "grouping",
        "A key that a set leaves out is NULL: write city IS NULL where no row's city is.",
    ),
    "geometric_mean": (
        "unknown_function",
        "A geometric mean needs the logarithm of every row, which engines round differently. Ask a MEDIAN.",
    ),
    "Star": ("star", "* is allowed in COUNT(*) and alone in a row-wise subquery only."),
    "ApproxDistinct": (
        "count_distinct",
        "A sketch of distinct values is not private. COUNT(DISTINCT x) counts the unit, or declared keys.",
    ),
    "Interval": (
        "interval",
        "An interval is added to a date written out, DATE '2026-01-01' + INTERVAL '3' MONTH; days and weeks "
        "also to a column that is compared with one. Write DATE_DIFF('day', a, b) for others.",
    ),
    "StrToTime": ("cast_type", "Dates are read with CAST(x AS DATE), which gives NULL for what is none."),
    "Try": ("unknown_function", "TRY is not needed: nothing fails here. Leave it out."),
}
