"""The OpenAPI document, made from the types of the requests and answers."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from clubcascade.service import schemas

_ERRORS = {
    "400": "Not JSON.",
    "401": "No key, or one that is not known.",
    "403": "The key has no such role on that model.",
    "404": "No such model or user.",
    "408": "The request came too slowly.",
    "409": "The name is taken by another model.",
    "413": "More than one request may have.",
    "431": "More than one request may have besides its body.",
    "422": "A field is wrong; the error names it.",
    "429": "Too many requests with one key.",
    "503": "Starting, or unable to write: nothing was learned.",
}
_MODEL = {
    "name": "model",
    "in": "path",
    "required": True,
    "schema": {"type": "string", "pattern": "^[A-Za-z0-9_.-]{1,64}$"},
}
_USER = {"name": "user", "in": "path", "required": True, "schema": {"type": "string"}}
_M = "/v1/models/{model}"

# (method, path, summary, role, request types, answer, status)
_TABLE: list[tuple[str, str, str, str | None, list[type], type | None, str]] = [
    (
        "post",
        "/v1/{model}/recommend",
        "Rank items for a user; learns nothing.",
        "write",
        [schemas.RecommendRequest],
        schemas.RecommendResponse,
        "200",
    ),
    (
        "post",
        "/v1/{model}/feedback",
        "Learn where users clicked; durable when answered. One piece, or a batch.",
        "write",
        [schemas.FeedbackItem, schemas.FeedbackBatch],
        None,
        "200",
    ),
    (
        "put",
        "/v1/{model}/items",
        "Register items, or give them other features.",
        "write",
        [schemas.ItemsPut],
        schemas.ItemsAnswer,
        "200",
    ),
    (
        "delete",
        "/v1/{model}/items",
        "Remove items.",
        "write",
        [schemas.ItemsDelete],
        schemas.ItemsAnswer,
        "200",
    ),
    ("get", "/v1/models", "The models of this key.", "read", [], schemas.ModelList, "200"),
    (
        "put",
        _M,
        "Make a model; 200 if it exists with these parameters.",
        "admin",
        [schemas.ModelPut],
        schemas.ModelInfo,
        "201",
    ),
    ("get", _M, "Describe a model.", "read", [], schemas.ModelInfo, "200"),
    (
        "get",
        _M + "/users/{user}",
        "A user: counts, cluster, next list with scores.",
        "read",
        [],
        schemas.UserCard,
        "200",
    ),
    (
        "get",
        _M + "/clusters",
        "Who is alike, and their taste.",
        "read",
        [],
        schemas.Clusters,
        "200",
    ),
    ("get", _M + "/digest", "SHA-256 of the model.", "read", [], schemas.Digest, "200"),
    ("get", _M + "/pulse", "The last minutes, for the page /ui.", "read", [], None, "200"),
    (
        "post",
        _M + "/snapshot",
        "Write a snapshot of all models now.",
        "admin",
        [],
        schemas.Snapshot,
        "200",
    ),
    ("get", "/healthz", "Whether the process lives.", None, [], None, "200"),
    ("get", "/readyz", "Whether feedback can be taken.", None, [], None, "200"),
    ("get", "/metrics", "Counters and latencies for Prometheus.", "read", [], None, "200"),
]


@cache
def document() -> dict[str, Any]:
    """Return the OpenAPI document of the service."""
    types: list[type] = [schemas.Error, schemas.FeedbackAnswer, schemas.FeedbackAnswers]
    for row in _TABLE:
        types += [*row[4], *([row[5]] if row[5] else [])]
    kinds = list(dict.fromkeys(types))
    found, components = msgspec.json.schema_components(
        kinds, ref_template="#/components/schemas/{name}"
    )
    refs = dict(zip(kinds, found, strict=True))
    paths: dict[str, Any] = {}
    for row in _TABLE:
        paths.setdefault(row[1], {})[row[0]] = _operation(row, refs)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "clubcascade",
            "version": "1",
            "description": "A list that learns from clicks. Acknowledged feedback is never lost "
            "and is learned exactly once.",
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(row: Any, refs: dict[type, Any]) -> dict[str, Any]:
    method, path, summary, role, requests, answer, status = row
    kind = "text/plain" if path == "/metrics" else "application/json"
    shape: dict[str, Any] = refs[answer] if answer else {}
    if path.endswith("/feedback"):
        shape = {"oneOf": [refs[schemas.FeedbackAnswer], refs[schemas.FeedbackAnswers]]}
    good = {"description": "Done.", "content": {kind: {"schema": shape}}}
    responses: dict[str, Any] = {status: good}
    if status == "201":
        responses["200"] = good
    codes = ["503"] if role is None else [code for code in _ERRORS if code != "409"]
    if method == "put" and path == _M:
        codes = list(_ERRORS)
    if path == "/healthz":
        codes = []
    for code in codes:
        error = {"application/json": {"schema": refs[schemas.Error]}}
        responses[code] = {"description": _ERRORS[code], "content": error}
    name = f"{method}_{path.strip('/').replace('/', '_').replace('{', '').replace('}', '')}"
    found: dict[str, Any] = {
        "summary": summary,
        "operationId": name.replace(".", "_"),
        "responses": responses,
    }
    parameters = [p for p in (_MODEL, _USER) if f"{{{p['name']}}}" in path]
    if parameters:
        found["parameters"] = parameters
    if role is not None:
        found["security"] = [{"key": []}]
        found["description"] = f"Needs a key with the role `{role}`."
    if requests:
        body = refs[requests[0]] if len(requests) == 1 else {"oneOf": [refs[r] for r in requests]}
        found["requestBody"] = {"required": True, "content": {"application/json": {"schema": body}}}
    return found
