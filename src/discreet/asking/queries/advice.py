"""What to write instead: the reason and the sentence for each common thing that is refused.

Anything that is neither read nor listed here is refused all the same; this page only makes refusals helpful.
"""

_CLOCK = ("clock", "The time of asking is no part of the data. Write the date out, as DATE '2026-11-15'.")
_RANDOM = ("randomness", "Random functions are not allowed: discreet draws the noise. Leave it out.")
_WINDOW = ("window", "Window functions mix the rows of many people. Group by the unit in a subquery instead.")
_SUBQUERY = (
    "subquery",
    "A subquery may be in FROM only: in a condition, one person's row could decide for all. "
    "Ask two questions, or join on the unit.",
)
_ONE_ROW = (
    "single_row",
    "An aggregate that returns one person's row is not allowed. Use QUANTILE, MIN or MAX.",
)
_REGEX = ("pattern", "Regular expressions are not allowed. Use LIKE with a pattern such as 'Ott%'.")
_LISTS = ("nested_value", "Lists and structs are not allowed. Ask about plain columns.")
_COLLECT = (
    "collects_rows",
    "An aggregate that collects values would print the data. Use GROUP BY and COUNT(*).",
)
_SYSTEM = ("system_function", "Functions that read files, settings or other tables are not allowed.")
_CHOICE = (
    "unknown_function",
    "IF, LEAST, GREATEST and NULLIF are not allowed. Write CASE WHEN ... THEN ... END.",
)
_BITS = ("unknown_function", "Bit operators are not allowed. Use arithmetic, // and %.")
_TEXT = ("unknown_function", "Texts are not joined. Ask about their parts, or name cases with CASE WHEN.")
_POWER = ("unknown_function", "Powers, roots and logarithms are not allowed on rows. Write x * x.")
_QUANTILE = ("quantile", "Quantiles are written QUANTILE(x, 0.25) or MEDIAN(x).")
_POPULATION = ("unknown_function", "The population forms are not offered. Use VARIANCE(x) or STDDEV(x).")
_PARAMETER = ("parameter", "Parameters are not bound here. Write the value into the question.")
_NULL_SAFE = ("null_safe", "IS DISTINCT FROM is not allowed. Write a <> b OR a IS NULL.")
_LOGICAL = ("unknown_function", "Write COUNT(*) FILTER (WHERE ...) and compare it with 0.")

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
    "ILike": ("pattern", "ILIKE is not allowed. Write LOWER(x) LIKE 'ott%'."),
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
    "If": _CHOICE,
    "Least": _CHOICE,
    "Greatest": _CHOICE,
    "Nullif": _CHOICE,
    "BitwiseAnd": _BITS,
    "BitwiseOr": _BITS,
    "BitwiseXor": _BITS,
    "BitwiseNot": _BITS,
    "BitwiseLeftShift": _BITS,
    "BitwiseRightShift": _BITS,
    "DPipe": _TEXT,
    "Concat": _TEXT,
    "Repeat": _TEXT,
    "Pow": _POWER,
    "Sqrt": _POWER,
    "Ln": _POWER,
    "Log": _POWER,
    "Exp": _POWER,
    "PercentileCont": _QUANTILE,
    "PercentileDisc": _QUANTILE,
    "ApproxQuantile": _QUANTILE,
    "WithinGroup": _QUANTILE,
    "VariancePop": _POPULATION,
    "StddevPop": _POPULATION,
    "Placeholder": _PARAMETER,
    "Parameter": _PARAMETER,
    "NullSafeEQ": _NULL_SAFE,
    "NullSafeNEQ": _NULL_SAFE,
    "LogicalOr": _LOGICAL,
    "LogicalAnd": _LOGICAL,
    "CountIf": _LOGICAL,
    "Grouping": ("grouping", "GROUPING() is not needed: a key that a set leaves out is NULL."),
    "Star": ("star", "* is allowed in COUNT(*) and alone in a row-wise subquery only."),
    "ApproxDistinct": ("distinct", "Only the unit is counted with DISTINCT: COUNT(DISTINCT unit)."),
    "Interval": (
        "interval",
        "An interval is added to a date written out: DATE '2026-01-01' + INTERVAL '3' MONTH.",
    ),
    "StrToTime": ("cast_type", "Dates are read with CAST(x AS DATE), which gives NULL for what is none."),
    "Try": ("unknown_function", "TRY is not needed: nothing fails here. Leave it out."),
    "DayOfWeek": ("date_part", "Write EXTRACT(dow FROM x): Sunday is 0."),
    "DayOfYear": ("date_part", "Write EXTRACT(doy FROM x)."),
    "DayOfMonth": ("date_part", "Write EXTRACT(day FROM x)."),
}
