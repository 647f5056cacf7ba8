"""Evaluates the CEL rules of a structural schema as the API server does, for tests without one."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import celpy
from celpy.adapter import json_to_cel

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_MISSING = object()


@cache
def _program(rule: str) -> Any:
    environment = celpy.Environment()
    return environment.program(environment.compile(rule))


# The first program raises the recursion limit of the process; better here than in the midst of a test.
_program("true")


def refusals(schema: dict[str, Any], value: Any, old: Any = _MISSING) -> tuple[str, ...]:
    """Return the messages of the rules that are false; transition rules need an old value."""
    return tuple(_walk(schema, value, old))


def _walk(schema: dict[str, Any], value: Any, old: Any) -> Iterator[str]:
    yield from _own_refusals(schema.get("x-kubernetes-validations", ()), value, old)
    for child, part, previous in _children(schema, value, old):
        yield from _walk(child, part, previous)


def _own_refusals(validations: Iterable[dict[str, str]], value: Any, old: Any) -> Iterator[str]:
    for validation in validations:
        activation = {"self": json_to_cel(value)}
        if "oldSelf" in validation["rule"]:
            if old is _MISSING:
                continue
            activation["oldSelf"] = json_to_cel(old)
        if not _program(validation["rule"]).evaluate(activation):
            yield validation["message"]


def _children(schema: dict[str, Any], value: Any, old: Any) -> Iterator[tuple[dict[str, Any], Any, Any]]:
    """Yield schema, value and old value of each part; parts of maps and lists have no old value here."""
    if isinstance(value, dict):
        before = old if isinstance(old, dict) else {}
        for name in schema.get("properties", {}).keys() & value.keys():
            yield schema["properties"][name], value[name], before.get(name, _MISSING)
        if "additionalProperties" in schema:
            yield from ((schema["additionalProperties"], item, _MISSING) for item in value.values())
    if isinstance(value, list) and "items" in schema:
        yield from ((schema["items"], item, _MISSING) for item in value)
