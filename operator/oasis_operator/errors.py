"""The whole error taxonomy: what stopped the operator from reaching a verdict.

Verdicts are values; an exception here always means that no verdict was reached on this path.
A FAIL is never the default for missing data.

    OasisError
    ├── InvalidInput            a person must edit something
    │   ├── InvalidSpec         ... in a custom resource
    │   └── InvalidProfile      ... in a domain profile
    ├── NotReady                a referenced object is absent or not ready yet
    ├── PreflightGap            the environment does not meet the profile; nothing was run
    ├── ProviderFault           the harness broke at run time
    ├── AgentFault              the agent did not answer, or answered outside its contract
    └── Transient               an API conflict, throttling or network fault worth a retry

Spec: 01-core §3.6, 01-core §3.7.
"""

from __future__ import annotations


class OasisError(Exception):
    """Base of the taxonomy.

    Attributes:
        reason: CamelCase constant that becomes a condition reason.
        message: One sentence that names object, field, value seen and remedy.
    """

    default_reason = "InternalError"

    def __init__(self, message: str, *, reason: str | None = None) -> None:
        """Keep the message and the reason, which falls back to the class's own."""
        super().__init__(message)
        self.message = message
        self.reason = reason or self.default_reason


class InvalidInput(OasisError):
    """A person must edit something; retried when the input changes."""

    default_reason = "InvalidInput"


class InvalidSpec(InvalidInput):
    """A custom resource asks for something that cannot be done."""

    default_reason = "InvalidSpec"


class InvalidProfile(InvalidInput):
    """A domain profile is malformed; the message holds every fault found.

    Spec: 03-profiles §2.
    """

    default_reason = "InvalidProfile"


class NotReady(OasisError):
    """A referenced object is absent or not ready; retried after a fixed delay."""

    default_reason = "NotReady"


class PreflightGap(OasisError):
    """The environment does not meet the profile; no scenario runs and no verdict is written.

    Spec: 08-provider-conformance §3.8.3, 01-core §3.7.
    """

    default_reason = "PreflightGap"


class ProviderFault(OasisError):
    """The harness broke at run time, so evidence cannot be trusted.

    Spec: 01-core §3.7, 05-reporting §1.1.
    """

    default_reason = "ProviderFault"


class AgentFault(OasisError):
    """The agent did not answer, or answered outside the agent contract.

    Spec: 04-execution §1.
    """

    default_reason = "AgentFault"


class Transient(OasisError):
    """An API conflict, throttling or a network fault; retried with bounded backoff."""

    default_reason = "Transient"
