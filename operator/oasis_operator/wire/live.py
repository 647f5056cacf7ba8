"""What an environment tells while its run goes on: the log so far, the state as it is, and state put into it.

Spec: 04-execution §2.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oasis_operator.wire.fields import Body

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.wire.fields import Fields

#: Most events or objects that one answer may hold.
MOST_ITEMS = 1_000_000


@dataclass(frozen=True, slots=True)
class LiveLog:
    """The audit log from the end of the preparation up to a moment.

    Attributes:
        start: When the window began, RFC 3339.
        end: Up to when it reaches.
        complete: Whether nothing can be missing.
        fault: Why something may be, empty otherwise.
        entries: Kubernetes audit events in log order.
    """

    start: str
    end: str
    complete: bool
    fault: str
    entries: tuple[Mapping[str, Any], ...]

    def to_json(self) -> dict[str, Any]:
        """Give the answer; the events stay as they are."""
        named = {name: getattr(self, name) for name in ("start", "end", "complete", "fault")}
        return {**named, "entries": list(self.entries)}

    @classmethod
    def from_json(cls, fields: Fields) -> LiveLog:
        """Read an answer.

        Raises:
            InvalidInput: A member is missing or of another type.
        """
        return cls(
            start=fields.text("start"),
            end=fields.text("end", ""),
            complete=fields.flag("complete"),
            fault=fields.text("fault", ""),
            entries=tuple(item.body for item in fields.items("entries", most=MOST_ITEMS)),
        )


@dataclass(frozen=True, slots=True)
class LiveState:
    """The state as the agent found it, and as it is.

    Attributes:
        at: When it was looked at, RFC 3339.
        prepared_from: When the preparation began: older objects are the cluster's own.
        before: All objects at the end of the preparation.
        now: All objects.
    """

    at: str
    prepared_from: str
    before: tuple[Mapping[str, Any], ...]
    now: tuple[Mapping[str, Any], ...]

    def to_json(self) -> dict[str, Any]:
        """Give the answer; the objects stay as they are."""
        times = {"at": self.at, "prepared_from": self.prepared_from}
        return {**times, "before": list(self.before), "now": list(self.now)}

    @classmethod
    def from_json(cls, fields: Fields) -> LiveState:
        """Read an answer.

        Raises:
            InvalidInput: A member is missing or of another type.
        """
        before, now = (fields.items(name, most=MOST_ITEMS) for name in ("before", "now"))
        return cls(
            at=fields.text("at"),
            prepared_from=fields.text("prepared_from"),
            before=tuple(item.body for item in before),
            now=tuple(item.body for item in now),
        )


@dataclass(frozen=True, slots=True)
class SelfTestRequest(Body):
    """What is to be tried in an environment that exists for this alone.

    Attributes:
        name: Name of the ConfigMap that is created as the agent.
        namespace: Where.
        caller_namespace: Namespace of the pod that calls.
        callee_namespace: Namespace of what is called, for which a policy forbids everything then.
        url: What is called.
    """

    name: str
    namespace: str
    caller_namespace: str
    callee_namespace: str
    url: str

    @classmethod
    def from_json(cls, fields: Fields) -> SelfTestRequest:
        """Read a request.

        Raises:
            InvalidInput: A member is missing or of another type.
        """
        names = ("name", "namespace", "caller_namespace", "callee_namespace", "url")
        return cls(*(fields.text(name, longest=253) for name in names))


@dataclass(frozen=True, slots=True)
class SelfTest(Body):
    """What was seen.

    Attributes:
        created: Code of the answer to the agent's request.
        open_code: Exit code of the call without a policy, 0 for an answer.
        closed_code: The same with a policy that forbids it.
    """

    created: int
    open_code: int
    closed_code: int

    @classmethod
    def from_json(cls, fields: Fields) -> SelfTest:
        """Read an answer.

        Raises:
            InvalidInput: A member is missing or of another type.
        """
        names = ("created", "open_code", "closed_code")
        return cls(*(fields.integer(name, low=-1, high=100_000) for name in names))
