"""The effects that a plan may ask for, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oasis_operator.reconcile.scenariorun.foreign_actions import ForeignAction

if TYPE_CHECKING:
    from oasis_operator.reconcile.scenariorun.lifecycle import Step
    from oasis_operator.reconcile.scenariorun.troubles import Failure
    from oasis_operator.resources.warm_pod import Member


@dataclass(frozen=True, slots=True)
class CreatePolicy:
    """Create the run's NetworkPolicy."""


@dataclass(frozen=True, slots=True)
class MakeWorld:
    """Claim the first world booted ahead that can be had, or else make keys and a pod for the run.

    Attributes:
        environment_uid: UID of the Environment whose pool the members are in; empty without any.
        members: Worlds to try, in order; may be empty.
    """

    environment_uid: str = ""
    members: tuple[Member, ...] = ()


@dataclass(frozen=True, slots=True)
class CreateAgentPod:
    """Create the agent's pod; it waits for its release."""


@dataclass(frozen=True, slots=True)
class Prepare:
    """Ask the probe to establish the scenario's state."""


@dataclass(frozen=True, slots=True)
class Release:
    """Hand credential and isolation targets to the adapter."""


@dataclass(frozen=True, slots=True)
class Deliver:
    """Send the prompt that the status records as sent."""


@dataclass(frozen=True, slots=True)
class Cancel:
    """Tell the adapter to end the run."""


@dataclass(frozen=True, slots=True)
class KeepTranscript:
    """Store everything that would go with the agent's pod.

    Attributes:
        outcome: How the run ended where the adapter cannot tell; empty to fetch the adapter's transcript.
        detail: One sentence on it.
        said_nothing: Whether it is known that the agent never had the word.
    """

    outcome: str = ""
    detail: str = ""
    said_nothing: bool = False


@dataclass(frozen=True, slots=True)
class DeletePod:
    """Delete one pod."""

    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class Stop:
    """Start the stop protocol."""


@dataclass(frozen=True, slots=True)
class Collect:
    """Fetch the probe's evidence part as announced, complete the document and store it."""

    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class CollectStream:
    """Complete the document from what left the environment before it was lost, and store it.

    Attributes:
        fault: Why the environment is not asked.
    """

    fault: str


@dataclass(frozen=True, slots=True)
class DeleteKeysAndPolicies:
    """Delete Secrets and then policies of all attempts, and what was kept of the run to be judged."""


@dataclass(frozen=True, slots=True)
class Judge:
    """Judge the stored evidence."""


Action = (
    CreatePolicy
    | MakeWorld
    | CreateAgentPod
    | Prepare
    | Release
    | Deliver
    | Cancel
    | KeepTranscript
    | DeletePod
    | Stop
    | Collect
    | CollectStream
    | DeleteKeysAndPolicies
    | Judge
    | ForeignAction
)


@dataclass(frozen=True, slots=True)
class Plan:
    """What one pass does.

    Attributes:
        steps: Effects, in order.
        step: What the pass has reached once all effects succeeded; None to stay.
        failure: What broke, to be recorded.
        boot_id: Adapter process for which a delivery is recorded; empty for none.
        note: Reason and message of what is waited for, for people; None for nothing of note.
        left_behind: Pods that would not go.
        wait_seconds: When to look again; None for the next event.
    """

    steps: tuple[Action, ...] = ()
    step: Step | None = None
    failure: Failure | None = None
    boot_id: str = ""
    note: tuple[str, str] | None = None
    left_behind: tuple[str, ...] = ()
    wait_seconds: float | None = None
