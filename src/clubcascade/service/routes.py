"""The addresses: one table, from which requests find their way and the OpenAPI document is made."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, TypeVar, get_args

import msgspec

from clubcascade.service import schemas
from clubcascade.service.http import LONGEST_SEARCH, Problem

T = TypeVar("T", bound=Callable[..., Any])

_ERRORS = {
    "400": "Not JSON.",
    "401": "No key, or one that is not known.",
    "403": "The key has no such role on that model.",
    "404": "No such model, experiment, user or item.",
    "408": "The request came too slowly.",
    "409": "The name is taken by another model or experiment.",
    "413": "More than one request may have.",
    "431": "More than one request may have besides its body.",
    "422": "A field is wrong; the error names it.",
    "429": "Too many requests with one key.",
    "503": "Starting, or unable to write: nothing was learned.",
}


class Route(NamedTuple):
    """An address and a method; ``name`` is that of the method of ``Handlers`` that serves it."""

    method: str
    path: str
    name: str
    role: str | None
    summary: str
    takes: tuple[type, ...] = ()
    tells: tuple[type, ...] = ()
    pages: bool = False
    file: bool = False


ROUTES: list[Route] = []
"""All addresses, in the order of ``Handlers``."""


def serves(
    method: str, path: str, role: str | None, *, takes: Any = None, tells: Any = None, **more: Any
) -> Callable[[T], T]:
    """Enter a method of ``Handlers`` in the table; its docstring is the summary."""

    def kinds(kind: Any) -> tuple[type, ...]:
        return () if kind is None else get_args(kind) or (kind,)

    def enter(handler: T) -> T:
        about = (handler.__name__, role, handler.__doc__ or "")
        ROUTES.append(Route(method, path, *about, kinds(takes), kinds(tells), **more))
        return handler

    return enter


class Router:
    """Finds the route of a request."""

    def __init__(self, routes: list[Route]) -> None:
        self._ways: dict[str, dict[str, Route]] = {}
        for route in routes:
            self._ways.setdefault(route.path, {})[route.method] = route
        self._patterns = [(_pattern(path), ways) for path, ways in self._ways.items()]
        self._busy = {
            route.name: route for route in routes if route.name in ("recommend", "feedback")
        }

    def find(self, method: str, path: str) -> tuple[Route, dict[str, str]]:
        """Return the route of a request and what its address names."""
        parts = path.split("/")
        if method == "POST" and len(parts) == 4 and parts[1] == "v1" and parts[2]:
            busy = self._busy.get(parts[3])
            if busy is not None:
                return busy, {"model": parts[2]}
        method = "GET" if method == "HEAD" else method
        for pattern, ways in self._patterns:
            match = pattern.fullmatch(path)
            if match and method in ways:
                return ways[method], match.groupdict()
            if match:
                allowed = ", ".join(sorted(ways))
                problem = Problem(405, "method_not_allowed", f"{method}: not here, but {allowed}")
                problem.headers = [(b"allow", allowed.encode())]
                raise problem
        raise Problem(404, "not_found", "there is nothing at this address")


def _pattern(path: str) -> re.Pattern[str]:
    """Return what an address must be; users and items may have slashes in them."""
    text = re.sub(r"\{(model|experiment)\}", r"(?P<\1>[^/]+)", path)
    return re.compile(re.sub(r"\{(user|item)\}", r"(?P<\1>.+)", text), re.DOTALL)


# -- the document --------------------------------------------------------------------------------

_PARAMETERS = {
    "model": {"type": "string", "pattern": "^[A-Za-z0-9_.-]{1,64}$"},
    "experiment": {"type": "string", "pattern": "^[A-Za-z0-9_.-]{1,64}$"},
    "user": {"type": "string", "minLength": 1},
    "item": {"type": "string", "minLength": 1},
}
_PAGES = [
    {"name": "offset", "in": "query", "schema": {"type": "integer", "minimum": 0, "default": 0}},
    {
        "name": "limit",
        "in": "query",
        "schema": {"type": "integer", "minimum": 0, "maximum": 10_000, "default": 100},
    },
    {
        "name": "search",
        "in": "query",
        "description": "Only names that have this text in them, in any case.",
        "schema": {"type": "string", "maxLength": LONGEST_SEARCH},
    },
]


@cache
def document() -> dict[str, Any]:
    """Return the OpenAPI document of the service."""
    types: list[type] = [schemas.Error]
    for route in ROUTES:
        types += [*route.takes, *route.tells]
    kinds = list(dict.fromkeys(types))
    found, components = msgspec.json.schema_components(
        kinds, ref_template="#/components/schemas/{name}"
    )
    refs = dict(zip(kinds, found, strict=True))
    paths: dict[str, Any] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, refs)
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


def _one_of(kinds: tuple[type, ...], refs: dict[type, Any]) -> dict[str, Any]:
    if not kinds:
        return {}
    return refs[kinds[0]] if len(kinds) == 1 else {"oneOf": [refs[kind] for kind in kinds]}


def _operation(route: Route, refs: dict[type, Any]) -> dict[str, Any]:
    kind = "text/plain" if route.path == "/metrics" else "application/json"
    good = {"description": "Done.", "content": {kind: {"schema": _one_of(route.tells, refs)}}}
    responses: dict[str, Any] = {"200": good}
    if route.name in ("put_model", "put_experiment"):
        responses["201"] = good
    codes = ["503"] if route.role is None else [code for code in _ERRORS if code != "409"]
    if route.name in ("put_model", "put_experiment"):
        codes = list(_ERRORS)
    if route.path == "/healthz":
        codes = []
    for code in codes:
        error = {"application/json": {"schema": refs[schemas.Error]}}
        responses[code] = {"description": _ERRORS[code], "content": error}
    found: dict[str, Any] = {
        "summary": route.summary,
        "operationId": route.name,
        "responses": responses,
    }
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": schema}
        for name, schema in _PARAMETERS.items()
        if f"{{{name}}}" in route.path
    ]
    if parameters or route.pages:
        found["parameters"] = parameters + (_PAGES if route.pages else [])
    if route.role is not None:
        found["security"] = [{"key": []}]
        found["description"] = f"Needs a key with the role `{route.role}`."
    if route.takes:
        body = {"application/json": {"schema": _one_of(route.takes, refs)}}
        if route.file:
            body["application/octet-stream"] = {"schema": {"type": "string", "format": "binary"}}
        found["requestBody"] = {"required": True, "content": body}
    return found
