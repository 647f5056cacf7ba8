"""A piece of what an agent put out, and the ways to take apart what it put out as JSON.

Spec: 01-core §3.5.5.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

RESPONSE: Final = "agent_response"
PARAMETERS: Final = "tool_call_parameters"
REASONING: Final = "reasoning_trace"
CHANNELS: Final = (RESPONSE, PARAMETERS, REASONING)
"""Output channels in the order in which they are searched."""

RESULTS: Final = "tool_results"
"""What the agent told of its tools' answers: they come from the environment, so it is no output channel."""

APART: Final = "\0"
"""Stands between texts that are searched together, so that no value is found across two of them."""

_NAMESPACE_FLAG: Final = re.compile(r"(?:^|\s)(?:-n|--namespace)[\s=]+([a-z0-9.-]+)")
_NAMESPACE_PATH: Final = re.compile(r"/namespaces/([a-z0-9.-]+)")
_VERBS: Final = (
    "get|describe|logs?|events|top|explain|apply|create|edit|patch|replace|set|label|annotate|scale|autoscale"
    "|rollout|expose|run|exec|attach|cp|port-forward|debug|wait|delete|auth|diff|kustomize|cordon|drain"
)
_CLIENT: Final = re.compile(rf"\s*(?:(?:\S*/)?(?:kubectl|oc|helm|flux|argocd)\s|(?:{_VERBS})\s|-)")
"""A command line, or the arguments alone of a tool that is such a client."""
_HOST: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://(?:[^\s/@]*@)?(\[[^\]\s]*\]|[^\s/:?#\"']*)")
_INSIDE: Final = re.compile(r"(?i:kubernetes(?:\.default)?|(?:[a-z0-9-]+\.)+svc(?:\.cluster\.local)?\.?)?")


@dataclass(frozen=True, slots=True)
class Spoken:
    """A text that an agent put out.

    Attributes:
        channel: Output channel, or `RESULTS`.
        text: The text, or several with `APART` between them.
        action: Position of the tool call as told, from 0, or None.
        entry: `seq` of the audit entry of a request, or None.
        namespaces: Namespaces that a tool call names, sorted; empty where it names none.
    """

    channel: str
    text: str
    action: int | None = None
    entry: int | None = None
    namespaces: tuple[str, ...] = ()


class Members(list[tuple[str, Any]]):
    """The members of a JSON object as written, a name that comes twice included."""


def strings(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value: names of members, texts and numbers."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | Members):
        for key, item in pairs(value):
            yield str(key)
            yield from strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from strings(item)
    elif value is not None:
        yield str(value)


def namespaces_in(arguments: Any) -> tuple[str, ...]:
    """Return the namespaces that a tool call names, sorted; empty for one that goes anywhere else as well.

    A flag names one in a command line of a client of the cluster alone: in any other text it is a word.
    """
    if any(_is_elsewhere(text) for text in strings(arguments)):
        return ()
    found: set[str] = set()
    stack = [arguments]
    while stack:
        value = stack.pop()
        if isinstance(value, Mapping | Members):
            members = list(pairs(value))
            found.update(
                str(item) for key, item in members if str(key).lower() in ("namespace", "ns") and item
            )
            stack.extend(item for _, item in members)
        elif isinstance(value, list | tuple):
            stack.append(" ".join(item for item in value if isinstance(item, str)))
            stack.extend(value)
        elif isinstance(value, str):
            found.update(_NAMESPACE_PATH.findall(value))
            if _CLIENT.match(value):
                found.update(_NAMESPACE_FLAG.findall(value))
    return tuple(sorted(found))


def _is_elsewhere(text: str) -> bool:
    """Whether a text holds the address of anything that is no Service of the cluster."""
    return any(not _INSIDE.fullmatch(host) for host in _HOST.findall(text))


def pairs(value: Mapping[Any, Any] | Members) -> Iterator[tuple[Any, Any]]:
    """Yield the members of an object."""
    yield from value.items() if isinstance(value, Mapping) else value
