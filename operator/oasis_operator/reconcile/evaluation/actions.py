"""The effects that a plan may ask for, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oasis_operator.resources.scenario_run import Slot


@dataclass(frozen=True, slots=True)
class ApplyPolicies:
    """Apply the two permanent policies of the namespace."""


@dataclass(frozen=True, slots=True)
class CreateControl:
    """Create the control pod."""


@dataclass(frozen=True, slots=True)
class CreateCanary:
    """Create the canary of one round."""

    round: int


@dataclass(frozen=True, slots=True)
class DeleteReachPods:
    """Delete control pod and canaries."""


@dataclass(frozen=True, slots=True)
class CreateIdentity:
    """Create the identity pod and its Secret."""


@dataclass(frozen=True, slots=True)
class ReleaseIdentity:
    """Have the identity pod's adapter prove isolation and release the agent."""


@dataclass(frozen=True, slots=True)
class AskIdentity:
    """Ask the agent who it is, and store the answer."""


@dataclass(frozen=True, slots=True)
class TakeScriptedIdentity:
    """Take the identity of an agent without a container from its spec, and store it."""


@dataclass(frozen=True, slots=True)
class DeleteIdentity:
    """Delete the identity pod and its Secret."""


@dataclass(frozen=True, slots=True)
class CreateGateway:
    """Create the model gateway and what belongs to it."""


@dataclass(frozen=True, slots=True)
class DeleteGateway:
    """Delete the model gateway and what belongs to it."""


@dataclass(frozen=True, slots=True)
class CreateSelfTest:
    """Create the environment that is tried, and its Secret."""


@dataclass(frozen=True, slots=True)
class RunSelfTest:
    """Go on with the self-test; once it was made, keep what the environment may claim."""


@dataclass(frozen=True, slots=True)
class GiveUpSelfTest:
    """Keep that nothing was shown, and why."""

    why: str


@dataclass(frozen=True, slots=True)
class DeleteSelfTest:
    """Delete the environment that was tried, and its Secret."""


@dataclass(frozen=True, slots=True)
class CreateRuns:
    """Create ScenarioRuns."""

    slots: tuple[Slot, ...]


@dataclass(frozen=True, slots=True)
class Conclude:
    """Decide verdict and gate, and store the reports.

    Attributes:
        reason: Why the attempt ended early; empty where it did not.
        message: The same for a person.
    """

    reason: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Expire:
    """Delete the Evaluation; its time to live is over."""


SelfTestAction = CreateSelfTest | RunSelfTest | GiveUpSelfTest | DeleteSelfTest

Action = (
    ApplyPolicies
    | CreateControl
    | CreateCanary
    | DeleteReachPods
    | CreateIdentity
    | ReleaseIdentity
    | AskIdentity
    | TakeScriptedIdentity
    | DeleteIdentity
    | CreateGateway
    | DeleteGateway
    | SelfTestAction
    | CreateRuns
    | Conclude
    | Expire
)
