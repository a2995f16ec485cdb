"""The API as it describes itself, tried with generated requests: no 5xx, and nothing it did not describe."""

from dataclasses import replace

import hypothesis
import pytest
import schemathesis
from hypothesis import HealthCheck
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from discreet.apps.server import make_app
from server.running import UNHURRIED, promptly, write_policy

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
EXAMPLES = 25


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    policy = write_policy(tmp_path_factory.mktemp("town"), epsilon=1)
    limits = replace(
        UNHURRIED, body_bytes=10**7
    )  # generated texts are long: they are refused by their content
    with promptly(policy, limits=limits) as served:
        served.service.open_all()
        yield served


@pytest.fixture(scope="module")
def schema(town):
    described = town.send("GET", "/openapi.json", who=None).json
    for methods in described["paths"].values():
        for operation in methods.values():
            operation.pop("security", None)  # every request here carries a token: a missing one is no fault
    loaded = schemathesis.openapi.from_dict(described)
    loaded.config.update(base_url=town.url)
    return loaded


OPERATIONS = [
    ("GET", "/health"),
    ("GET", "/metrics"),
    ("GET", "/api/me"),
    ("GET", "/api/datasets"),
    ("GET", "/api/datasets/{name}"),
    ("POST", "/api/datasets/{name}/explain"),
    ("POST", "/api/datasets/{name}/ask"),
    ("POST", "/api/datasets/{name}/book/explain"),
    ("POST", "/api/datasets/{name}/book"),
    ("POST", "/api/datasets/{name}/watch"),
    ("GET", "/api/datasets/{name}/watch"),
    ("DELETE", "/api/datasets/{name}/watch/{watch}"),
    ("POST", "/api/datasets/{name}/watch/{watch}/test"),
    ("GET", "/api/datasets/{name}/history"),
    ("GET", "/api/datasets/{name}/budget"),
    ("GET", "/api/datasets/{name}/receipts/{charge}"),
    ("GET", "/api/datasets/{name}/approvals"),
    ("POST", "/api/datasets/{name}/approvals/{approval}"),
    ("GET", "/api/datasets/{name}/verify"),
    ("POST", "/api/datasets/{name}/shares"),
    ("POST", "/api/datasets/{name}/failures/release"),
    ("GET", "/api/people"),
    ("POST", "/api/people"),
    ("POST", "/api/people/{name}/tokens"),
    ("DELETE", "/api/people/{name}/tokens"),
    ("DELETE", "/api/people/{name}/tokens/{token}"),
]


@pytest.mark.parametrize(("method", "path"), OPERATIONS, ids=str)
@pytest.mark.parametrize("mode", ["positive", "negative"])
def test_generated_requests_meet_the_description(town, schema, method, path, mode):
    operation = schema[path][method]
    generation = schemathesis.GenerationMode(mode)

    @hypothesis.settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[hypothesis.Phase.generate],
    )
    @hypothesis.given(case=operation.as_strategy(generation_mode=generation))
    def attempt(case):
        if "name" in (case.path_parameters or {}) and path.startswith("/api/datasets"):
            case.path_parameters["name"] = "town"
        if mode == "positive" and "/book" in path and len(case.body["tables"]) % 2:
            case.body["tables"], case.body["weights"] = [["city"], []], None
        elif mode == "positive" and path.endswith(("/ask", "/explain")) and len(case.body.get("sql", ())) % 2:
            case.body["sql"] = "SELECT city, COUNT(*) AS n FROM town GROUP BY city"
        case.call_and_validate(
            headers={"authorization": f"Bearer {town.tokens['olga']}"}, checks=CHECKS, timeout=300
        )

    try:
        attempt()
    except hypothesis.errors.Unsatisfiable:
        assert mode == "negative"  # a request without parameters cannot be wrong


def test_a_description_that_does_not_hold_is_seen(town):
    """A planted fault: the description promises a field that the server does not send."""
    described = make_app(town.service).openapi()
    content = described["paths"]["/api/me"]["get"]["responses"]["200"]["content"]["application/json"]
    content["schema"] = {"type": "object", "required": ["age"]}
    schema = schemathesis.openapi.from_dict(described)
    schema.config.update(base_url=town.url)
    case = schema["/api/me"]["GET"].Case()
    with pytest.raises(FailureGroup, match="age"):
        case.call_and_validate(headers={"authorization": f"Bearer {town.tokens['ann']}"}, checks=CHECKS)


def test_the_list_of_operations_is_the_description(town):
    described = {
        (method.upper(), path)
        for path, methods in make_app(town.service).openapi()["paths"].items()
        for method in methods
        if path.startswith(("/api", "/health", "/metrics"))
    }
    assert described == set(OPERATIONS)
