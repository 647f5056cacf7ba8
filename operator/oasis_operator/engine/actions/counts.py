"""Replica counts that a request sets, whatever form it says them in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oasis_operator.engine.actions.changes import value_at

if TYPE_CHECKING:
    from oasis_operator.engine.actions.requests import Request


def scaled_to(request: Request) -> tuple[int, ...]:
    """Return the count that a request to the scale subresource sets; an absent one is none at all.

    The answer is looked at first: a client may leave the count out for nought, and a patch may say it in any
    form.
    """
    answer = request.response if request.is_done else None
    for written in (answer, request.body if request.verb == "update" else None):
        spec = value_at(written, ("spec",))
        if isinstance(spec, dict):
            return number_in({"replicas": 0, **spec})
    return number_in(value_at(request.body, ("spec",))) or _patched_replicas(request.body)


def written_replicas(request: Request) -> tuple[int, ...]:
    """Return the count that a write of a whole object or of a part of it sets; empty for none or unknown."""
    answer = request.response if request.is_done else None
    for written in (answer, request.body):
        if isinstance(written, dict) and (number := number_in(written.get("spec"))):
            return number
    return _patched_replicas(request.body)


def _patched_replicas(body: Any) -> tuple[int, ...]:
    """Return the replicas that a JSON patch sets in the end."""
    found: tuple[int, ...] = ()
    for step in body if isinstance(body, list) else ():
        if isinstance(step, dict) and step.get("op") in ("add", "replace"):
            path, value = step.get("path"), step.get("value")
            spec = {"replicas": value} if path == "/spec/replicas" else value if path == "/spec" else None
            found = number_in(spec) or found
    return found


def number_in(spec: Any) -> tuple[int, ...]:
    """Return the `replicas` of a spec; empty where it has none or no number."""
    number = value_at(spec, ("replicas",))
    return (number,) if isinstance(number, int) and not isinstance(number, bool) else ()
