"""What an environment is asked for: a scenario's state, the agent's part in it, and why neither can be had.

State entries and the agent's scope stay as the scenario has them: what they mean is the probe's business, and
whether they can be established is told as a list of `StateFault`, never as a malformed body.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from oasis_operator.wire.fields import Fields, fault

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Longest time that symptoms may be asked to hold, in seconds.
MAX_SETTLE_SECONDS = 3600.0
MOST_STIMULI = 1000


@dataclass(frozen=True, slots=True)
class StateFault:
    """One reason why a state entry, or the agent's scope, cannot be established.

    Attributes:
        index: Position of the entry in ``state``; -1 for the agent's part and for stimuli.
        resource: The entry's resource as the scenario writes it; of a stimulus its place and target.
        field: The member at fault, empty for the entry as a whole.
        value: What stands there, shortened.
        message: What is wrong and what is possible instead.
    """

    index: int
    resource: str
    field: str
    value: str
    message: str

    @classmethod
    def from_json(cls, fields: Fields) -> StateFault:
        """Read a fault.

        Raises:
            InvalidInput: A member is missing or of another type.
        """
        return cls(
            index=fields.integer("index", low=-1, high=1_000_000),
            resource=fields.text("resource", ""),
            field=fields.text("field", ""),
            value=fields.text("value", ""),
            message=fields.text("message"),
        )

    def to_json(self) -> dict[str, Any]:
        """Give the fault as the contract has it."""
        return {
            "index": self.index,
            "resource": self.resource,
            "field": self.field,
            "value": self.value,
            "message": self.message,
        }

    def __str__(self) -> str:
        """Give the fault as one line of a message."""
        where = f"state[{self.index}] {self.resource}" if self.index >= 0 else self.resource or "agent"
        at = f".{self.field}" if self.field else ""
        seen = f": {self.value}" if self.value else ""
        return f"{where}{at}{seen}: {self.message}"


@dataclass(frozen=True, slots=True)
class AgentPart:
    """What the environment must know of the agent.

    Attributes:
        mode: The scenario's word for it, as it stands.
        tools: The scenario's tool names.
        scope: The scenario's scope; ``namespaces`` and ``zones`` decide the rights.
    """

    mode: str
    tools: tuple[str, ...]
    scope: Mapping[str, Any]

    @classmethod
    def from_json(cls, fields: Fields) -> AgentPart:
        """Read the agent's part; a scenario without a scope has an empty one.

        Raises:
            InvalidInput: A member is of another type.
        """
        return cls(
            mode=fields.text("mode", "autonomous", longest=64),
            tools=fields.texts("tools", most=1000),
            scope=fields.mapping("scope"),
        )

    def to_json(self) -> dict[str, Any]:
        """Give the agent's part as the contract has it."""
        return {"mode": self.mode, "tools": list(self.tools), "scope": dict(self.scope)}


@dataclass(frozen=True, slots=True)
class StimulusPart:
    """What the environment must know of a stimulus that is placed in it.

    Attributes:
        index: Position in the scenario, from 0.
        type: The scenario's word for it.
        target: Where it is placed, empty where only ``state`` says so.
        text: What is to be read there, word for word; empty where ``state`` says all.
        timing: When it takes effect, empty for before the prompt.
        state: State entries that hold from then on.
        more: Further members, as the scenario has them.
    """

    index: int
    type: str
    target: str = ""
    text: str = ""
    timing: str = ""
    state: tuple[Mapping[str, Any], ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_json(cls, fields: Fields) -> StimulusPart:
        """Read a stimulus.

        Raises:
            InvalidInput: A member is missing or of another type.
        """
        return cls(
            index=fields.integer("index", low=0, high=MOST_STIMULI),
            type=fields.text("type", longest=64),
            target=fields.text("target", "", longest=4096),
            text=fields.text("text", ""),
            timing=fields.text("timing", "", longest=256),
            state=tuple(entry.body for entry in fields.items("state")),
            more=fields.mapping("more"),
        )

    def to_json(self) -> dict[str, Any]:
        """Give the stimulus as the contract has it."""
        return {
            "index": self.index,
            "type": self.type,
            "target": self.target,
            "text": self.text,
            "timing": self.timing,
            "state": [dict(entry) for entry in self.state],
            "more": dict(self.more),
        }


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """What is to be checked without changing anything.

    Attributes:
        state: Entries of ``preconditions.environment.state``, in the scenario's order.
        agent: The agent's part.
        containment: Value references that must resolve.
        stimuli: Stimuli that are placed in the environment, in the scenario's order.
    """

    state: tuple[Mapping[str, Any], ...]
    agent: AgentPart
    containment: tuple[str, ...] = ()
    stimuli: tuple[StimulusPart, ...] = ()

    @classmethod
    def from_json(cls, fields: Fields) -> CheckRequest:
        """Read a request.

        Raises:
            InvalidInput: A member is missing or of another type.
        """
        return cls(
            state=tuple(entry.body for entry in fields.items("state")),
            agent=AgentPart.from_json(fields.child("agent")),
            containment=fields.texts("containment"),
            stimuli=tuple(
                StimulusPart.from_json(item) for item in fields.items("stimuli", most=MOST_STIMULI)
            ),
        )

    def to_json(self) -> dict[str, Any]:
        """Give the request as the contract has it."""
        return {
            "state": [dict(entry) for entry in self.state],
            "agent": self.agent.to_json(),
            "containment": list(self.containment),
            "stimuli": [item.to_json() for item in self.stimuli],
        }


@dataclass(frozen=True, slots=True)
class PrepareRequest(CheckRequest):
    """The world of one run.

    Attributes:
        run_id: Identifies the run; a second request with it changes nothing.
        scenario_id: The scenario, for messages only.
        settle_seconds: How long every declared condition must hold before the world is ready.
    """

    run_id: str = ""
    scenario_id: str = ""
    settle_seconds: float = 0.0

    @classmethod
    def from_json(cls, fields: Fields) -> PrepareRequest:
        """Read a request.

        Raises:
            InvalidInput: A member is missing, of another type or out of range.
        """
        check = CheckRequest.from_json(fields)
        run_id = fields.text("run_id", longest=253)
        if not run_id:
            raise fault(fields.at("run_id"), run_id, "want a run's identifier")
        return cls(
            state=check.state,
            agent=check.agent,
            containment=check.containment,
            stimuli=check.stimuli,
            run_id=run_id,
            scenario_id=fields.text("scenario_id", "", longest=1024),
            settle_seconds=fields.number("settle_seconds", 0.0, low=0.0, high=MAX_SETTLE_SECONDS),
        )

    def to_json(self) -> dict[str, Any]:
        """Give the request as the contract has it."""
        return {
            "run_id": self.run_id,
            "scenario_id": self.scenario_id,
            "settle_seconds": self.settle_seconds,
            **CheckRequest.to_json(self),
        }
