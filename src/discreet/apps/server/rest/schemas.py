"""OpenAPI schemas of requests and responses, as strict as the server's own checks."""

from typing import Any

from discreet.apps.server.limits import Limits
from discreet.apps.server.request_bodies import MOST_COLUMNS, MOST_TABLES, TERMS

JsonSchema = dict[str, Any]
MEASURES = ("epsilon", "delta", "rho", "mu")

TEXT: JsonSchema = {"type": "string"}
FLAG: JsonSchema = {"type": "boolean"}
WHOLE: JsonSchema = {"type": "integer"}
ANYTHING: JsonSchema = {}
POSITIVE: JsonSchema = {"type": "number", "exclusiveMinimum": 0}
EPSILON: JsonSchema = {"type": "number", "exclusiveMinimum": 0, "maximum": 10_000}
DELTA: JsonSchema = {"type": "number", "minimum": 0, "exclusiveMaximum": 1}
CONFIDENCE: JsonSchema = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
NAME: JsonSchema = {"type": "string", "minLength": 1, "maxLength": 64, "description": "letters of any script"}


def record(required: dict[str, JsonSchema], optional: dict[str, JsonSchema] | None = None) -> JsonSchema:
    """Return the schema of an object with these fields and no others."""
    return {
        "type": "object",
        "required": list(required),
        "properties": {**required, **(optional or {})},
        "additionalProperties": False,
    }


def many(items: JsonSchema, **limits: int) -> JsonSchema:
    """Return the schema of a list."""
    return {"type": "array", "items": items, **limits}


def by_name(values: JsonSchema, **limits: int) -> JsonSchema:
    """Return the schema of an object with arbitrary names."""
    return {"type": "object", "additionalProperties": values, **limits}


def or_null(schema: JsonSchema) -> JsonSchema:
    """Return a schema that also allows null."""
    return {"anyOf": [schema, {"type": "null"}]}


def ask(limits: Limits) -> JsonSchema:
    """Return the schema of the body of ask and explain."""
    question = {"type": "string", "minLength": 1, "maxLength": limits.question_characters}
    several = many(question, minItems=1, maxItems=limits.questions_in_a_list)
    weights = by_name(POSITIVE, minProperties=1)
    terms: tuple[JsonSchema, ...] = (
        EPSILON,
        DELTA,
        POSITIVE,
        {"anyOf": [POSITIVE, weights]},
        CONFIDENCE,
        {"type": "string", "enum": ["auto"]},
        weights,
        weights,
    )
    optional = {name: or_null(schema) for name, schema in zip(TERMS, terms, strict=True)}
    return record({"sql": {"anyOf": [question, several]}}, optional)


def book(limits: Limits) -> JsonSchema:
    """Return the schema of the body of a book."""
    text = {"type": "string", "minLength": 1, "maxLength": limits.question_characters}
    table = {"anyOf": [text, many(text, maxItems=MOST_COLUMNS)]}
    optional: dict[str, JsonSchema] = {
        "epsilon": EPSILON,
        "delta": DELTA,
        "rho": POSITIVE,
        "mu": POSITIVE,
        "limit": {"type": "integer", "minimum": 1, "maximum": 2**20},
        "confidence": CONFIDENCE,
        "aim": {"type": "string", "enum": ["sum", "maximum"]},
        "table": {"type": "string", "minLength": 1, "maxLength": 500},
        "weights": many(POSITIVE, minItems=1, maxItems=MOST_TABLES),
    }
    tables = many(table, minItems=1, maxItems=MOST_TABLES)
    return record({"tables": tables}, {name: or_null(each) for name, each in optional.items()})


