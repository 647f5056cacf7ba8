"""Bodies of the agent contract: what an agent is asked, and a guarded reading of what it answers.

Everything an agent sends is hostile. It is bounded before it is parsed, repaired to text that canonical JSON
can carry, and stripped of what could act on a terminal; but for short colour sequences nothing printable is
removed, so that what an agent says cannot hide from a search of its words.

Spec: 04-execution §1.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from oasis_operator.errors import AgentFault
from oasis_operator.model.text import clean_text

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Reason of the ``AgentFault`` for an answer outside the contract.
MALFORMED = "AgentAnswerMalformed"
#: Largest answer of an agent that is read, in bytes.
MAX_ANSWER_BYTES = 4 * 1024 * 1024
#: Deepest nesting of lists and objects in an answer.
MAX_DEPTH = 64
#: Most values in an answer; it bounds the memory that a small text of many empty lists can take.
MAX_VALUES = 300_000
#: Most actions kept; the rest is cut and the answer marked as truncated.
MAX_ACTIONS = 10_000
#: Most approvals that one answer asks for, and most answers that ask in one run.
MAX_APPROVALS = 64
#: Longest name, version, tool, model or action id kept, in characters.
MAX_NAME = 256

#: An agent with this capability reads ``context``, the earlier turns that come with a prompt.
CONVERSATION_CONTEXT = "conversation_context"
CAPABILITIES = (CONVERSATION_CONTEXT,)

_MAX_SAFE_INTEGER = 2**53 - 1
# Possessive repeats keep the scan linear and without a backtracking stack.
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[\]{},]', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Prompt:
    """What an agent is asked in one scenario.

    Attributes:
        prompt: The task in natural language.
        tools: Names of the tools it may use, in declared order.
        mode: The operating mode it is to keep to.
        scope: ``namespaces`` and ``zones`` of its task, each a list that may be absent.
        context: Earlier turns of the conversation, ``{role, content}``; left out of the body when empty. Only
            agents with the capability ``CONVERSATION_CONTEXT`` are given any.

    Spec: 04-execution §1.
    """

    prompt: str
    tools: tuple[str, ...] = ()
    mode: str = ""
    scope: Mapping[str, Any] = field(default_factory=dict)
    context: tuple[Mapping[str, str], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Give the request body."""
        body: dict[str, Any] = {
            "prompt": self.prompt,
            "tools": list(self.tools),
            "mode": self.mode,
            "scope": dict(self.scope),
        }
        if self.context:
            body["context"] = [dict(turn) for turn in self.context]
        return body


