"""What an adapter kind is given for one run, and what it must offer."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.sidecar.adapter.options import Options
    from oasis_operator.sidecar.adapter.passage import Passage
    from oasis_operator.sidecar.adapter.record import Record
    from oasis_operator.wire.adapter import RunRequest
    from oasis_operator.wire.agent import Identity
    from oasis_operator.wire.release import Credential


@dataclass(frozen=True, slots=True)
class Task:
    """One run as a kind sees it.

    Attributes:
        request: The run request; its adapter member was checked by the kind.
        credential: The agent's access, None where it has none.
        options: What the adapter was started with.
        passage: The agent's way to its model, None where it has none of ours.
        ending: Set once the pod's other container has ended, as far as the process is told.
    """

    request: RunRequest
    credential: Credential | None
    options: Options
    ending: asyncio.Event = field(default_factory=asyncio.Event)
    passage: Passage | None = None


class Kind(Protocol):
    """One way to drive an agent."""

    def check(self, adapter: Mapping[str, Any]) -> None:
        """Check the adapter member of a request.

        Raises:
            InvalidInput: It cannot be run; the message names member, value and what is wanted.
        """

    async def identify(self, adapter: Mapping[str, Any], options: Options, /) -> Identity:
        """Ask the agent who it is.

        Raises:
            AgentFault: It did not answer, or outside its contract.
        """

    async def run(self, task: Task, record: Record) -> None:
        """Deliver the prompt once and bring the answer into the record; may be cancelled at any point.

        Calls ``record.deliver()`` before anything of the prompt leaves the process.

        Raises:
            AgentFault: With a reason of ``faults``.
        """
