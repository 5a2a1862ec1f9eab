"""Requests made from the OpenAPI document: whatever is sent, no answer is a 5xx."""

import tempfile
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, settings

from clubcascade.service import routes
from tests.service.web import serving, stock

schema = schemathesis.openapi.from_dict(routes.document())


@pytest.fixture(scope="module")
def url():
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as (client, _):
        stock(client)
        yield str(client.base_url)


@schema.parametrize()
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
)
def test_no_request_is_too_strange(case, url):
    response = case.call(base_url=url, timeout=300)
    case.validate_response(
        response,
        checks=(
            schemathesis.checks.not_a_server_error,
            schemathesis.checks.status_code_conformance,
            schemathesis.checks.response_schema_conformance,
            schemathesis.checks.content_type_conformance,
        ),
    )


def test_every_address_is_documented():
    assert {route.path for route in routes.ROUTES} == set(routes.document()["paths"])