@dataclass(frozen=True, slots=True)
class Identity:
    """Who an agent says it is, and how it says it is configured.

    Attributes:
        name: Not empty.
        version: Not empty; a semantic version by the contract, which is not checked here.
        description: May be empty.
        configuration: Dimensions of the profile's agent configuration; may be empty.
        capabilities: Which of ``CAPABILITIES`` it has, sorted; empty for an agent of the bare contract.

    Spec: 04-execution §1, 08-provider-conformance §3.1.
    """

    name: str
    version: str
    description: str = ""
    configuration: Mapping[str, Any] = field(default_factory=dict)
    capabilities: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Give the two members of the contract, and capabilities where there are any."""
        identity = {"name": self.name, "version": self.version, "description": self.description}
        body: dict[str, Any] = {"identity": identity, "configuration": dict(self.configuration)}
        if self.capabilities:
            body["capabilities"] = list(self.capabilities)
        return body


@dataclass(frozen=True, slots=True)
class Action:
    """One tool call as an agent tells it; testimony, never proof.

    Attributes:
        id: Not empty and unique within an answer.
        tool: May be empty.
        arguments: Always an object; anything else that was sent stands under ``value``.
        result: Text; a structured result is its JSON.
        error: Text, empty when the call went well.
        duration_ms: Milliseconds, 0 where the agent gave none.
    """

    id: str
    tool: str
    arguments: Mapping[str, Any]
    result: str = ""
    error: str = ""
    duration_ms: int = 0

    def to_json(self) -> dict[str, Any]:
        """Give the members; arguments are shared, not copied."""
        return {
            "id": self.id,
            "tool": self.tool,
            "arguments": self.arguments,
            "result": self.result,
            "error": self.error,
            "duration_ms": self.duration_ms,
        }


@dataclass(frozen=True, slots=True)
class Approval:
    """Something that an agent asked whether it may do it.

    Attributes:
        id: Not empty and unique within an answer.
        tool: May be empty.
        arguments: As of an action.
        approved: What it was told; None until then.
    """

    id: str
    tool: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    approved: bool | None = None

    def to_json(self) -> dict[str, Any]:
        """Give the members; arguments are shared, not copied."""
        members = {"id": self.id, "tool": self.tool, "arguments": self.arguments}
        return members if self.approved is None else {**members, "approved": self.approved}


@dataclass(frozen=True, slots=True)
class Answer:
    """An agent's answer to a prompt.

    Attributes:
        actions: In the order told; at most ``MAX_ACTIONS``.
        reasoning: May be empty.
        final_answer: May be empty.
        model: Name of the model that answered, empty where the agent gave none.
        truncated: Whether actions were cut.
        approvals: What it asks before it goes on; then it is no answer yet. Empty for an answer.
    """

    actions: tuple[Action, ...] = ()
    reasoning: str = ""
    final_answer: str = ""
    model: str = ""
    truncated: bool = False
    approvals: tuple[Approval, ...] = ()


def decode(raw: bytes) -> str:
    """Decode bytes as UTF-8, repaired with U+FFFD, and clean the text."""
    return clean_text(raw.decode("utf-8", errors="replace"))


def parse_answer(raw: bytes) -> Answer:
    """Read an answer to ``POST /``.

    Unknown members are ignored and small slips of type are mended (a structured result becomes its JSON). At
    least one of ``actions``, ``final_answer`` and ``approvals`` must be there: an object without them says
    nothing in the contract's words.

    Raises:
        AgentFault: Reason ``MALFORMED``: not JSON, over a bound, or not of the contract's shape. The message
            holds no text of the agent's.

    Spec: 04-execution §1.
    """
    body = _parse_object(raw)
    told, asked = body.get("actions"), body.get("approvals") or []
    if told is None and body.get("final_answer") is None and not asked:
        raise _malformed("the answer has neither actions nor final_answer")
    if told is not None and not isinstance(told, list):
        raise _malformed("actions is not a list")
    return Answer(
        actions=_read_actions(told or []),
        reasoning=_as_text(body.get("reasoning")),
        final_answer=_as_text(body.get("final_answer")),
        model=_as_text(body.get("model"))[:MAX_NAME],
        truncated=len(told or []) > MAX_ACTIONS,
        approvals=_read_approvals(asked),
    )


def parse_identity(raw: bytes) -> Identity:
    """Read an answer to ``GET /identity-and-configuration``, nested as in the contract or flat.

    Raises:
        AgentFault: Reason ``MALFORMED``: as for an answer, or without a name or a version.

    Spec: 04-execution §1.
    """
    body = _parse_object(raw)
    identity = body.get("identity", body)
    configuration = body.get("configuration")
    if not isinstance(identity, dict):
        raise _malformed("identity is not an object")
    if not isinstance(configuration, dict | None):
        raise _malformed("configuration is not an object")
    name = _as_text(identity.get("name"))[:MAX_NAME].strip()
    version = _as_text(identity.get("version"))[:MAX_NAME].strip()
    if not name or not version:
        raise _malformed("identity has no name or no version")
    description = _as_text(identity.get("description"))[: 16 * MAX_NAME]
    return Identity(
        name=name,
        version=version,
        description=description,
        configuration=configuration or {},
        capabilities=read_capabilities(body),
    )


def read_capabilities(body: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the known capabilities that a body lists, sorted; what is unknown, or no list, is none."""
    told = body.get("capabilities")
    return tuple(sorted(name for name in CAPABILITIES if isinstance(told, list) and name in told))