RECEIPT = {"type": "object", "required": ["charge", "dataset", "question", "plan", "price", "remaining"]}
ANSWER = record(
    {
        "columns": many(TEXT),
        "types": by_name(TEXT),
        "rows": many(by_name(ANYTHING)),
        "intervals": many(by_name(or_null(many(or_null({"type": "number"}), minItems=2, maxItems=2)))),
        "confidence": CONFIDENCE,
        "notes": many(TEXT),
        "charged": FLAG,
        "released": many({"type": "object", "required": ["groups", "numbers"]}),
        "bounds": or_null(many(many(TEXT, minItems=2, maxItems=2))),
        "receipt": RECEIPT,
    },
    {"failure": TEXT, "marked": many(TEXT)},  # of what is selected from an answer
)
NUMBER: JsonSchema = {"type": "number"}
EACH: JsonSchema = {"anyOf": [NUMBER, many(NUMBER)]}  # for all cells, or for each label of the last column
BOOK = record(
    {
        "tables": many(
            record(
                {
                    "columns": many(TEXT),
                    "labels": many(many(ANYTHING)),
                    "values": ANYTHING,  # numbers in lists, one for each column inside the one before
                    "reach": EACH,
                    "standard_deviation": EACH,
                }
            )
        ),
        "confidence": CONFIDENCE,
        "charged": FLAG,
        "released": many(record({"columns": many(WHOLE), "cells": TEXT})),
        "receipt": RECEIPT,
    }
)
PLAN = record(
    {
        "question": TEXT,
        "price": by_name(TEXT),
        "loss": {"type": "object"},
        "errors": by_name(or_null({"type": "number"})),
        "confidence": CONFIDENCE,
        "work": by_name(or_null({"type": "number"})),
        "sentences": many(TEXT),
    }
)
NUMBERS = by_name({"type": "number"})
NOTION = {"type": "object", "required": ["notion", "relation"], "additionalProperties": TEXT}


BUDGET = record(
    {
        "budget": NUMBERS,
        "remaining": NUMBERS,
        "exact": record({"budget": NOTION, "remaining": NOTION}),
        "failures": record({"counted": WHOLE, "left": WHOLE}, {"by_analyst": by_name(WHOLE)}),
    },
    {"accounts": many({"type": "object"})},
)


def one_or_many(part: JsonSchema, plural: str, *extra: str) -> JsonSchema:
    """Return the schema of one answer or plan, or of a list of them, with the flags of both."""
    flags = dict.fromkeys(extra, FLAG)
    properties = {**part["properties"], **flags}
    single = {**part, "properties": properties, "required": list(dict.fromkeys([*part["required"], *extra]))}
    return {"anyOf": [single, record({plural: many(part), **flags})]}


WAITING = record({"approval": TEXT, "state": {"enum": ["waiting", "denied"]}})
WATCH = record(
    {"threshold": {"type": "number"}, "epsilon": EPSILON},
    {
        "delta": DELTA,
        "count": {"type": "integer", "minimum": 1, "maximum": 1_000_000},
        "sensitivity": POSITIVE,
    },
)
OPEN_WATCH = record(
    {
        "watch": TEXT,
        "terms": by_name(TEXT),
        "finished": FLAG,
        "rounds": many(record({"sql": TEXT, "above": FLAG, "time": TEXT})),
    }
)
TEST = record({"sql": {"type": "string", "minLength": 1}})
RECORD = {"type": "object", "required": ["sequence", "kind", "time"]}
APPROVAL = record(
    dict.fromkeys(("id", "dataset", "person", "question", "made"), TEXT)
    | {"price": by_name(TEXT), "state": {"enum": ["waiting", "approved", "denied", "used"]}}
    | dict.fromkeys(("decided", "decided_by"), or_null(TEXT))
)
TOKEN = record({"id": TEXT, "made": TEXT, "expires": TEXT, "revoked": or_null(TEXT)})
ROLE = {"enum": ["owner", "analyst"]}
PERSON = record({"name": TEXT, "role": ROLE, "tokens": many(TOKEN)})
DAYS = {"type": "integer", "minimum": 1, "maximum": 3660}
ERROR = record({"error": record({"code": TEXT, "message": TEXT, "fields": by_name(ANYTHING)})})


def body(schema: JsonSchema) -> dict[str, Any]:
    """Return a route's request body, for `openapi_extra`."""
    content = {"application/json": {"schema": schema}}
    return {"requestBody": {"required": True, "content": content}}


def reply(code: int, schema: JsonSchema) -> dict[str, Any]:
    """Return one response of a route."""
    return {
        "description": _DESCRIPTIONS.get(code, "success"),
        "content": {"application/json": {"schema": schema}},
    }


def replies(
    schema: JsonSchema, *failures: int, status: int = 200, also: dict[int, JsonSchema] | None = None
) -> dict[int | str, dict[str, Any]]:
    """Return all responses of a route: its result, and its possible errors."""
    every = {status: schema, **(also or {})} | dict.fromkeys((*failures, 401, 404, 409, 422, 429, 503), ERROR)
    return {code: reply(code, each) for code, each in every.items()}


_DESCRIPTIONS = {
    202: "waits for an owner's approval",
    400: "an invalid parameter",
    401: "no valid token",
    403: "not allowed",
    404: "not found, or no access",
    409: "exceeds the budget, or contradicts the ledger",
    413: "too large",
    422: "a question that is not supported",
    429: "too many requests",
    503: "charged but not answered in time, or not available",
}
