"""Generated questions: random expressions of every type over the accounts table, as SQL text."""

from hypothesis import strategies as st

# A row of it is near the end of 38 digits, and a few rows are beyond.
WIDE = "CASE WHEN id > 3 THEN 9223372036854775807 * 9223372036854775807 ELSE age END"


def _call(name, *parts):
    return st.builds(lambda *values: f"{name}({', '.join(values)})", *parts)


def _infix(left, words, right):
    return st.builds(lambda a, word, b: f"({a} {word} {b})", left, st.sampled_from(words), right)


def _case(test, value):
    return st.builds(lambda a, b, c: f"CASE WHEN {a} THEN {b} ELSE {c} END", test, value, value)


def _cast(part, kind):
    return part.map(lambda text: f"CAST({text} AS {kind})")


def expressions(depth):
    """Strategies for an expression of each type, nested at most so deep."""
    plain = {
        "integer": st.sampled_from(["age", "children", "id", "0", "7", "-3", "9223372036854775807"]),
        "number": st.sampled_from(["debt", "income", "0.5", "-2.25", "1e300", "0.0"]),
        "text": st.sampled_from(["city", "job", "code", "'Ottawa'", "'5'", "''"]),
        "boolean": st.sampled_from(["active", "TRUE", "FALSE"]),
        "date": st.sampled_from(["opened", "DATE '2020-03-01'"]),
        "timestamp": st.sampled_from(["seen", "TIMESTAMP '2020-03-01 10:20:30.5'"]),
    }
    if depth == 0:
        return plain
    inner = expressions(depth - 1)
    whole, number, text, test = (inner[kind] for kind in ("integer", "number", "text", "boolean"))
    day, moment = inner["date"], inner["timestamp"]
    times = st.one_of(day, moment)
    compared = [_infix(inner[kind], ["=", "<>", "<", "<=", ">", ">="], inner[kind]) for kind in inner]
    grown = {
        "integer": [
            _infix(whole, ["+", "-", "*", "//", "%"], whole),
            _call("ABS", whole), _call("SIGN", number), _call("LENGTH", text),
            _cast(st.one_of(number, text, test), "BIGINT"),
            st.builds(lambda part, time: f"EXTRACT({part} FROM {time})",
                      st.sampled_from(["year", "quarter", "month", "day", "dow", "isodow", "doy"]), times),
            st.builds(lambda part, time: f"EXTRACT({part} FROM {time})",
                      st.sampled_from(["hour", "minute", "second"]), moment),
            number.map(lambda each: f"WIDTH_BUCKET({each}, -10, 1000.5, 7)"),
            _infix(day, ["-"], day), _case(test, whole), _call("COALESCE", whole, whole),
        ],
        "number": [
            _infix(number, ["+", "-", "*", "/"], number), _infix(whole, ["/"], whole),
            _call("FLOOR", number), _call("CEIL", number), _call("ROUND", number), _call("ABS", number),
            _cast(st.one_of(whole, text), "DOUBLE"), _case(test, number), _call("COALESCE", number, number),
            number.map(lambda each: f"(-({each}))"),
        ],
        "text": [
            _call("LOWER", text), _call("UPPER", text), _case(test, text), _call("COALESCE", text, text),
            st.builds(
                lambda each, a, b: f"SUBSTR({each}, {a}, {b})", text, st.integers(1, 4), st.integers(0, 3)
            ),
            _cast(st.one_of(whole, test, day), "VARCHAR"),
        ],
        "boolean": [
            *compared, _infix(test, ["AND", "OR"], test), test.map(lambda each: f"(NOT {each})"),
            _infix(whole, ["<", "="], number),
            st.one_of(whole, text, number, day).map(lambda each: f"({each} IS NULL)"),
            text.map(lambda each: f"({each} LIKE 'O%a_a')"),
            text.map(lambda each: f"({each} NOT LIKE '%5%')"),
            whole.map(lambda each: f"({each} NOT IN (1, 2, 7))"),
            text.map(lambda each: f"({each} IN ('', '5'))"),
            _cast(text, "BOOLEAN"),
        ],
        "date": [
            _cast(st.one_of(text, moment), "DATE"), _case(test, day),
            st.builds(lambda unit, each: f"DATE_TRUNC('{unit}', {each})",
                      st.sampled_from(["year", "quarter", "month", "week", "day"]), day),
        ],
        "timestamp": [
            _cast(st.one_of(text, day), "TIMESTAMP"), _case(test, moment),
            st.builds(lambda unit, each: f"DATE_TRUNC('{unit}', {each})",
                      st.sampled_from(["year", "quarter", "month", "week", "day", "hour", "minute"]), moment),
        ],
    }  # fmt: skip
    return {kind: st.one_of(plain[kind], *grown[kind]) for kind in plain}


@st.composite
def questions(draw, depth=2):
    """A question that groups by a generated key, filters by one condition and counts under another."""
    made = expressions(depth)
    key = draw(st.one_of(*made.values()))
    where, test = draw(made["boolean"]), draw(made["boolean"])
    column = draw(st.sampled_from(["debt", "age", "debt / 7 - age", "children * age", WIDE]))
    return (
        f"SELECT {key} AS k, COUNT(*) AS n, COUNT(DISTINCT person) AS u, VARIANCE({column}) AS v, "
        f"SUM({column}) FILTER (WHERE {test}) AS s, COUNT({draw(made['number'])}) AS c "
        f"FROM accounts WHERE {where} GROUP BY {key}"
    )