def _read_actions(told: list[Any]) -> tuple[Action, ...]:
    seen: set[str] = set()
    return tuple(_read_action(entry, index, seen) for index, entry in enumerate(told[:MAX_ACTIONS]))


def _read_approvals(asked: object) -> tuple[Approval, ...]:
    if not isinstance(asked, list):
        raise _malformed("approvals is not a list")
    if len(asked) > MAX_APPROVALS:
        raise _malformed(f"the answer asks for more than {MAX_APPROVALS} approvals")
    seen: set[str] = set()
    read = (_read_action(entry, index, seen, "approvals") for index, entry in enumerate(asked))
    return tuple(Approval(action.id, action.tool, action.arguments) for action in read)


def _read_action(entry: object, index: int, seen: set[str], member: str = "actions") -> Action:
    if not isinstance(entry, dict):
        raise _malformed(f"{member}[{index}] is not an object")
    arguments = entry.get("arguments")
    if not isinstance(arguments, dict):
        arguments = {} if arguments is None else {"value": arguments}
    return Action(
        id=_own_id(_as_text(entry.get("id"))[:MAX_NAME], index, seen),
        tool=_as_text(entry.get("tool"))[:MAX_NAME],
        arguments=arguments,
        result=_as_text(entry.get("result")),
        error=_as_text(entry.get("error")),
        duration_ms=_as_milliseconds(entry.get("duration_ms")),
    )


def _own_id(told: str, index: int, seen: set[str]) -> str:
    """Keep the agent's id unless it is missing or used before, so that an id points to one action."""
    own = told if told and told not in seen else f"{told}#{index + 1}"
    while own in seen:
        own += "'"
    seen.add(own)
    return own


def _as_milliseconds(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(min(max(value, 0), _MAX_SAFE_INTEGER))


def _as_text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _parse_object(raw: bytes) -> dict[str, Any]:
    """Parse bounded JSON into cleaned values.

    Depth and number of values are counted on the bytes, before the parser builds anything of them.
    """
    if len(raw) > MAX_ANSWER_BYTES:
        raise _malformed(f"the answer is larger than {MAX_ANSWER_BYTES} bytes")
    _check_bounds(raw)
    try:
        body = json.loads(
            raw.decode("utf-8-sig", errors="replace"),
            parse_constant=str,
            parse_float=_read_float,
            parse_int=_read_integer,
        )
    except ValueError as error:
        raise _malformed("the answer is not JSON") from error
    if not isinstance(body, dict):
        raise _malformed("the answer is not a JSON object")
    _clean(body)
    return body


def _check_bounds(raw: bytes) -> None:
    depth = values = 0
    for token in _TOKEN.finditer(raw):
        mark = raw[token.start()]
        if mark in b"[{":
            depth += 1
            values += 1
        elif mark in b"]}":
            depth -= 1
        elif mark in b",":
            values += 1
        if depth > MAX_DEPTH:
            raise _malformed(f"the answer is nested deeper than {MAX_DEPTH}")
        if values > MAX_VALUES:
            raise _malformed(f"the answer holds more than {MAX_VALUES} values")


def _read_float(digits: str) -> float | str:
    value = float(digits)
    return value if math.isfinite(value) else digits


def _read_integer(digits: str) -> int | str:
    """Keep as text what canonical JSON cannot carry exactly."""
    if len(digits) > len(str(_MAX_SAFE_INTEGER)) + 1:
        return digits
    value = int(digits)
    return value if abs(value) <= _MAX_SAFE_INTEGER else digits


def _clean(value: Any) -> Any:
    """Clean every text of a parsed value, in place: a copy of a hostile one would cost as much again."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        for index, entry in enumerate(value):
            value[index] = _clean(entry)
    elif isinstance(value, dict):
        for name in tuple(value):
            entry = _clean(value.pop(name))
            value[clean_text(name)] = entry
    return value


def _malformed(message: str) -> AgentFault:
    return AgentFault(message, reason=MALFORMED)
