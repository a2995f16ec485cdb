import json

import pytest

import discreet as dp
from discreet import errors

KINDS = [
    value
    for value in vars(errors).values()
    if isinstance(value, type) and issubclass(value, errors.DiscreetError)
]


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_is_public_and_documented_in_the_tree(kind):
    assert getattr(dp, kind.__name__) is kind
    assert kind.__name__ in errors.__doc__


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_has_one_json_shape(kind):
    error = json.loads(json.dumps(kind("text", parameter="x").to_json()))["error"]
    assert error == {"code": kind.code, "message": "text", "fields": {"parameter": "x"}}


def test_codes_statuses_and_exit_codes_are_the_contract():
    table = {(kind.code, kind.status, kind.exit_code) for kind in KINDS}
    assert table == {
        ("invalid_parameter", 400, 2),
        ("unsupported_query", 422, 3),
        ("policy_violation", 403, 4),
        ("rationed", 403, 12),
        ("budget_exceeded", 409, 5),
        ("ledger_conflict", 409, 6),
        ("finished", 409, 7),
        ("unauthenticated", 401, 8),
        ("engine_failure", 503, 9),
        ("entropy_failure", 503, 10),
        ("internal", 500, 70),
    }
