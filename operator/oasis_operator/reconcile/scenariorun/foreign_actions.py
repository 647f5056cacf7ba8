"""The effects on a foreign provider that a plan may ask for, as data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ForeignAction:
    """An effect on a foreign provider, or of what it gave."""


@dataclass(frozen=True, slots=True)
class MakeKeys(ForeignAction):
    """Create the run's Secret, with the keys of its adapter."""


@dataclass(frozen=True, slots=True)
class Provision(ForeignAction):
    """Put on record that the provider is asked for the world, and ask; again with the same identifier."""


@dataclass(frozen=True, slots=True)
class KeepProvision(ForeignAction):
    """Put the provider's answer on record."""


@dataclass(frozen=True, slots=True)
class CaptureBefore(ForeignAction):
    """Put the state before the agent on record, and see that the audit log can be read."""


@dataclass(frozen=True, slots=True)
class AdmitAgent(ForeignAction):
    """Create the policy that lets the agent reach the provider's environment, and the agent's pod."""


@dataclass(frozen=True, slots=True)
class ReleaseToForeign(ForeignAction):
    """Hand the provider's access and the isolation targets to the adapter."""


@dataclass(frozen=True, slots=True)
class CollectForeign(ForeignAction):
    """Observe all that the scenario needs, complete the evidence and store it.

    Attributes:
        is_last: Whether what cannot be observed now is given up; else it is asked for again.
    """

    is_last: bool


@dataclass(frozen=True, slots=True)
class TearDown(ForeignAction):
    """Tear an environment down; one that cannot be now is left to be torn down later.

    Attributes:
        key: Identifier of the attempt that it was made for.
    """

    key: str
