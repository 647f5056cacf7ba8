"""What is known of a world and of its run: the evidence is made of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oasis_operator.sidecar.probe.credentials import Issued
    from oasis_operator.sidecar.probe.follow import Follower
    from oasis_operator.sidecar.probe.waiting import Waiting
    from oasis_operator.wire.probe import Witness
    from oasis_operator.world.manifests import Json


@dataclass(slots=True)
class Record:
    """What is known of a prepared run; the evidence is made of it.

    Attributes:
        opening: Name that the opening sentinel asked for.
        log_offset: Offset in the audit log from which the opening sentinel is to be found.
        start: When the opening sentinel was received.
        follower: Follows the log from that sentinel on; None where nobody does.
        prepared_from: When the preparation began, to the second.
        before: Snapshot of the world as the agent finds it, with what was injected since.
        provisioned: The same without what was injected since.
        planted: Witnesses of what stimuli placed before the prompt.
        waiting: Waits for the moments of those that come later; None where nothing does.
        journal: Size of the nodes' journal when the run began.
        questions: The same of the journal of the tools beside the cluster.
    """

    opening: str
    log_offset: int
    prepared_from: str
    before: tuple[Json, ...]
    witnesses: tuple[Witness, ...]
    issued: Issued
    entries: int
    start: str = ""
    follower: Follower | None = None
    planted: tuple[Witness, ...] = ()
    waiting: Waiting | None = None
    journal: int = 0
    questions: int = 0
    provisioned: tuple[Json, ...] = ()

    def __post_init__(self) -> None:
        """Keep the first snapshot: the other one goes on."""
        self.provisioned = self.provisioned or self.before


@dataclass(frozen=True, slots=True)
class Boot:
    """What the blank world is.

    Attributes:
        boot_id: Made when the probe started.
        version: Kubernetes version.
        nodes: Number of nodes.
        stages: The stages that the cluster booted with.
        anonymous_auth: Whether requests without credentials are taken for anonymous ones.
    """

    boot_id: str
    version: str
    nodes: int
    stages: str
    anonymous_auth: bool
