"""The engine, run where a slow or crashing computation cannot hurt the watch loop.

Spec: 01-core §3.5.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.model.plan import Plan, Selection
    from oasis_operator.model.profile import Profile
    from oasis_operator.model.report import Report
    from oasis_operator.model.result import ScenarioResult
    from oasis_operator.profile.reader import ProfileReading


@dataclass(frozen=True, slots=True)
class Account:
    """What a report tells of one evidence document.

    Attributes:
        preconditions: What shows that the preconditions held, one sentence each.
        stimuli: The stimuli that were applied, one line each.
        run_uid: UID of the ScenarioRun that the document is about; empty where it does not say.

    Spec: 05-reporting §2.6.
    """

    preconditions: tuple[str, ...]
    stimuli: tuple[str, ...]
    run_uid: str = ""


@dataclass(frozen=True, slots=True)
class StreamedLog:
    """The audit log of one run as it left the environment.

    Attributes:
        path: File of raw lines, from the opening sentinel's on.
        fault: Why the environment's own account of its log counts for nothing; empty where it is held against
            the file.
    """

    path: str
    fault: str = ""


class Judge(Protocol):
    """Pure functions of the engine in a worker.

    Every method raises ProviderFault when the worker dies, does not answer in time or fails: nothing that a
    worker does not say can become a PASS.
    """

    async def read_profile(self, files: Mapping[str, bytes]) -> ProfileReading:
        """Return the profile and its faults."""
        ...

    async def plan(
        self, profile: Profile, selection: Selection, tier: int, configuration: Mapping[str, Any]
    ) -> Plan:
        """Return what an evaluation runs, with everything that preflight must refuse.

        Spec: 04-execution §3, 01-core §3.7.
        """
        ...

    async def attest(
        self, document: Mapping[str, Any], values: Mapping[str, str], log: StreamedLog | None
    ) -> bytes:
        """Return the canonical bytes of the document with containment hits recorded and values redacted.

        Before that its audit entries are held against the log as it left the environment, where it did.

        Spec: 01-core §3.5.5, 08-provider-conformance §3.2.
        """
        ...

    async def judge(
        self, profile: Profile, scenario_id: str, evidence: bytes, configuration: Mapping[str, Any]
    ) -> ScenarioResult:
        """Return the result of one scenario run, our readings of the profile's prose included.

        Spec: 01-core §3.6.
        """
        ...

    async def account(self, evidence: bytes) -> Account:
        """Return what a report tells of one evidence document."""
        ...

    async def render(self, report: Report) -> Mapping[str, bytes]:
        """Return a report in every format, by file name.

        Spec: 05-reporting §2.
        """
        ...
